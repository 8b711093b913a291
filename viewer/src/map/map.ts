// SPDX-License-Identifier: MIT
//
// The map: rows in a plane on which near rows are near. Drag moves it, the wheel zooms it (once it has the focus, so that
// the page still scrolls), a click picks a cluster, words light up the rows whose names have them.
import type { Colours } from "../data/colours";
import { SCALE } from "../data/points";
import type { Selection } from "../data/selection";
import { Canvas } from "../draw/canvas";
import type { Pen } from "../draw/pen";
import { SvgPen } from "../draw/svg_pen";
import { el, onceAFrame } from "../ui/dom";
import { count } from "../ui/format";
import { inks, onInks } from "../ui/theme";
import { hideTooltip, showTooltip } from "../ui/tooltip";
import { captionsOf, drawCaptions } from "./captions";
import type { Caption } from "./captions";

export interface MapData {
  /** x0, y0, x1, y1, ... / SCALE */
  xy: Int16Array;
  labels: Int32Array;
  /** What people call the rows, if they have names. */
  names: string[] | null;
}

export interface MapOptions {
  selection: Selection;
  colours: Colours;
  /** What the tooltip says about a row of a cluster. */
  describe: (id: number) => (Node | string)[];
  /** A few words about a cluster, for the map itself. */
  caption: (id: number) => string;
}

interface Box {
  /** Where the middle of the map is, and how long half of it is, in pixels. */
  x: number;
  y: number;
  half: number;
}

const REACH = 8;
const MARGIN = 14;
const CLICK_SLACK = 4;
const FADED = 0.12;

export class PlaneMap {
  readonly element: HTMLElement;
  readonly search: HTMLElement | null;
  private readonly canvas = new Canvas("map-dots");
  private readonly found = el("span", { class: "fine found", role: "status" });
  private readonly words: string[] | null;
  private data: MapData;
  private captions: Caption[] = [];
  private matches: Uint32Array | null = null;
  private wanted = "";
  private zoom = 1;
  /** The place of the map in the middle of the view, -1..1. */
  private middle = { x: 0, y: 0 };
  private size = { width: 0, height: 0 };
  private drag: { x: number; y: number; travelled: number } | null = null;
  private readonly redraw = onceAFrame(() => this.draw());

  constructor(
    data: MapData,
    private readonly options: MapOptions,
  ) {
    this.data = data;
    this.words = data.names?.map((name) => name.toLowerCase()) ?? null;
    this.element = el(
      "div",
      {
        class: "map",
        tabindex: 0,
        role: "application",
        "aria-roledescription": "map",
        "aria-label": "The map of the rows. Drag or press arrows to move, plus and minus to zoom, 0 to reset, click to pick a cluster",
      },
      this.canvas.element,
    );
    this.search = this.words ? this.searchBox() : null;
    this.handle();
    new ResizeObserver(() => this.resize()).observe(this.element);
    onInks(this.redraw);
    options.selection.listen(this.redraw);
    this.caption();
  }

  /** The same places with other labels; captions follow when the reader halts. */
  show(labels: Int32Array): void {
    this.data = { ...this.data, labels };
    this.captions = [];
    this.redraw();
  }

  caption(): void {
    this.captions = captionsOf(this.data, this.options.caption);
    this.redraw();
  }

  zoomBy(factor: number): void {
    this.zoom = Math.max(1, Math.min(200, this.zoom * factor));
    if (this.zoom === 1) this.middle = { x: 0, y: 0 };
    this.redraw();
  }

  reset(): void {
    this.zoom = 1;
    this.middle = { x: 0, y: 0 };
    this.redraw();
  }

  svg(title: string): string {
    const side = 900,
      pen = new SvgPen(side, side, title, inks().card);
    this.paint(pen, this.box(side, side), side, side);
    return pen.finish();
  }

  /** x, y, label and name of the rows. */
  rows(): (string | number)[][] {
    const { xy, labels, names } = this.data;
    return Array.from(labels, (label, i) => [
      (xy[2 * i] as number) / SCALE,
      (xy[2 * i + 1] as number) / SCALE,
      label,
      ...(names ? [names[i] ?? ""] : []),
    ]);
  }

  // ---- Drawing ------------------------------------------------------------------------------------------------------

  private box(width: number, height: number): Box {
    const half = (Math.min(width, height) / 2 - MARGIN) * this.zoom;
    return { x: width / 2 - this.middle.x * half, y: height / 2 + this.middle.y * half, half };
  }

