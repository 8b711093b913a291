// SPDX-License-Identifier: MIT
//
// Lambert's azimuthal equal-area projection of a hemisphere onto the unit disc: x to the right, y up, both hemispheres
// seen from above, as geologists draw them. |(a, b)| = sqrt(1 - |z|) keeps areas; at the equator it is 1.
import type { Vec3 } from "../data/types";

/** The hemisphere around +z (1) or around -z (-1). */
export type Side = 1 | -1;

export function onNet(xyz: Vec3, side: Side): readonly [number, number] {
  const factor = 1 / Math.sqrt(1 + Math.max(-1, Math.min(1, side * xyz[2])));
  return [xyz[0] * factor, xyz[1] * factor];
}

/** Where a place of the net lies on the sphere. Outside the disc that is the other hemisphere, up to radius sqrt(2). */
export function fromNet(across: number, up: number, side: Side): Vec3 {
  const square = Math.min(across * across + up * up, 2),
    factor = Math.sqrt(2 - square);
  return [across * factor, up * factor, side * (1 - square)];
}
