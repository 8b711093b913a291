// SPDX-License-Identifier: MIT
//
// The sphere itself: its disc, meridians and parallels every 30 degrees, and the ends of its axes.
import type { Vec3 } from "../data/types";
import type { Pen, Style } from "../draw/pen";
import { smallCircle } from "../math/vector";
import type { Inks } from "../ui/theme";
import type { Box, View } from "./view";

const STEPS = 72;
const graticule: Vec3[][] = makeGraticule();
const axes: Vec3[] = [
  [1, 0, 0],
  [0, 1, 0],
  [0, 0, 1],
];

export function drawGlobe(pen: Pen, view: View, box: Box, ink: Inks): void {
  pen.circle(box.x, box.y, box.radius, { fill: ink.globe, stroke: ink.globeEdge, width: 1.2 });
  for (const ring of graticule) drawSplit(pen, view, box, ring, true, { stroke: ink.grid, width: 1 }, 0.22);
}

export function drawAxes(pen: Pen, view: View, box: Box, ink: Inks, names: readonly string[]): void {
  axes.forEach((axis, i) => {
    const inner = view.place(box, axis),
      outer = view.place(box, [axis[0] * 1.05, axis[1] * 1.05, axis[2] * 1.05]);
    const opacity = inner.depth >= 0 ? 1 : 0.35;
    const label = view.place(box, [axis[0] * 1.1, axis[1] * 1.1, axis[2] * 1.1]);
    pen.line([inner.x, inner.y, outer.x, outer.y], false, { stroke: ink.muted, width: 1.5, opacity });
    pen.text(label.x, label.y + 4, names[i] ?? "", {
      colour: ink.muted,
      size: 12,
      weight: 600,
      anchor: "middle",
      halo: ink.card,
      opacity,
    });
  });
}

/** A line on the sphere: its part on the side of the reader as it is, the rest at `behind` of that (0: not at all). */
export function drawSplit(
  pen: Pen,
  view: View,
  box: Box,
  line: readonly Vec3[],
  closed: boolean,
  style: Style,
  behind: number,
): void {
  const places = line.map((xyz) => view.place(box, xyz));
  if (closed && places[0]) places.push(places[0]);
  for (const run of runs(places.map((place) => place.depth >= 0))) {
    const opacity = (style.opacity ?? 1) * (run.front ? 1 : behind);
    if (opacity === 0) continue;
    const flat = places.slice(run.start, run.end).flatMap((place) => [place.x, place.y]);
    pen.line(flat, false, { ...style, opacity });
  }
}

/** Stretches of equal truth, each reaching one place into the next so that no gap shows. */
function runs(front: boolean[]): { start: number; end: number; front: boolean }[] {
  const result: { start: number; end: number; front: boolean }[] = [];
  for (let start = 0; start < front.length;) {
    let end = start;
    while (end < front.length && front[end] === front[start]) end++;
    result.push({ start, end: Math.min(end + 1, front.length), front: front[start] === true });
    start = end;
  }
  return result;
}

function makeGraticule(): Vec3[][] {
  const rings: Vec3[][] = [];
  for (let latitude = 30; latitude <= 150; latitude += 30) rings.push(smallCircle([0, 0, 1], latitude, STEPS));
  for (let longitude = 0; longitude < 180; longitude += 30) {
    const turn = (longitude * Math.PI) / 180;
    rings.push(smallCircle([-Math.sin(turn), Math.cos(turn), 0], 90, STEPS));
  }
  return rings;
}
