// SPDX-License-Identifier: MIT
//
// The nets as a part of the page: the upper and the lower hemisphere, or for axes and for measurements of the field the
// lower one alone. Each has two canvases: the ground, which is drawn when the data changes, and the light on it, which follows the pointer.
import type { Points } from "../data/points";
import type { Selection } from "../data/selection";
import type { Field, Vec3 } from "../data/types";
import { Canvas } from "../draw/canvas";
import type { Pen } from "../draw/pen";
import { SvgPen } from "../draw/svg_pen";
import { density, kamb } from "../math/density";
import { hasPlanes } from "../math/field";
import { fromNet } from "../math/lambert";
import type { Side } from "../math/lambert";
import type { Scene } from "../sphere/scene";
import { el, onceAFrame } from "../ui/dom";
import { number } from "../ui/format";
import { inks, onInks } from "../ui/theme";
import { hideTooltip, showTooltip } from "../ui/tooltip";
import { LEAST_POINTS, contoursOf, levelsFor, sigmasFor } from "./contours";
import { drawDots, drawGround, drawLines, drawMeans, drawNames } from "./draw";
import type { Disc, NetPicture } from "./draw";
import { halfOf, nearest } from "./half";
import type { Fold } from "./half";

export interface NetsOptions {
  axial: boolean;
  axes: readonly string[];
  /** Measurements of the field: a compass, planes and cones of means, Kamb's contours. */
  field: Field | null;
  selection: Selection;
  describe: (id: number, xyz: Vec3, mean: boolean) => (Node | string)[];
}

const MARGIN = 30;
const REACH_PIXELS = 6;

export class Nets {
  readonly element: HTMLElement;
  levels: number[] = [];
  private readonly sides: Side[];
  private readonly nets: Net[];
  private points: Points | null = null;

  constructor(private readonly options: NetsOptions) {
    this.sides = options.axial || options.field ? [-1] : [1, -1];
    this.nets = this.sides.map((side) => new Net(side, options));
    this.element = el("div", { class: "nets" }, ...this.nets.map((net) => net.element));
    onInks(() => this.nets.forEach((net) => net.redraw()));
    options.selection.listen(() => this.nets.forEach((net) => net.relight()));
  }

  show(scene: Scene): void {
    if (scene.points !== this.points) this.measure(scene);
    this.points = scene.points;
    for (const net of this.nets) net.means(scene);
  }

  dots(on: boolean): void {
    for (const net of this.nets) net.dots(on);
  }

  shades(on: boolean): void {
    for (const net of this.nets) net.shades(on);
  }

  /** What contours and lines mean. */
  legend(): string {
    const { levels, options } = this,
      numbers = levels.map((level) => number(Number(level.toPrecision(2)))).join(", ");
    if (!options.field)
      return levels.length
        ? `Lambert's projection. Contours at ${numbers} times the even density.`
        : "Lambert's projection. Too few or too even points for contours of density.";
    const contours = levels.length
      ? `Contours at ${numbers} standard deviations (Kamb).`
      : "Too few or too even points for contours of density.";
    const planes = hasPlanes(options.field) ? " Lines: the planes of the means." : "";
    return `Equal area, seen from above. ${contours} Ovals: where the means are with 95% confidence.${planes}`;
  }

  /** The places of all points, for a table. */
  *rows(): Generator<[string, number, number, number]> {
    for (const net of this.nets) yield* net.rows();
  }

  svg(title: string): string {
    const size = 440,
      pen = new SvgPen(size * this.nets.length, size + 24, title, inks().card);
    this.nets.forEach((net, i) => net.export(pen, { x: size * (i + 0.5), y: size / 2, radius: size / 2 - MARGIN }));
    return pen.finish();
  }

  private measure(scene: Scene): void {
    const { axial, field } = this.options,
      enough = scene.points.count >= LEAST_POINTS;
    const densities = !enough ? [] : field ? [kamb(scene.points, -1)] : density(scene.points, this.sides, axial);
    this.levels = field ? densities.flatMap(sigmasFor) : levelsFor(densities);
    this.nets.forEach((net, i) => {
      const found = densities[i];
      net.ground(scene, found ? contoursOf(found, this.levels) : []);
    });
  }
}

class Net {
  readonly element: HTMLElement;
  private readonly stage = el("div", { class: "net-stage" });
  private readonly base = new Canvas("ground");
  private readonly light = new Canvas("light");
  private picture: NetPicture | null = null;
  private size = 0;
  private withDots = true;
  private withShades = true;
  readonly redraw = onceAFrame(() => this.draw());
  readonly relight = onceAFrame(() => this.drawLight());

  constructor(
    private readonly side: Side,
    private readonly options: NetsOptions,
  ) {
    this.stage.append(this.base.element, this.light.element);
    this.element = el("figure", { class: "net" }, this.stage, el("figcaption", {}, this.name()));
    this.stage.setAttribute("role", "img");
    this.stage.setAttribute("aria-label", `Equal-area net of the ${this.name()}`);
    new ResizeObserver(() => this.resize()).observe(this.stage);
    this.stage.addEventListener("pointermove", (event) => this.point(event));
    this.stage.addEventListener("pointerleave", () => this.leave());
    this.stage.addEventListener("click", (event) => this.click(event));
  }

