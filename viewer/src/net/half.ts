// SPDX-License-Identifier: MIT
//
// The points of one hemisphere on its net, in units of the net's radius, side by side for each cluster.
import type { Points } from "../data/points";
import type { Vec3 } from "../data/types";
import { onNet } from "../math/lambert";
import type { Side } from "../math/lambert";

export interface Half {
  side: Side;
  /** Of each label: across, up, across, up, ... */
  groups: Map<number, Float32Array>;
  count: number;
}

/** Whether a direction belongs to this half, and how it has to be turned for that: 0 where it does not. */
export function sign(z: number, side: Side, axial: boolean): 1 | -1 | 0 {
  if (z >= 0 === side > 0) return 1;
  return axial ? -1 : 0;
}

export function halfOf(points: Points, side: Side, axial: boolean): Half {
  const groups = new Map<number, Float32Array>();
  let count = 0;
  for (const [label, indices] of points.byLabel()) {
    const places = new Float32Array(2 * indices.length);
    let filled = 0;
    for (const index of indices) {
      const xyz = points.at(index),
        turn = sign(xyz[2], side, axial);
      if (turn === 0) continue;
      const [across, up] = onNet([turn * xyz[0], turn * xyz[1], turn * xyz[2]], side);
      places[filled++] = across;
      places[filled++] = up;
    }
    if (filled > 0) groups.set(label, places.slice(0, filled));
    count += filled / 2;
  }
  return { side, groups, count };
}

export interface NetHit {
  id: number;
  across: number;
  up: number;
}

/** The nearest point of the half within `reach`, in units of the radius. */
export function nearest(half: Half, across: number, up: number, reach: number): NetHit | null {
  let best: NetHit | null = null,
    least = reach * reach;
  for (const [id, places] of half.groups)
    for (let i = 0; i < places.length; i += 2) {
      const dx = (places[i] as number) - across,
        dy = (places[i + 1] as number) - up,
        square = dx * dx + dy * dy;
      if (square >= least) continue;
      least = square;
      best = { id, across: places[i] as number, up: places[i + 1] as number };
    }
  return best;
}

/** The end of a mean that shows on this half, or null. */
export function endOn(xyz: Vec3, side: Side, axial: boolean): Vec3 | null {
  const turn = sign(xyz[2], side, axial);
  return turn === 0 ? null : [turn * xyz[0], turn * xyz[1], turn * xyz[2]];
}