  private resize(): void {
    const frame = this.element.getBoundingClientRect();
    this.size = { width: Math.floor(frame.width), height: Math.floor(frame.height) };
    this.draw();
  }

  private draw(): void {
    const { width, height } = this.size;
    if (width < 20 || height < 20) return;
    this.paint(this.canvas.fresh(width, height), this.box(width, height), width, height);
  }

  /** What is lit lies above the others. */
  private paint(pen: Pen, box: Box, width: number, height: number): void {
    const { active } = this.options.selection,
      { labels } = this.data,
      radius = Math.min(5, sizeOf(labels.length) * Math.sqrt(this.zoom)),
      groups = this.groups(box, width, height);
    const lit = (id: number): boolean => (active === null ? !this.matches : id === active);
    for (const [id, places] of groups)
      if (!lit(id)) pen.dots(places, radius, this.options.colours.css(id), FADED);
    for (const [id, places] of groups) if (lit(id)) pen.dots(places, radius, this.options.colours.css(id), 0.8);
    if (this.matches) return this.paintMatches(pen, box, radius);
    drawCaptions(pen, this.captions, active, (at) => place(box, at.x, at.y), { width, height }, inks());
  }

  /** Pixels of the rows that can be seen, by cluster. */
  private groups(box: Box, width: number, height: number): Map<number, number[]> {
    const { xy, labels } = this.data,
      groups = new Map<number, number[]>();
    for (let i = 0; i < labels.length; i++) {
      const x = box.x + ((xy[2 * i] as number) / SCALE) * box.half,
        y = box.y - ((xy[2 * i + 1] as number) / SCALE) * box.half,
        label = labels[i] as number;
      if (x < -5 || y < -5 || x > width + 5 || y > height + 5) continue;
      const list = groups.get(label);
      if (list) list.push(x, y);
      else groups.set(label, [x, y]);
    }
    return groups;
  }

  private paintMatches(pen: Pen, box: Box, radius: number): void {
    const { xy, labels, names } = this.data,
      matches = this.matches ?? new Uint32Array(0),
      ink = inks();
    for (const i of matches) {
      const { x, y } = place(box, (xy[2 * i] as number) / SCALE, (xy[2 * i + 1] as number) / SCALE);
      pen.circle(x, y, radius + 2.5, { fill: this.options.colours.css(labels[i] as number), stroke: ink.ink, width: 1.4 });
      if (matches.length <= 12)
        pen.text(x + radius + 5, y + 4, shortened(names?.[i] ?? "", 40), { colour: ink.ink, size: 12, halo: ink.card });
    }
  }

  // ---- Words --------------------------------------------------------------------------------------------------------

  private searchBox(): HTMLElement {
    const input = el("input", { type: "search", placeholder: "Search", "aria-label": "Search the names of the rows" });
    input.addEventListener("input", () => this.look(input.value));
    input.addEventListener("keydown", (event) => {
      event.stopPropagation();
      if (event.key !== "Escape") return;
      input.value = "";
      this.look("");
    });
    return el("label", { class: "search" }, input, this.found);
  }

  /** Lights up the rows whose names have the words. */
  look(text: string): void {
    this.wanted = text.trim().toLowerCase();
    const { words, wanted } = this;
    this.matches = wanted && words ? Uint32Array.from(words.keys()).filter((i) => words[i]?.includes(wanted)) : null;
    this.found.textContent = this.matches ? `${count(this.matches.length)} found` : "";
    this.redraw();
  }

  // ---- Hands --------------------------------------------------------------------------------------------------------

  private handle(): void {
    const { element } = this;
    element.addEventListener("pointerdown", (event) => {
      if (event.button !== 0) return;
      element.setPointerCapture(event.pointerId);
      this.drag = { ...this.placeOf(event), travelled: 0 };
    });
    element.addEventListener("pointermove", (event) => this.move(event));
    element.addEventListener("pointerup", (event) => this.lift(event));
    element.addEventListener("pointercancel", () => (this.drag = null));
    element.addEventListener("pointerleave", () => this.point(null));
    element.addEventListener("wheel", (event) => this.wheel(event), { passive: false });
    element.addEventListener("keydown", (event) => {
      if (!this.key(event)) return;
      event.preventDefault();
      event.stopPropagation();
      this.redraw();
    });
  }

