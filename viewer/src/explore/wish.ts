// SPDX-License-Identifier: MIT
//
// What the reader wants to see, in one place. Every control changes it and listens to it.
import type { Hello, Wish } from "./messages";

type Listener = (wish: Wish, before: Wish) => void;

export class WishBox {
  private now: Wish;
  private readonly listeners: Listener[] = [];

  constructor(hello: Hello) {
    const { angle, clusters, axial, center, order, metric } = hello.first;
    this.now = {
      method: "dp",
      angle,
      clusters,
      merge: "none",
      merge_angle: 10,
      merge_to: 2,
      min_size: 0,
      center,
      axial,
      order,
      metric,
    };
  }

  get value(): Wish {
    return this.now;
  }

  change(part: Partial<Wish>): void {
    const before = this.now;
    this.now = { ...before, ...part };
    if (this.now.axial && this.now.center)
      this.now = { ...this.now, ...(part.axial ? { center: false } : { axial: false }) };
    // The metric centres the rows itself, and axial rows have none.
    if (this.now.metric === "local" && (this.now.axial || this.now.center))
      this.now = { ...this.now, ...(part.metric === "local" ? { axial: false, center: false } : { metric: "plain" }) };
    if (JSON.stringify(before) === JSON.stringify(this.now)) return;
    for (const listener of this.listeners) listener(this.now, before);
  }

  listen(listener: Listener): void {
    this.listeners.push(listener);
  }
}

/** The largest angle that the slider shows. */
export function mostAngle(wish: Wish): number {
  return wish.angle > 120 ? 180 : wish.axial ? 90 : 120;
}
