// SPDX-License-Identifier: MIT
//
// The points of the sphere, drawn by the processor into the pixels of a canvas. Where there is no graphics card this is
// many times as fast as a WebGL that imitates one: 200,000 points take some milliseconds, and less when only their labels
// changed. It looks like gl_points.ts.
import type { Colours } from "../data/colours";
import { channels } from "../data/colours";
import { SCALE } from "../data/points";
import type { Points } from "../data/points";
import type { Rotation } from "../math/vector";
import { el } from "../ui/dom";
import { dotRadius } from "./dot_radius";
import type { PointsLayer } from "./points_layer";
import type { Look } from "./scene";
import type { Box, View } from "./view";

const SHADES = 16;
/** The shade of points behind the sphere, after those of the points before it. */
const FAR = SHADES;
const STEPS = SHADES + 1;

/** A dot: how much of each pixel it covers, row by row, 0 to 255. */
interface Stamp {
  side: number;
  cover: Uint8Array;
  solid: boolean;
}

/** Where the points are on the screen. It holds until the reader turns the sphere: labels may change meanwhile. */
interface Places {
  key: string;
  rotation: Rotation;
  /** The first pixel of the point's stamp; -1 outside the picture. */
  at: Int32Array;
  shade: Uint8Array;
  near: Stamp;
  far: Stamp;
}

export class CpuPoints implements PointsLayer {
  readonly element = el("canvas", { class: "points", "aria-hidden": "true" });
  private readonly context = this.element.getContext("2d", { willReadFrequently: true });
  private image: ImageData | null = null;
  private xyz: Int16Array = new Int16Array(0);
  private places: Places | null = null;
  /** The labels of the points, numbered from 0, and which label each number is. */
  private slots: Uint32Array = new Uint32Array(0);
  private labels: number[] = [];
  private colours: Colours | null = null;

  set(points: Points, colours: Colours): void {
    if (points.xyz !== this.xyz) this.places = null;
    this.xyz = points.xyz;
    this.colours = colours;
    [this.slots, this.labels] = slotsOf(points.labels);
  }

  draw(view: View, box: Box, width: number, height: number, look: Look): void {
    const { active, through } = look,
      ratio = Math.min(devicePixelRatio || 1, 2),
      image = this.fresh(width, height, ratio),
      pixels = new Uint32Array(image.data.buffer),
      places = this.placed(view, box, image, ratio),
      shades = this.shadesOf(look),
      lit = active === null ? -1 : this.labels.indexOf(active);
    for (const far of through ? [true, false] : [false])
      for (const last of lit < 0 ? [false] : [false, true])
        plot(pixels, image.width, places, this.slots, shades, far, lit, last);
    this.context?.putImageData(image, 0, 0);
  }

  private fresh(width: number, height: number, ratio: number): ImageData {
    const wide = Math.round(width * ratio),
      high = Math.round(height * ratio);
    if (this.image && this.image.width === wide && this.image.height === high) {
      this.image.data.fill(0);
      return this.image;
    }
    this.element.width = wide;
    this.element.height = high;
    this.element.style.width = `${width}px`;
    this.element.style.height = `${height}px`;
    return (this.image = new ImageData(wide, high));
  }

  private placed(view: View, box: Box, image: ImageData, ratio: number): Places {
    const { rotation, zoom } = view,
      key = [box.x, box.y, box.radius, image.width, image.height, ratio, zoom].join(" ");
    if (this.places?.key === key && this.places.rotation === rotation) return this.places;
    const count = this.slots.length,
      diameter = 2 * dotRadius(count, zoom) * ratio,
      kept = this.places ?? { at: new Int32Array(count), shade: new Uint8Array(count) };
    this.places = { ...kept, key, rotation, near: stampOf(diameter), far: stampOf(0.7 * diameter) };
    place(this.xyz, this.places, image.width, image.height, box, ratio);
    return this.places;
  }

  /** STEPS pixels for each label. */
  private shadesOf({ ink, active }: Look): Uint32Array {
    const behind = channels(ink.globe),
      shades = new Uint32Array(STEPS * this.labels.length),
      known = new Map<string, Uint32Array>();
    this.labels.forEach((label, slot) => {
      const dim = active !== null && label !== active ? 0.22 : 1,
        css = this.colours?.css(label) ?? ink.globe,
        key = `${css} ${dim}`;
      let own = known.get(key);
      if (!own) known.set(key, (own = shadesOf(channels(css), behind, dim)));
      shades.set(own, STEPS * slot);
    });
    return shades;
  }
}

