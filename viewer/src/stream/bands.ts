// SPDX-License-Identifier: MIT
//
// Shares as bands: which clusters have one of their own, and how high each reaches over the ones below it.
import type { Timeline } from "./timeline";

/** More bands than this cannot be told apart; the rest share one. */
export const MOST_BANDS = 28;
export const OTHERS = -1;

export interface Bands {
  /** Ids from the bottom up; OTHERS at the top if there are more. */
  ids: number[];
  /** tops[b][i]: where band b ends in frame i. */
  tops: number[][];
}

export function bandsOf(timeline: Timeline): Bands {
  const own = timeline.largest(MOST_BANDS),
    rest = timeline.totals.size > own.length,
    ids = rest ? [...own, OTHERS] : own;
  const tops = ids.map(() => new Array<number>(timeline.length));
  for (let i = 0; i < timeline.length; i++) {
    let sum = 0;
    own.forEach((id, b) => ((tops[b] as number[])[i] = sum += timeline.share(i, id)));
    if (rest) (tops[own.length] as number[])[i] = total(timeline, i);
  }
  return { ids, tops };
}

function total(timeline: Timeline, index: number): number {
  let sum = 0;
  for (const cluster of timeline.at(index).values()) sum += cluster.share;
  return sum;
}

/** The band at a height in a frame, or null above all of them. */
export function bandAt(bands: Bands, index: number, height: number): number | null {
  const found = bands.tops.findIndex((top) => height >= 0 && height < (top[index] ?? 0));
  return found < 0 ? null : (bands.ids[found] ?? null);
}
