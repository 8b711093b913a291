// SPDX-License-Identifier: MIT
//
// A stream as the page remembers it: frames in order, what happened in them, and how large every cluster has been. Frames
// are added at the end, all at once from a report or one by one from a running stream.
import { Colours } from "../data/colours";
import type { EventKind, Frame, FrameCluster, StreamReport, Vec3 } from "../data/types";
import { dot, scale } from "../math/vector";

export type Turning = Extract<EventKind, "born" | "revived" | "died" | "merged">;

export interface StreamEvent {
  /** Which of `frames` it is in, from 0. */
  index: number;
  /** The number the stream gave that frame. */
  frame: number;
  id: number;
  kind: Turning;
  share: number;
  /** Of a cluster that is merged: the id that stays. */
  into: number | null;
}

/** A page that runs for days keeps pictures and points of this many frames; the numbers of all. */
const MOST_PICTURES = 1500;

export class Timeline {
  readonly frames: Frame[] = [];
  readonly events: StreamEvent[] = [];
  readonly colours: Colours;
  /** The sum of the shares of each id over all frames. */
  readonly totals = new Map<number, number>();
  private readonly clusters: Map<number, FrameCluster>[] = [];

  private readonly axial: boolean;

  constructor(report: Pick<StreamReport, "frames" | "colors" | "axial">, colours?: Colours) {
    this.axial = report.axial;
    this.colours = colours ?? Colours.of(report.colors);
    for (const frame of report.frames) this.push(frame);
  }

  /** The newest frames alone, for a stream that never ends. */
  last(count: number): Timeline {
    return new Timeline({ frames: this.frames.slice(-count), colors: {}, axial: this.axial }, this.colours);
  }

  get length(): number {
    return this.frames.length;
  }

  push(frame: Frame): void {
    const index = this.frames.push(frame) - 1;
    this.clusters.push(new Map(frame.clusters.map((cluster) => [cluster.id, cluster])));
    for (const { id, share, event, into } of frame.clusters) {
      this.totals.set(id, (this.totals.get(id) ?? 0) + share);
      if (event !== "seen" && event !== "unseen")
        this.events.push({ index, frame: frame.frame, id, kind: event, share, into: into ?? null });
    }
    const old = this.frames[index - MOST_PICTURES];
    if (old) this.frames[index - MOST_PICTURES] = { ...old, image: null, sample: null };
  }

  at(index: number): Map<number, FrameCluster> {
    return this.clusters[index] ?? new Map<number, FrameCluster>();
  }

  share(index: number, id: number): number {
    return this.clusters[index]?.get(id)?.share ?? 0;
  }

  /** The ids with the largest shares over all frames, in the order in which they were born. */
  largest(most: number): number[] {
    const bySize = [...this.totals].sort((a, b) => b[1] - a[1]).slice(0, most);
    return bySize.map(([id]) => id).sort((a, b) => a - b);
  }

  /** Where a mean has been in the `back` frames up to `index`, oldest first; an axis on the side where it is now. */
  trail(id: number, index: number, back: number): Vec3[] {
    const places: Vec3[] = [],
      now = this.clusters[index]?.get(id)?.xyz;
    for (let i = Math.max(0, index - back); i <= index; i++) {
      const xyz = this.clusters[i]?.get(id)?.xyz;
      if (xyz) places.push(xyz);
    }
    return now && this.axial ? places.map((xyz) => (dot(xyz, now) < 0 ? scale(xyz, -1) : xyz)) : places;
  }

  /** Which of `frames` has this number, or is the next after it. */
  indexOfFrame(number: number): number {
    const found = this.frames.findIndex(({ frame }) => frame >= number);
    return found < 0 ? this.length - 1 : found;
  }
}