/** Numbers labels from 0. Those that are close together need no table: a fraction of a millisecond for 100,000. */
function slotsOf(labels: Int32Array): [Uint32Array, number[]] {
  const slots = new Uint32Array(labels.length);
  let least = 0,
    most = -1;
  for (let i = 0; i < labels.length; i++) {
    const label = labels[i] as number;
    if (label < least) least = label;
    if (label > most) most = label;
  }
  if (most - least < labels.length + 1000) {
    for (let i = 0; i < labels.length; i++) slots[i] = (labels[i] as number) - least;
    return [slots, Array.from({ length: most - least + 1 }, (_, i) => least + i)];
  }
  const known = new Map<number, number>();
  for (let i = 0; i < labels.length; i++) {
    const label = labels[i] as number;
    let slot = known.get(label);
    if (slot === undefined) known.set(label, (slot = known.size));
    slots[i] = slot;
  }
  return [slots, [...known.keys()]];
}

/** A cluster's colour from the edge of the sphere to its middle, and behind it, as pixels. */
function shadesOf(colour: readonly number[], behind: readonly number[], dim: number): Uint32Array {
  const shades = new Uint32Array(STEPS);
  for (let i = 0; i < STEPS; i++) {
    const light = (i === FAR ? 0.3 : 0.72 + (0.28 * i) / (SHADES - 1)) * dim;
    const [red, green, blue] = colour.map((value, c) =>
      Math.round((behind[c] ?? 0) + (value - (behind[c] ?? 0)) * light),
    );
    shades[i] = ((255 << 24) | ((blue ?? 0) << 16) | ((green ?? 0) << 8) | (red ?? 0)) >>> 0;
  }
  return shades;
}

const stamps = new Map<number, Stamp>();

/** A disc whose edge pixels are covered in part; too small for an edge, a square. */
function stampOf(diameter: number): Stamp {
  const key = Math.max(1, Math.round(diameter * 4) / 4),
    known = stamps.get(key);
  if (known) return known;
  const solid = key < 2.5,
    side = solid ? Math.round(key) : Math.ceil(key) + 1,
    middle = (side - 1) / 2;
  const cover = Uint8Array.from({ length: side * side }, (_, i) => {
    const distance = Math.hypot((i % side) - middle, Math.floor(i / side) - middle);
    return solid ? 255 : Math.round(255 * Math.max(0, Math.min(1, key / 2 - distance + 0.5)));
  });
  const stamp = { side, cover, solid };
  stamps.set(key, stamp);
  return stamp;
}

/** Puts every point on the screen. A hot loop: no allocation, no calls. */
function place(xyz: Int16Array, places: Places, width: number, height: number, box: Box, ratio: number): void {
  const { at, shade, rotation: m, near, far } = places,
    reach = (box.radius * ratio) / SCALE;
  for (let i = 0, from = 0; i < at.length; i++, from += 3) {
    const a = xyz[from] as number,
      b = xyz[from + 1] as number,
      c = xyz[from + 2] as number,
      depth = m[6] * a + m[7] * b + m[8] * c,
      { side } = depth < 0 ? far : near,
      half = (side - 1) / 2;
    const x = Math.round(box.x * ratio - half + reach * (m[0] * a + m[1] * b + m[2] * c)),
      y = Math.round(box.y * ratio - half - reach * (m[3] * a + m[4] * b + m[5] * c));
    at[i] = x < 0 || y < 0 || x > width - side || y > height - side ? -1 : y * width + x;
    shade[i] = depth < 0 ? FAR : Math.min(SHADES - 1, Math.floor((depth / SCALE) * SHADES));
  }
}

/** Every point on one side: those of the lit cluster, or the others. The hot loop of a step: one call at most. */
function plot(
  pixels: Uint32Array,
  width: number,
  places: Places,
  slots: Uint32Array,
  shades: Uint32Array,
  behind: boolean,
  lit: number,
  last: boolean,
): void {
  const { at, shade } = places,
    stamp = behind ? places.far : places.near;
  for (let i = 0; i < at.length; i++) {
    const first = at[i] as number,
      slot = slots[i] as number,
      step = shade[i] as number;
    if (first < 0 || (step === FAR) !== behind || (lit >= 0 && (slot === lit) !== last)) continue;
    const colour = shades[STEPS * slot + step] as number;
    if (stamp.side === 2)
      pixels[first] = pixels[first + 1] = pixels[first + width] = pixels[first + width + 1] = colour;
    else press(pixels, width, first, stamp, colour);
  }
}

function press(pixels: Uint32Array, width: number, first: number, stamp: Stamp, shade: number): void {
  const { side, cover } = stamp;
  for (let row = 0, from = 0; row < side; row++)
    for (let at = first + row * width, end = at + side; at < end; at++, from++) {
      const part = cover[from] as number;
      if (part === 255) pixels[at] = shade;
      else if (part > 0) pixels[at] = blended(pixels[at] as number, shade, part);
    }
}

/** A part (of 255) of a solid colour over what is there. */
function blended(below: number, above: number, part: number): number {
  const alpha = below >>> 24,
    kept = (alpha * (255 - part)) / 255,
    total = part + kept;
  let pixel = Math.round(total) << 24;
  for (let shift = 0; shift < 24; shift += 8) {
    const value = (((above >>> shift) & 255) * part + ((below >>> shift) & 255) * kept) / total;
    pixel |= Math.round(value) << shift;
  }
  return pixel >>> 0;
}
