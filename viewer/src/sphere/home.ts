// SPDX-License-Identifier: MIT
//
// From where the sphere is seen at first: from where most of its points are.
import type { Vec3 } from "../data/types";
import { add, around, cross, dot, multiply, scale, unit } from "../math/vector";
import type { Rotation } from "../math/vector";

/** As a camera sees the directions that face it: x to the right, y down, z away from the reader; a little from above and
 * from the side, so that floors and walls are not on the very edge. */
export const CAMERA_HOME: Rotation = multiply(
  around([1, 0, 0], 0.3),
  multiply(around([0, 1, 0], -0.25), [1, 0, 0, 0, -1, 0, 0, 0, -1]),
);

export const PLANE_HOME: Rotation = [1, 0, 0, 0, 1, 0, 0, 0, 1];

/** Shorter sums of shares and means than this point nowhere in particular. */
const LEAST_SUM = 0.25;

export function homeOf(clusters: Iterable<{ xyz: Vec3; share: number }>): Rotation {
  let sum: Vec3 = [0, 0, 0];
  let shares = 0;
  for (const { xyz, share } of clusters) {
    sum = add(sum, scale(xyz, share));
    shares += share;
  }
  return homeTowards(scale(sum, 1 / Math.max(shares, 1e-9)));
}

/** With z up and a little turned, which shows depth; where z would point at the reader, with y up, or down if the reader
 * looks along z, as with a camera. */
function homeTowards(sum: Vec3): Rotation {
  const decided = Math.hypot(...sum) > LEAST_SUM,
    front = unit(sum, [1, 0, 0]);
  if (decided && Math.abs(front[2]) > 0.8) return withUp(front, [0, front[2] > 0 ? 1 : -1, 0]);
  const height = decided ? Math.max(-0.6, Math.min(0.6, Math.asin(front[2]))) : 0.3;
  const level = withUp(unit([front[0], front[1], 0], [1, 0, 0]), [0, 0, 1]);
  return multiply(around([1, 0, 0], height), multiply(around([0, 1, 0], -0.3), level));
}

function withUp(front: Vec3, up: Vec3): Rotation {
  const level = unit(add(up, scale(front, -dot(up, front))));
  return [...cross(level, front), ...level, ...front];
}
