// SPDX-License-Identifier: MIT
//
// How the camera is turned, as three curves: the rotation vector from the camera to the first frame, in degrees about x, y
// and z of the first frame, in bands of one standard deviation. Click or drag to go to a frame.
import type { Frame, Vec3 } from "../data/types";
import { Canvas } from "../draw/canvas";
import type { Pen } from "../draw/pen";
import { SvgPen } from "../draw/svg_pen";
import { el, onceAFrame } from "../ui/dom";
import { saveCsv, saveSvg } from "../ui/save";
import { inks, onInks } from "../ui/theme";
import type { Player } from "./player";
import type { Timeline } from "./timeline";

const HEIGHT = 190;
const LEFT = 64;
const RIGHT = 14;
const TOP = 26;
const BOTTOM = 30;
const DEGREES = 180 / Math.PI;
const AXES = [
  { name: "x", colour: "#c8442f" },
  { name: "y", colour: "#2f8f4e" },
  { name: "z", colour: "#3b72c4" },
];

export interface Turn {
  /** Degrees about x, y and z. */
  turn: Vec3;
  deviation: Vec3;
}

/** Null for frames without a rotation. A turn goes on beyond 180 degrees where the frame before it was near. */
export function turnsOf(frames: readonly Frame[]): (Turn | null)[] {
  let before: Vec3 = [0, 0, 0];
  return frames.map(({ rotation, rotation_deviation: deviation }) => {
    if (!rotation) return null;
    before = nearest(vectorOf(rotation), before);
    return { turn: before, deviation: deviation ?? [0, 0, 0] };
  });
}

function vectorOf([x, y, z, w]: [number, number, number, number]): Vec3 {
  const sine = Math.hypot(x, y, z),
    by = sine > 0 ? (2 * Math.atan2(sine, w) * DEGREES) / sine : 0;
  return [by * x, by * y, by * z];
}

/** Of the vectors of one rotation, which differ by whole turns, the nearest to another. */
function nearest(vector: Vec3, to: Vec3): Vec3 {
  const length = Math.hypot(...vector);
  if (length === 0) return vector;
  const along = (vector[0] * to[0] + vector[1] * to[1] + vector[2] * to[2]) / length,
    by = 1 + (360 * Math.round((along - length) / 360)) / length;
  return [by * vector[0], by * vector[1], by * vector[2]];
}

export function saveRotationsCsv(timeline: Timeline): void {
  const rows = timeline.frames.map((frame) => [
    frame.frame,
    ...(frame.rotation ?? [null, null, null, null]),
    frame.rotation_rank ?? null,
    ...(frame.rotation_deviation ?? [null, null, null]),
  ]);
  saveCsv("rotations", ["frame", "qx", "qy", "qz", "qw", "rank", "sd x", "sd y", "sd z"], rows);
}

export class Rotations {
  readonly element = el("div", {
    class: "rotations",
    role: "img",
    "aria-label": "Degrees that the camera is turned about x, y and z of the first frame, over the frames",
  });
  private readonly canvas = new Canvas("rotations-canvas");
  private timeline: Timeline | null = null;
  private turns: (Turn | null)[] = [];
  private readonly redraw = onceAFrame(() => this.draw());

  constructor(private readonly player: Player) {
    this.element.append(this.canvas.element);
    new ResizeObserver(this.redraw).observe(this.element);
    onInks(this.redraw);
    player.listen(this.redraw);
    this.element.addEventListener("pointerdown", (event) => {
      this.element.setPointerCapture(event.pointerId);
      this.seek(event);
    });
    this.element.addEventListener("pointermove", (event) => {
      if (event.buttons) this.seek(event);
    });
  }

  /** Whether there is anything to show. */
  show(timeline: Timeline): boolean {
    this.timeline = timeline;
    this.turns = turnsOf(timeline.frames);
    this.redraw();
    return this.turns.some((turn) => turn !== null);
  }

