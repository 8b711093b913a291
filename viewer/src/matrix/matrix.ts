// SPDX-License-Identifier: MIT
//
// The angles between all means, as a square of colours with numbers where there is room: strong where two clusters are
// close. It says more than a picture where the sphere has more dimensions than a screen.
import type { Selection } from "../data/selection";
import { Canvas } from "../draw/canvas";
import type { Pen } from "../draw/pen";
import { SvgPen } from "../draw/svg_pen";
import { el, onceAFrame } from "../ui/dom";
import { degrees } from "../ui/format";
import { inks, onInks } from "../ui/theme";
import type { Inks } from "../ui/theme";
import { hideTooltip, showTooltip } from "../ui/tooltip";

export const MOST_ANGLES = 200;
const EDGE = 34;
const MOST_CELL = 46;
const LEAST_CELL_WITH_NUMBER = 25;

export class AngleMatrix {
  readonly element: HTMLElement;
  private readonly canvas = new Canvas("matrix-canvas");
  private readonly redraw = onceAFrame(() => this.draw());
  private cell = 0;

  constructor(
    private readonly ids: number[],
    private readonly angles: number[][],
    private readonly most: number,
    private readonly selection: Selection,
  ) {
    this.element = el(
      "div",
      { class: "matrix", role: "img", "aria-label": `Angles between ${ids.length} means; the CSV has all of them` },
      this.canvas.element,
    );
    new ResizeObserver(this.redraw).observe(this.element);
    onInks(this.redraw);
    selection.listen(this.redraw);
    this.canvas.element.addEventListener("pointermove", (event) => this.point(event));
    this.canvas.element.addEventListener("pointerleave", () => this.leave());
    this.canvas.element.addEventListener("click", (event) => this.click(event));
  }

  svg(title: string): string {
    const cell = Math.max(8, Math.min(MOST_CELL, 900 / this.ids.length)),
      size = EDGE + cell * this.ids.length + 8;
    const pen = new SvgPen(size, size, title, inks().card);
    this.paint(pen, cell, inks());
    return pen.finish();
  }

  private draw(): void {
    const width = this.element.clientWidth;
    if (width < 60) return;
    this.cell = Math.max(2, Math.min(MOST_CELL, (width - EDGE - 8) / this.ids.length));
    const size = Math.ceil(EDGE + this.cell * this.ids.length + 8);
    this.paint(this.canvas.fresh(size, size), this.cell, inks());
  }

  private paint(pen: Pen, cell: number, ink: Inks): void {
    const { ids, angles } = this,
      every = Math.ceil(14 / cell),
      numbers = cell >= LEAST_CELL_WITH_NUMBER;
    ids.forEach((id, i) => {
      const middle = EDGE + (i + 0.5) * cell,
        style = { colour: ink.muted, size: 11, weight: 600 };
      if (i % every === 0) pen.text(middle, EDGE - 8, String(id), { ...style, anchor: "middle" });
      if (i % every === 0) pen.text(EDGE - 7, middle + 4, String(id), { ...style, anchor: "end" });
      ids.forEach((_, j) =>
        this.paintCell(pen, EDGE + j * cell, EDGE + i * cell, cell, angles[i]?.[j] ?? NaN, numbers, ink),
      );
    });
    const active = this.selection.active === null ? -1 : ids.indexOf(this.selection.active);
    if (active >= 0) this.frame(pen, active, cell, ink);
  }

  private paintCell(pen: Pen, x: number, y: number, cell: number, value: number, numbers: boolean, ink: Inks): void {
    if (!Number.isFinite(value)) return;
    const gap = cell > 8 ? 1 : 0,
      near = 1 - Math.min(1, value / this.most),
      strength = 0.06 + 0.86 * near * near;
    pen.line([x, y, x + cell - gap, y, x + cell - gap, y + cell - gap, x, y + cell - gap], true, {
      fill: ink.accent,
      opacity: strength,
    });
    if (!numbers) return;
    const colour = strength > 0.72 ? ink.card : ink.ink;
    pen.text(x + cell / 2, y + cell / 2 + 4, value.toFixed(0), {
      colour,
      size: cell > 34 ? 12 : 10.5,
      anchor: "middle",
    });
  }

  private frame(pen: Pen, index: number, cell: number, ink: Inks): void {
    const start = EDGE + index * cell,
      end = EDGE + this.ids.length * cell,
      style = { stroke: ink.ink, width: 2 };
    pen.line([EDGE, start, end, start, end, start + cell, EDGE, start + cell], true, style);
    pen.line([start, EDGE, start, end, start + cell, end, start + cell, EDGE], true, style);
  }

  private at(event: MouseEvent): [number, number] | null {
    const frame = this.canvas.element.getBoundingClientRect();
    const column = Math.floor((event.clientX - frame.left - EDGE) / this.cell),
      row = Math.floor((event.clientY - frame.top - EDGE) / this.cell);
    return column >= 0 && row >= 0 && column < this.ids.length && row < this.ids.length ? [row, column] : null;
  }

  private point(event: PointerEvent): void {
    const place = this.at(event);
    if (!place) return this.leave();
    const [row, column] = place;
    this.selection.hover(this.ids[row] ?? null);
    showTooltip(
      event.clientX,
      event.clientY,
      `clusters ${this.ids[row]} and ${this.ids[column]}: `,
      el("strong", {}, degrees(this.angles[row]?.[column], 2)),
    );
  }

  private leave(): void {
    this.selection.hover(null);
    hideTooltip();
  }

  private click(event: MouseEvent): void {
    const place = this.at(event);
    if (place) this.selection.pick(this.ids[place[0]] ?? null);
  }
}
