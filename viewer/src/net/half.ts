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
  /** The same of directions on the other half, at the places of their opposites. */
  turned: Map<number, Float32Array>;
  count: number;
}

/** What a net of one half does with the other: nothing; opposites are the same; or they are told apart. */
export type Fold = "none" | "same" | "apart";

/** Whether a direction belongs to this half, and how it has to be turned for that: 0 where it does not. */
export function sign(z: number, side: Side, folded: boolean): 1 | -1 | 0 {
  if (z >= 0 === side > 0) return 1;
  return folded ? -1 : 0;
}

export function halfOf(points: Points, side: Side, fold: Fold): Half {
  const half: Half = { side, groups: new Map(), turned: new Map(), count: 0 };
  for (const [label, indices] of points.byLabel()) {
    const own: number[] = [],
      other = fold === "apart" ? ([] as number[]) : own;
    for (const index of indices) {
      const xyz = points.at(index),
        turn = sign(xyz[2], side, fold !== "none");
      if (turn !== 0) (turn > 0 ? own : other).push(...onNet([turn * xyz[0], turn * xyz[1], turn * xyz[2]], side));
    }
    if (own.length > 0) half.groups.set(label, Float32Array.from(own));
    if (other !== own && other.length > 0) half.turned.set(label, Float32Array.from(other));
    half.count += (own.length + (other === own ? 0 : other.length)) / 2;
  }
  return half;
}

export interface NetHit {
  id: number;
  across: number;
  up: number;
  /** Whether it is the opposite of what was measured. */
  turned: boolean;
}

/** The nearest point of the half within `reach`, in units of the radius. */
export function nearest(half: Half, across: number, up: number, reach: number): NetHit | null {
  let best: NetHit | null = null,
    least = reach * reach;
  for (const [id, places] of [...half.groups, ...half.turned])
    for (let i = 0; i < places.length; i += 2) {
      const dx = (places[i] as number) - across,
        dy = (places[i + 1] as number) - up,
        square = dx * dx + dy * dy;
      if (square >= least) continue;
      least = square;
      best = {
        id,
        across: places[i] as number,
        up: places[i + 1] as number,
        turned: half.turned.get(id) === places,
      };
    }
  return best;
}

/** The end of a mean that shows on this half, or null. */
export function endOn(xyz: Vec3, side: Side, folded: boolean): Vec3 | null {
  const turn = sign(xyz[2], side, folded);
  return turn === 0 ? null : [turn * xyz[0], turn * xyz[1], turn * xyz[2]];
}
