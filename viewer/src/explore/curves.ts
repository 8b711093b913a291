// SPDX-License-Identifier: MIT
//
// The curves of tune's sweep, drawn above the slider on the same scale: how many clusters each angle finds, how clear they
// are, how stable, how much better they explain the points than one cluster; with the recommended angle marked. Colours are told apart by dashes too.
import { Canvas } from "../draw/canvas";
import type { Pen } from "../draw/pen";
import { el, onceAFrame } from "../ui/dom";
import { count } from "../ui/format";
import { inks, onInks } from "../ui/theme";
import type { Sweep, SweepAngle } from "./messages";

const HEIGHT = 132;
const TOP = 14;
const BOTTOM = 18;
/** Half of the slider's thumb: where its ends are. */
export const EDGE = 9;

interface Line {
  name: string;
  colour: string;
  dash: number[];
  value: (row: SweepAngle) => number | null;
  /** Shares of the largest value, if it has no scale of its own. */
  relative?: boolean;
}

const LINES: Line[] = [
  { name: "silhouette", colour: "#0072b2", dash: [], value: (row) => row.silhouette },
  { name: "stability", colour: "#d55e00", dash: [7, 4], value: (row) => row.stability },
  { name: "silhouette, merged by evidence", colour: "#009e73", dash: [2, 3], value: (row) => row.merged_silhouette },
  { name: "evidence", colour: "#a04f80", dash: [9, 3, 2, 3], value: (row) => row.evidence, relative: true },
];
const LIGHT = ["#56b4e9", "#e69f00", "#33c9a0", "#e29ac4"];

export class Curves {
  readonly element: HTMLElement;
  private readonly canvas = new Canvas("curves-canvas");
  private readonly cursor = el("div", { class: "cursor" });
  private readonly legend = el("p", { class: "hint legend" });
  private sweep: Sweep | null = null;
  private most = 120;
  private readonly redraw = onceAFrame(() => this.draw());

  constructor(private readonly choose: (angle: number) => void) {
    const area = el(
      "div",
      { class: "curves", role: "img", "aria-label": "Clusters, silhouette, stability and evidence over the angle" },
      this.canvas.element,
      this.cursor,
    );
    this.element = el("div", {}, area, this.legend);
    area.addEventListener("pointerdown", (event) => this.drag(area, event));
    new ResizeObserver(this.redraw).observe(area);
    onInks(this.redraw);
  }

  show(sweep: Sweep | null): void {
    this.sweep = sweep;
    this.redraw();
  }

  at(angle: number, most: number): void {
    const part = Math.min(angle, most) / most;
    this.cursor.style.left = `calc(${EDGE}px + ${part} * (100% - ${2 * EDGE}px))`;
    if (most !== this.most) this.redraw();
    this.most = most;
  }

  private drag(area: HTMLElement, event: PointerEvent): void {
    const move = (at: PointerEvent): void => {
      const frame = area.getBoundingClientRect(),
        part = (at.clientX - frame.left - EDGE) / (frame.width - 2 * EDGE);
      this.choose(Math.round(Math.max(0, Math.min(1, part)) * this.most * 10) / 10);
    };
    if (event.button !== 0) return;
    area.setPointerCapture(event.pointerId);
    area.addEventListener("pointermove", move);
    area.addEventListener("pointerup", () => area.removeEventListener("pointermove", move), { once: true });
    move(event);
  }

  private draw(): void {
    const width = this.canvas.element.parentElement?.clientWidth ?? 0;
    if (width < 80) return;
    const pen = this.canvas.fresh(width, HEIGHT),
      x = (angle: number): number => EDGE + (angle / this.most) * (width - 2 * EDGE);
    this.drawGrid(pen, width, x);
    const rows = (this.sweep?.angles ?? []).filter((row) => row.angle <= this.most);
    this.drawClusters(pen, rows, x);
    LINES.forEach((line, i) => this.drawLine(pen, rows, line, this.colourOf(i), x));
    this.drawTuned(pen, x);
    this.legend.replaceChildren(...this.words(rows));
  }

  private colourOf(index: number): string {
    return (inks().dark ? LIGHT[index] : LINES[index]?.colour) ?? inks().ink;
  }

