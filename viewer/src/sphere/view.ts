// SPDX-License-Identifier: MIT
//
// How the sphere is looked at: a rotation and a zoom, without perspective, so that a place on the screen is one
// multiplication away. On the screen x goes to the right, y up, and z towards the reader.
import type { Vec3 } from "../data/types";
import { apply, around, cross, multiply, tidied, unit } from "../math/vector";
import type { Rotation } from "../math/vector";

/** Where on the screen the sphere is. */
export interface Box {
  x: number;
  y: number;
  radius: number;
}

export interface Place {
  x: number;
  y: number;
  /** Above 0 on the side of the reader. */
  depth: number;
}

/** Room around the sphere for the names of its axes. */
const MARGIN = 34;
const LEAST_ZOOM = 0.6;
const MOST_ZOOM = 12;

export class View {
  rotation: Rotation;
  zoom = 1;

  constructor(private home: Rotation) {
    this.rotation = home;
  }

  /** Another place to come home to; the reader's own turns are kept unless there were none. */
  rehome(home: Rotation): void {
    if (this.rotation === this.home) this.rotation = home;
    this.home = home;
  }

  reset(): void {
    this.rotation = this.home;
    this.zoom = 1;
  }

  /** Turns the side of the reader by radians to the right and up. */
  turn(right: number, up: number): void {
    const step = multiply(around([0, 1, 0], right), around([1, 0, 0], -up));
    this.rotation = tidied(multiply(step, this.rotation));
  }

  zoomBy(factor: number): void {
    this.zoom = Math.min(MOST_ZOOM, Math.max(LEAST_ZOOM, this.zoom * factor));
  }

  /** Turns a part of the way (1: all of it) until `direction` faces the reader. */
  face(direction: Vec3, part: number): void {
    const now = apply(this.rotation, direction),
      axis = cross(now, [0, 0, 1]);
    const radians = Math.atan2(Math.hypot(...axis), now[2]);
    this.rotation = tidied(multiply(around(unit(axis, [0, 1, 0]), radians * part), this.rotation));
  }

  box(width: number, height: number): Box {
    return { x: width / 2, y: height / 2, radius: (Math.min(width, height) / 2 - MARGIN) * this.zoom };
  }

  place(box: Box, xyz: Vec3): Place {
    const [x, y, z] = apply(this.rotation, xyz);
    return { x: box.x + box.radius * x, y: box.y - box.radius * y, depth: z };
  }
}
