// SPDX-License-Identifier: MIT
//
// For directions of the plane: a rose, in which a petal's area is the number of points in its ten degrees, coloured by
// cluster, and a line for every mean. An axis has a petal at either end.
import type { Selection } from "../data/selection";
import { Canvas } from "../draw/canvas";
import type { Pen } from "../draw/pen";
import { SvgPen } from "../draw/svg_pen";
import { drawCompass } from "../net/draw";
import type { Scene } from "../sphere/scene";
import { el, onceAFrame } from "../ui/dom";
import { inks, onInks } from "../ui/theme";

const PETALS = 36;
const SIZE = 480;

export interface RoseOptions {
  axial: boolean;
  /** Azimuths of the field: a compass instead of x and y. */
  field: boolean;
}

export class Rose {
  readonly element: HTMLElement;
  private readonly canvas = new Canvas("rose-canvas");
  private readonly redraw = onceAFrame(() => this.draw());

  constructor(
    private scene: Scene,
    private readonly selection: Selection,
    private options: RoseOptions,
  ) {
    this.element = el(
      "div",
      { class: "rose", role: "img", "aria-label": "Rose: how many points lie in each ten degrees" },
      this.canvas.element,
    );
    new ResizeObserver(this.redraw).observe(this.element);
    onInks(this.redraw);
    selection.listen(this.redraw);
  }

  show(scene: Scene, axial = this.options.axial): void {
    this.scene = scene;
    this.options = { ...this.options, axial };
    this.redraw();
  }

  svg(title: string): string {
    const pen = new SvgPen(SIZE, SIZE, title, inks().card);
    this.paint(pen, SIZE);
    return pen.finish();
  }

  private draw(): void {
    const size = Math.min(this.element.clientWidth, SIZE);
    if (size > 80) this.paint(this.canvas.fresh(size, size), size);
  }

  private paint(pen: Pen, size: number): void {
    const ink = inks(),
      middle = size / 2,
      radius = middle - 26,
      { active } = this.selection,
      petals = this.petals();
    const most = Math.max(1, ...petals.map((petal) => petal.reduce((sum, [, count]) => sum + count, 0)));
    pen.circle(middle, middle, radius, { fill: ink.globe, stroke: ink.globeEdge });
    for (const share of [0.25, 0.5, 0.75]) pen.circle(middle, middle, radius * Math.sqrt(share), { stroke: ink.grid });
    petals.forEach((petal, i) => {
      let sum = 0;
      for (const [label, count] of petal) {
        const from = radius * Math.sqrt(sum / most),
          to = radius * Math.sqrt((sum + count) / most);
        const opacity = active === null || active === label ? 1 : 0.2;
        pen.line(sector(middle, from, to, i), true, {
          fill: this.scene.colours.css(label),
          stroke: ink.card,
          width: 0.7,
          opacity,
        });
        sum += count;
      }
    });
    this.paintMeans(pen, middle, radius);
    if (this.options.field) return drawCompass(pen, middle, middle, radius, ink);
    pen.text(middle + radius + 6, middle + 4, "x", { colour: ink.muted, size: 12, weight: 600 });
    pen.text(middle, middle - radius - 7, "y", { colour: ink.muted, size: 12, weight: 600, anchor: "middle" });
  }

  private paintMeans(pen: Pen, middle: number, radius: number): void {
    const ink = inks(),
      { active } = this.selection;
    for (const marker of this.scene.markers.slice(0, 60)) {
      const [x, y] = marker.xyz,
        back = this.options.axial ? radius : 0,
        line = [middle - back * x, middle + back * y, middle + radius * x, middle - radius * y];
      const opacity = active === null || active === marker.id ? 1 : 0.2;
      pen.line(line, false, { stroke: ink.halo, width: 4, opacity: 0.7 * opacity });
      pen.line(line, false, { stroke: ink.ink, width: 1.5, opacity });
      pen.text(middle + (radius + 13) * x, middle - (radius + 13) * y + 4, String(marker.id), {
        colour: ink.ink,
        size: 11,
        weight: 700,
        anchor: "middle",
        halo: ink.card,
        opacity,
      });
    }
  }

  /** For each petal the counts of its labels, always in the same order of labels. */
  private petals(): [number, number][][] {
    const petals = Array.from({ length: PETALS }, () => new Map<number, number>()),
      { points } = this.scene;
    for (let i = 0; i < points.count; i++) {
      const [x, y] = points.at(i),
        turn = Math.atan2(y, x) / (2 * Math.PI),
        label = points.labels[i] as number;
      for (const half of this.options.axial ? [0, 0.5] : [0]) {
        const petal = petals[Math.floor(((turn + half + 1) % 1) * PETALS) % PETALS] as Map<number, number>;
        petal.set(label, (petal.get(label) ?? 0) + 1);
      }
    }
    return petals.map((petal) => [...petal].sort(([a], [b]) => a - b));
  }
}

function sector(middle: number, from: number, to: number, petal: number): number[] {
  const outer: number[] = [],
    inner: number[] = [];
  for (let step = 0; step <= 4; step++) {
    const turn = ((petal + step / 4) / PETALS) * 2 * Math.PI,
      x = Math.cos(turn),
      y = -Math.sin(turn);
    outer.push(middle + to * x, middle + to * y);
    inner.unshift(middle + from * x, middle + from * y);
  }
  return [...outer, ...inner];
}

export function roseWords(axial: boolean): string {
  return `A petal's area is the number of points in its ten degrees.${axial ? " An axis has a petal at either end." : ""}`;
}