  private drawGrid(pen: Pen, width: number, x: (angle: number) => number): void {
    const ink = inks(),
      step = this.most > 60 ? 15 : 5;
    for (let angle = 0; angle <= this.most; angle += step) {
      pen.line([x(angle), TOP, x(angle), HEIGHT - BOTTOM], false, { stroke: ink.grid, width: 1 });
      pen.text(x(angle), HEIGHT - 4, `${angle}°`, {
        colour: ink.muted,
        size: 11,
        anchor: angle === 0 ? "start" : angle + step > this.most ? "end" : "middle",
      });
    }
    pen.line([EDGE, y(0), width - EDGE, y(0)], false, { stroke: ink.grid, width: 1 });
  }

  /** Steps on a logarithmic scale, behind the others, with their numbers where they change. */
  private drawClusters(pen: Pen, rows: SweepAngle[], x: (angle: number) => number): void {
    const ink = inks(),
      most = Math.max(2, ...rows.map((row) => row.clusters)),
      height = (row: SweepAngle): number => y(Math.log(row.clusters) / Math.log(most));
    if (rows.length < 2) return;
    const places = rows.flatMap((row) => [x(row.angle), height(row)]),
      first = rows[0] as SweepAngle,
      last = rows[rows.length - 1] as SweepAngle;
    pen.line([x(first.angle), y(0), ...places, x(last.angle), y(0)], true, { fill: ink.grid, opacity: 0.45 });
    pen.line(places, false, { stroke: ink.muted, width: 1.5 });
    let said = Infinity;
    for (const row of rows) {
      const place = x(row.angle);
      if (said - place < 34 || row.clusters < 2) continue;
      said = place;
      pen.text(place, height(row) - 4, String(row.clusters), {
        colour: ink.muted,
        size: 10,
        anchor: "middle",
        halo: ink.card,
      });
    }
  }

  private drawLine(pen: Pen, rows: SweepAngle[], line: Line, stroke: string, x: (angle: number) => number): void {
    let places: number[] = [];
    const most = line.relative ? Math.max(1e-9, ...rows.map((row) => line.value(row) ?? 0)) : 1;
    const flush = (): void => {
      if (places.length > 2) pen.line(places, false, { stroke, width: 2, dash: line.dash });
      else if (places.length === 2) pen.circle(places[0] as number, places[1] as number, 2, { fill: stroke });
      places = [];
    };
    for (const row of rows) {
      const value = line.value(row);
      if (value === null) flush();
      else places.push(x(row.angle), y(Math.max(0, value / most)));
    }
    flush();
  }

  private drawTuned(pen: Pen, x: (angle: number) => number): void {
    const ink = inks(),
      tuned = this.sweep?.tuned;
    if (!tuned || tuned.angle > this.most) return;
    const place = x(tuned.angle);
    pen.line([place, TOP, place, HEIGHT - BOTTOM], false, { stroke: ink.accent, width: 1.5, dash: [4, 3] });
    pen.text(place, TOP - 3, "★", { colour: ink.accent, size: 13, anchor: "middle", halo: ink.card });
  }

  private words(rows: SweepAngle[]): (Node | string)[] {
    if (rows.length === 0) return ["The curves of tune come as they are computed."];
    const parts: (Node | string)[] = [el("span", { class: "key clusters-key" }), "clusters "];
    LINES.forEach((line, i) => {
      const key = el("span", { class: "key" });
      key.style.borderTop = `2px ${line.dash.length === 0 ? "solid" : (line.dash[0] ?? 0) > 3 ? "dashed" : "dotted"} ${this.colourOf(i)}`;
      const most = Math.max(...rows.map((row) => line.value(row) ?? 0));
      parts.push(key, line.relative && most > 0 ? `${line.name} (up to ${count(most)} nats) ` : `${line.name} `);
    });
    const cut = rows[rows.length - 1]?.angle ?? 0;
    if (this.sweep?.tuned?.metric === "local") parts.push("· of rows with the local metric ");
    if (this.sweep?.tuned && cut > 5) parts.push(`· tune looks at no angle below ${cut}°: too many clusters`);
    return parts;
  }
}

function y(share: number): number {
  return HEIGHT - BOTTOM - Math.min(1, share) * (HEIGHT - BOTTOM - TOP);
}
