// SPDX-License-Identifier: MIT
//
// Three-vectors and rotations, as little of them as the page needs. A rotation is nine numbers, row by row.
import type { Vec3 } from "../data/types";

export type Rotation = readonly [number, number, number, number, number, number, number, number, number];

export const DEGREES = 180 / Math.PI;

export function dot(a: Vec3, b: Vec3): number {
  return a[0] * b[0] + a[1] * b[1] + a[2] * b[2];
}

export function cross(a: Vec3, b: Vec3): Vec3 {
  return [a[1] * b[2] - a[2] * b[1], a[2] * b[0] - a[0] * b[2], a[0] * b[1] - a[1] * b[0]];
}

export function scale(a: Vec3, factor: number): Vec3 {
  return [a[0] * factor, a[1] * factor, a[2] * factor];
}

export function add(a: Vec3, b: Vec3): Vec3 {
  return [a[0] + b[0], a[1] + b[1], a[2] + b[2]];
}

/** The unit vector along a, or `otherwise` where a has no direction. */
export function unit(a: Vec3, otherwise: Vec3 = [0, 0, 1]): Vec3 {
  const length = Math.hypot(a[0], a[1], a[2]);
  return length > 1e-9 ? scale(a, 1 / length) : otherwise;
}

/** Degrees between two unit vectors; accurate for small angles too. */
export function angle(a: Vec3, b: Vec3): number {
  const c = cross(a, b);
  return Math.atan2(Math.hypot(c[0], c[1], c[2]), dot(a, b)) * DEGREES;
}

export function apply(m: Rotation, a: Vec3): Vec3 {
  return [
    m[0] * a[0] + m[1] * a[1] + m[2] * a[2],
    m[3] * a[0] + m[4] * a[1] + m[5] * a[2],
    m[6] * a[0] + m[7] * a[1] + m[8] * a[2],
  ];
}

export function multiply(m: Rotation, n: Rotation): Rotation {
  const column = (j: 0 | 1 | 2): Vec3 => apply(m, [n[j], n[(3 + j) as 3], n[(6 + j) as 6]]);
  const [a, b, c] = [column(0), column(1), column(2)];
  return [a[0], b[0], c[0], a[1], b[1], c[1], a[2], b[2], c[2]];
}

/** The rotation by `radians` around a unit axis (Rodrigues). */
export function around(axis: Vec3, radians: number): Rotation {
  const [x, y, z] = axis,
    c = Math.cos(radians),
    s = Math.sin(radians),
    t = 1 - c;
  return [
    t * x * x + c,
    t * x * y - s * z,
    t * x * z + s * y,
    t * x * y + s * z,
    t * y * y + c,
    t * y * z - s * x,
    t * x * z - s * y,
    t * y * z + s * x,
    t * z * z + c,
  ];
}

/** Rows made orthogonal again, after many small turns. */
export function tidied(m: Rotation): Rotation {
  const x = unit([m[0], m[1], m[2]]);
  const raw: Vec3 = [m[3], m[4], m[5]];
  const y = unit(add(raw, scale(x, -dot(raw, x))));
  return [...x, ...y, ...cross(x, y)];
}

/** Two unit vectors that stand on `axis` and on each other. */
export function basis(axis: Vec3): [Vec3, Vec3] {
  const helper: Vec3 = Math.abs(axis[2]) < 0.9 ? [0, 0, 1] : [1, 0, 0];
  const first = unit(cross(helper, axis));
  return [first, cross(axis, first)];
}

/** The points of the small circle of `degrees` around a unit vector. */
export function smallCircle(centre: Vec3, degrees: number, steps = 64): Vec3[] {
  const [u, v] = basis(centre),
    c = Math.cos(degrees / DEGREES),
    s = Math.sin(degrees / DEGREES);
  return Array.from({ length: steps }, (_, i) => {
    const turn = (2 * Math.PI * i) / steps;
    return add(scale(centre, c), add(scale(u, s * Math.cos(turn)), scale(v, s * Math.sin(turn))));
  });
}
