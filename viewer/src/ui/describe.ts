// SPDX-License-Identifier: MIT
//
// Directions in words.
import type { Vec3 } from "../data/types";
import { fixed } from "./format";

export function directionWords(xyz: Vec3, projected: boolean): string {
  const words = xyz.map((value) => fixed(value, 3)).join(", ");
  return projected ? `(${words}) along the leading directions` : `(${words})`;
}