  private move(event: PointerEvent): void {
    const at = this.placeOf(event),
      { drag } = this;
    if (!drag) return this.point(at);
    drag.travelled += Math.hypot(at.x - drag.x, at.y - drag.y);
    if (drag.travelled > CLICK_SLACK) {
      hideTooltip();
      this.shift(drag.x - at.x, at.y - drag.y);
    }
    drag.x = at.x;
    drag.y = at.y;
  }

  private lift(event: PointerEvent): void {
    const still = this.drag !== null && this.drag.travelled <= CLICK_SLACK,
      { selection } = this.options;
    this.drag = null;
    if (!still) return;
    this.element.focus({ preventScroll: true });
    const row = this.rowAt(this.placeOf(event)),
      id = row === null ? -1 : (this.data.labels[row] as number);
    if (id < 0) selection.clear();
    else selection.pick(id);
  }

  /** By pixels to the right and up. */
  private shift(x: number, y: number): void {
    const { half } = this.box(this.size.width, this.size.height);
    const clamp = (value: number): number => Math.max(-1, Math.min(1, value));
    this.middle = { x: clamp(this.middle.x + x / half), y: clamp(this.middle.y + y / half) };
    this.redraw();
  }

  /** The place under the pointer stays where it is. */
  private wheel(event: WheelEvent): void {
    if (!event.ctrlKey && !event.metaKey && document.activeElement !== this.element) return;
    event.preventDefault();
    const at = this.placeOf(event),
      { width, height } = this.size,
      before = this.box(width, height),
      x = (at.x - before.x) / before.half,
      y = (before.y - at.y) / before.half;
    this.zoomBy(Math.exp(-event.deltaY * (event.deltaMode === 1 ? 0.05 : 0.0015)));
    const after = this.box(width, height),
      now = place(after, x, y);
    this.shift(now.x - at.x, at.y - now.y);
  }

  private key(event: KeyboardEvent): boolean {
    if (event.ctrlKey || event.metaKey || event.altKey) return false;
    if (event.key === "ArrowLeft") this.shift(-40, 0);
    else if (event.key === "ArrowRight") this.shift(40, 0);
    else if (event.key === "ArrowUp") this.shift(0, 40);
    else if (event.key === "ArrowDown") this.shift(0, -40);
    else if (event.key === "+" || event.key === "=") this.zoomBy(1.3);
    else if (event.key === "-") this.zoomBy(1 / 1.3);
    else if (event.key === "0") this.reset();
    else return false;
    return true;
  }

  private point(at: { x: number; y: number } | null): void {
    const row = at && this.rowAt(at),
      id = row === null ? -1 : (this.data.labels[row] as number);
    this.options.selection.hover(id < 0 ? null : id);
    if (row === null || !at) return hideTooltip();
    const frame = this.element.getBoundingClientRect(),
      name = this.data.names?.[row];
    showTooltip(
      frame.left + at.x,
      frame.top + at.y,
      ...(name === undefined ? [] : [el("div", { class: "row-name" }, name)]),
      ...this.options.describe(id),
    );
  }

  /** The row nearest to a place, if it is near. */
  private rowAt(at: { x: number; y: number }): number | null {
    const { xy, labels } = this.data,
      box = this.box(this.size.width, this.size.height),
      x = ((at.x - box.x) / box.half) * SCALE,
      y = ((box.y - at.y) / box.half) * SCALE;
    let best = null,
      least = ((REACH / box.half) * SCALE) ** 2;
    for (let i = 0; i < labels.length; i++) {
      const dx = (xy[2 * i] as number) - x,
        dy = (xy[2 * i + 1] as number) - y,
        square = dx * dx + dy * dy;
      if (square >= least) continue;
      least = square;
      best = i;
    }
    return best;
  }

  private placeOf(event: MouseEvent): { x: number; y: number } {
    const frame = this.element.getBoundingClientRect();
    return { x: event.clientX - frame.left, y: event.clientY - frame.top };
  }
}

function place(box: Box, x: number, y: number): { x: number; y: number } {
  return { x: box.x + x * box.half, y: box.y - y * box.half };
}

/** Of a dot, in pixels. */
function sizeOf(rows: number): number {
  return rows > 20_000 ? 1.1 : rows > 5000 ? 1.4 : rows > 1000 ? 2.2 : 3.6;
}

export function shortened(text: string, most: number): string {
  return text.length > most ? `${text.slice(0, most - 1)}…` : text;
}
