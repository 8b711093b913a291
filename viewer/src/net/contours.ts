// SPDX-License-Identifier: MIT
//
// Lines of equal density on a net, at doublings of the even density, so that they mean the same in every report; of field
// measurements, as geologists draw them, every so many standard deviations of the even density.
import { contours } from "d3-contour";
import { NODES, REACH } from "../math/density";
import type { Density } from "../math/density";

export interface Contour {
  level: number;
  /** Rings of across, up pairs in units of the net's radius; holes among them. */
  rings: number[][];
}

/** With fewer points than this a density says more about its kernel than about the points. */
export const LEAST_POINTS = 10;
const DOUBLINGS = [2, 4, 8, 16, 32, 64, 128, 256, 512];

export function levelsFor(densities: readonly Density[]): number[] {
  const most = Math.max(0, ...densities.map((density) => maximum(density.values)));
  const doublings = DOUBLINGS.filter((level) => level < most);
  if (doublings.length >= 2) return doublings;
  return most > 1.05 ? [1, 2, 3, 4].map((i) => 1 + ((most - 1) * i) / 5) : [];
}

const MOST_SIGMAS = 8;

export function sigmasFor(density: Density): number[] {
  const most = maximum(density.values);
  let step = 2;
  while (step * MOST_SIGMAS < most) step *= 2;
  return Array.from({ length: MOST_SIGMAS }, (_, i) => step * (i + 1)).filter((level) => level < most);
}

export function contoursOf(density: Density, levels: readonly number[]): Contour[] {
  const make = contours()
    .size([NODES, NODES])
    .thresholds([...levels]);
  return make(Array.from(density.values)).map((shape) => ({
    level: shape.value,
    rings: shape.coordinates.flatMap((polygon) =>
      polygon.map((ring) => ring.flatMap((place) => [unit(place[0]), unit(place[1])])),
    ),
  }));
}

/** d3-contour puts the node i at i + 1/2. */
function unit(grid: number | undefined): number {
  return ((((grid ?? 0) - 0.5) / (NODES - 1)) * 2 - 1) * REACH;
}

function maximum(values: Float64Array): number {
  let most = 0;
  for (const value of values) if (value > most) most = value;
  return most;
}
