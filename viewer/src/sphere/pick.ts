// SPDX-License-Identifier: MIT
//
// What is under the pointer: a mean if one is close, else the nearest point that faces the reader. Every point is looked
// at; 200,000 of them take about a millisecond.
import { SCALE } from "../data/points";
import type { Points } from "../data/points";
import type { Vec3 } from "../data/types";
import type { Scene } from "./scene";
import type { Box, View } from "./view";

export interface Hit {
  id: number;
  xyz: Vec3;
  mean: boolean;
}

const MEAN_REACH = 10;
const POINT_REACH = 7;

export function pick(scene: Scene, view: View, box: Box, x: number, y: number): Hit | null {
  return nearMean(scene, view, box, x, y) ?? nearPoint(scene.points, view, box, x, y);
}

function nearMean(scene: Scene, view: View, box: Box, x: number, y: number): Hit | null {
  let best: Hit | null = null,
    least = MEAN_REACH;
  for (const marker of scene.markers) {
    const place = view.place(box, marker.xyz),
      distance = Math.hypot(place.x - x, place.y - y);
    if (place.depth < 0 || distance >= least) continue;
    least = distance;
    best = { id: marker.id, xyz: marker.xyz, mean: true };
  }
  return best;
}

function nearPoint(points: Points, view: View, box: Box, x: number, y: number): Hit | null {
  const m = view.rotation,
    { xyz } = points,
    unit = SCALE / box.radius;
  const across = (x - box.x) * unit,
    up = (box.y - y) * unit,
    reach = POINT_REACH * unit;
  let best = -1,
    least = reach * reach;
  for (let i = 0; i < points.count; i++) {
    const a = xyz[3 * i] as number,
      b = xyz[3 * i + 1] as number,
      c = xyz[3 * i + 2] as number;
    const dx = m[0] * a + m[1] * b + m[2] * c - across,
      dy = m[3] * a + m[4] * b + m[5] * c - up;
    const square = dx * dx + dy * dy;
    if (square >= least || m[6] * a + m[7] * b + m[8] * c < 0) continue;
    least = square;
    best = i;
  }
  return best < 0 ? null : { id: points.labels[best] as number, xyz: points.at(best), mean: false };
}