  ground(scene: Scene, contours: NetPicture["contours"]): void {
    const { axial, axes, field } = this.options,
      fold: Fold = axial || hasPlanes(field) ? "same" : field ? "apart" : "none";
    this.picture = {
      half: halfOf(scene.points, this.side, fold),
      contours,
      markers: scene.markers,
      colours: scene.colours,
      folded: fold !== "none",
      axes,
      field,
    };
    this.redraw();
  }

  means(scene: Scene): void {
    if (!this.picture) return;
    this.picture = { ...this.picture, markers: scene.markers, colours: scene.colours };
    this.redraw();
  }

  dots(on: boolean): void {
    this.withDots = on;
    this.redraw();
  }

  shades(on: boolean): void {
    this.withShades = on;
    this.redraw();
  }

  *rows(): Generator<[string, number, number, number]> {
    const half = this.picture?.half;
    for (const [label, places] of [...(half?.groups ?? []), ...(half?.turned ?? [])])
      for (let i = 0; i + 1 < places.length; i += 2) {
        const up = half?.turned.get(label) === places || this.side > 0;
        yield [up ? "upper" : "lower", rounded(places[i]), rounded(places[i + 1]), label];
      }
  }

  export(pen: Pen, disc: Disc): void {
    const { picture } = this,
      ink = inks(),
      { active } = this.options.selection;
    if (!picture) return;
    drawGround(pen, picture, disc, ink, this.withShades);
    if (this.withDots) drawDots(pen, picture, disc, ink, null);
    if (this.withShades) drawLines(pen, picture, disc, ink);
    drawMeans(pen, picture, disc, ink, active);
    drawNames(pen, picture, disc, ink);
    pen.text(disc.x, disc.y + disc.radius + 30, this.name(), { colour: ink.muted, size: 13, anchor: "middle" });
  }

  private name(): string {
    if (hasPlanes(this.options.field)) return "lower hemisphere; poles of planes";
    if (this.options.field && !this.options.axial) return "lower hemisphere; rings point up";
    if (this.options.axial) return "lower hemisphere; every axis has one end here";
    const axis = this.options.axes[2] ?? "z";
    return this.side > 0
      ? `upper hemisphere, around +${axis}, from above`
      : `lower hemisphere, around −${axis}, from above`;
  }

  private resize(): void {
    this.size = Math.floor(this.stage.getBoundingClientRect().width);
    this.draw();
  }

  private disc(): Disc {
    return { x: this.size / 2, y: this.size / 2, radius: this.size / 2 - MARGIN };
  }

  private draw(): void {
    const { picture, size } = this,
      ink = inks();
    if (!picture || size < 2 * MARGIN + 10) return;
    const pen = this.base.fresh(size, size),
      disc = this.disc();
    drawGround(pen, picture, disc, ink, this.withShades);
    if (this.withDots) drawDots(pen, picture, disc, ink, null);
    if (this.withShades) drawLines(pen, picture, disc, ink);
    this.drawLight();
  }

  private drawLight(): void {
    const { picture, size } = this,
      { active } = this.options.selection;
    if (!picture || size < 2 * MARGIN + 10) return;
    const pen = this.light.fresh(size, size),
      disc = this.disc();
    this.base.element.classList.toggle("dimmed", active !== null);
    if (active !== null) drawDots(pen, picture, disc, inks(), active);
    drawMeans(pen, picture, disc, inks(), active);
    drawNames(pen, picture, disc, inks());
  }

  private find(event: MouseEvent): { id: number; xyz: Vec3 } | null {
    if (!this.picture) return null;
    const frame = this.stage.getBoundingClientRect(),
      disc = this.disc();
    const across = (event.clientX - frame.left - disc.x) / disc.radius,
      up = (disc.y - event.clientY + frame.top) / disc.radius;
    const hit = nearest(this.picture.half, across, up, REACH_PIXELS / disc.radius);
    if (!hit) return null;
    const [x, y, z] = fromNet(hit.across, hit.up, this.side);
    return { id: hit.id, xyz: hit.turned ? [-x, -y, -z] : [x, y, z] };
  }

  private point(event: PointerEvent): void {
    const hit = this.find(event);
    this.options.selection.hover(hit && hit.id >= 0 ? hit.id : null);
    if (hit) showTooltip(event.clientX, event.clientY, ...this.options.describe(hit.id, hit.xyz, false));
    else hideTooltip();
  }

  private leave(): void {
    this.options.selection.hover(null);
    hideTooltip();
  }

  private click(event: MouseEvent): void {
    const hit = this.find(event);
    if (!hit || hit.id < 0) this.options.selection.clear();
    else this.options.selection.pick(hit.id);
  }
}

function rounded(value: number | undefined): number {
  return Number((value ?? 0).toFixed(5));
}