  save(title: string): void {
    const pen = new SvgPen(1100, 300, title, inks().card);
    drawTurns(pen, this.turns, this.timeline, 1100, 300);
    saveSvg("rotations", pen.finish());
  }

  private seek(event: PointerEvent): void {
    const box = this.element.getBoundingClientRect(),
      part = (event.clientX - box.left - LEFT) / Math.max(1, box.width - LEFT - RIGHT);
    this.player.seek(Math.floor(part * this.turns.length));
  }

  private draw(): void {
    const width = this.element.clientWidth;
    if (width < 100 || this.turns.length === 0) return;
    const pen = this.canvas.fresh(width, HEIGHT);
    drawTurns(pen, this.turns, this.timeline, width, HEIGHT);
    const x = across(this.player.index, this.turns.length, width);
    pen.line([x, TOP, x, HEIGHT - BOTTOM], false, { stroke: inks().ink, width: 1.5 });
  }
}

function across(index: number, count: number, width: number): number {
  return LEFT + ((index + 0.5) / Math.max(1, count)) * (width - LEFT - RIGHT);
}

function drawTurns(
  pen: Pen,
  turns: readonly (Turn | null)[],
  timeline: Timeline | null,
  width: number,
  height: number,
): void {
  const known = turns.filter((turn) => turn !== null),
    most = Math.max(1, ...known.flatMap(({ turn, deviation }) => turn.map((a, i) => a + (deviation[i] ?? 0)))),
    least = Math.min(-1, ...known.flatMap(({ turn, deviation }) => turn.map((a, i) => a - (deviation[i] ?? 0))));
  const x = (index: number): number => across(index, turns.length, width),
    y = (value: number): number => TOP + ((most - value) / (most - least)) * (height - TOP - BOTTOM);
  drawScales(pen, timeline, turns.length, { least, most }, x, y, width, height);
  AXES.forEach(({ name, colour }, a) => {
    for (const run of runsOf(turns)) {
      const at = (side: number): number[][] => run.map((i) => [x(i), y(part(turns[i], a, side))]);
      pen.line([...at(1), ...at(-1).reverse()].flat(), true, { fill: colour, opacity: 0.2 });
      pen.line(at(0).flat(), false, { stroke: colour, width: 1.8 });
    }
    pen.text(LEFT + 26 * a, TOP - 10, name, { colour, size: 13, weight: 700 });
  });
}

function part(turn: Turn | null | undefined, axis: number, side: number): number {
  return turn ? (turn.turn[axis] ?? 0) + side * (turn.deviation[axis] ?? 0) : 0;
}

/** Frames in a row that have a rotation. */
function runsOf(turns: readonly (Turn | null)[]): number[][] {
  const runs: number[][] = [];
  turns.forEach((turn, i) => {
    if (turn && i > 0 && turns[i - 1]) runs[runs.length - 1]?.push(i);
    else if (turn) runs.push([i]);
  });
  return runs;
}

function drawScales(
  pen: Pen,
  timeline: Timeline | null,
  count: number,
  range: { least: number; most: number },
  x: (index: number) => number,
  y: (value: number) => number,
  width: number,
  height: number,
): void {
  const style = { colour: inks().muted, size: 12 },
    step = [0.5, 1, 2, 5, 10, 15, 30, 45, 90, 180, 360].find((s) => (range.most - range.least) / s <= 6) ?? 720;
  for (let tick = Math.ceil(range.least / step) * step; tick <= range.most; tick += step) {
    pen.text(LEFT - 8, y(tick) + 4, `${tick}°`, { ...style, anchor: "end" });
    pen.line([LEFT, y(tick), width - RIGHT, y(tick)], false, { stroke: inks().line, width: 1 });
  }
  const every = Math.max(1, Math.ceil(count / 12));
  for (let i = 0; i < count; i += every)
    pen.text(x(i), height - BOTTOM + 18, String(timeline?.frames[i]?.frame ?? i), { ...style, anchor: "middle" });
}
