// SPDX-License-Identifier: MIT
//
// The points of the sphere, drawn by the processor into the pixels of a canvas. Where there is no graphics card this is
// many times as fast as a WebGL that imitates one: 200,000 points take some milliseconds. It looks like gl_points.ts.
import type { Colours } from "../data/colours";
import { channels } from "../data/colours";
import { Points, SCALE } from "../data/points";
import { el } from "../ui/dom";
import { dotRadius } from "./dot_radius";
import type { PointsLayer } from "./points_layer";
import type { Look } from "./scene";
import type { Box, View } from "./view";

const SHADES = 16;

/** The points of one cluster, side by side. */
interface Group {
  label: number;
  xyz: Int16Array;
}

/** A dot: how much of each pixel it covers, row by row, 0 to 255. */
interface Stamp {
  side: number;
  cover: Uint8Array;
  solid: boolean;
}

export class CpuPoints implements PointsLayer {
  readonly element = el("canvas", { class: "points", "aria-hidden": "true" });
  private readonly context = this.element.getContext("2d", { willReadFrequently: true });
  private image: ImageData | null = null;
  private groups: Group[] = [];
  private colours: Colours | null = null;
  private count = 0;

  set(points: Points, colours: Colours): void {
    this.groups = [...points.byLabel()].map(([label, indices]) => ({ label, xyz: gather(points.xyz, indices) }));
    this.colours = colours;
    this.count = points.count;
  }

  draw(view: View, box: Box, width: number, height: number, look: Look): void {
    const { ink, active, through } = look;
    const ratio = Math.min(devicePixelRatio || 1, 2),
      image = this.fresh(width, height, ratio);
    const pixels = new Uint32Array(image.data.buffer),
      stamp = stampOf(2 * dotRadius(this.count, view.zoom) * ratio);
    const small = stampOf(1.4 * dotRadius(this.count, view.zoom) * ratio),
      behind = channels(ink.globe);
    const order = [...this.groups].sort((a, b) => Number(a.label === active) - Number(b.label === active));
    for (const side of through ? [-1, 1] : [1])
      for (const group of order) {
        const dim = active !== null && group.label !== active ? 0.22 : 1,
          colour = this.colours?.rgb(group.label) ?? behind;
        const shades = shadesOf(colour, behind, dim, side < 0);
        plot(pixels, image.width, image.height, group.xyz, view, box, ratio, side, side < 0 ? small : stamp, shades);
      }
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
}

function gather(xyz: Int16Array, indices: Uint32Array): Int16Array {
  const result = new Int16Array(3 * indices.length);
  for (let i = 0; i < indices.length; i++) {
    const from = 3 * (indices[i] as number);
    result[3 * i] = xyz[from] as number;
    result[3 * i + 1] = xyz[from + 1] as number;
    result[3 * i + 2] = xyz[from + 2] as number;
  }
  return result;
}

/** A cluster's colour from the edge of the sphere to its middle, as pixels. */
function shadesOf(colour: readonly number[], behind: readonly number[], dim: number, far: boolean): Uint32Array {
  const shades = new Uint32Array(SHADES);
  for (let i = 0; i < SHADES; i++) {
    const light = (far ? 0.3 : 0.72 + (0.28 * i) / (SHADES - 1)) * dim;
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

/** Every point of a cluster on one side (1: the reader's). The hot loop: no allocation, no calls but one. */
function plot(
  pixels: Uint32Array,
  width: number,
  height: number,
  xyz: Int16Array,
  view: View,
  box: Box,
  ratio: number,
  side: number,
  stamp: Stamp,
  shades: Uint32Array,
): void {
  const m = view.rotation,
    reach = (box.radius * ratio) / SCALE,
    half = (stamp.side - 1) / 2;
  const left = box.x * ratio - half,
    top = box.y * ratio - half,
    rightmost = width - stamp.side,
    lowest = height - stamp.side;
  for (let i = 0; i < xyz.length; i += 3) {
    const a = xyz[i] as number,
      b = xyz[i + 1] as number,
      c = xyz[i + 2] as number;
    const depth = m[6] * a + m[7] * b + m[8] * c;
    if (depth * side < 0) continue;
    const x = Math.round(left + reach * (m[0] * a + m[1] * b + m[2] * c)),
      y = Math.round(top - reach * (m[3] * a + m[4] * b + m[5] * c));
    if (x < 0 || y < 0 || x > rightmost || y > lowest) continue;
    const shade = shades[Math.min(SHADES - 1, Math.floor((Math.abs(depth) / SCALE) * SHADES))] as number;
    if (stamp.side === 2) {
      const at = y * width + x;
      pixels[at] = pixels[at + 1] = pixels[at + width] = pixels[at + width + 1] = shade;
    } else press(pixels, width, x, y, stamp, shade);
  }
}

function press(pixels: Uint32Array, width: number, x: number, y: number, stamp: Stamp, shade: number): void {
  const { side, cover } = stamp;
  for (let row = 0, from = 0; row < side; row++)
    for (let at = (y + row) * width + x, end = at + side; at < end; at++, from++) {
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
