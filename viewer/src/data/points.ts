// SPDX-License-Identifier: MIT
//
// Points of the unit sphere as they come in a report: three 16-bit numbers each and a label. They stay in that form; a
// view that wants the points of one cluster finds them side by side in `order`.
import type { EncodedPoints, Vec3 } from "./types";

export const SCALE = 32767;

export class Points {
  readonly count: number;
  private groups: Map<number, Uint32Array> | null = null;

  constructor(
    readonly xyz: Int16Array,
    readonly labels: Int32Array,
  ) {
    this.count = labels.length;
    if (xyz.length !== 3 * labels.length)
      throw new Error(`The report has ${labels.length} labels for ${xyz.length / 3} points.`);
  }

  static decode(encoded: EncodedPoints | null): Points {
    if (!encoded) return new Points(new Int16Array(0), new Int32Array(0));
    return new Points(new Int16Array(bytes(encoded.xyz, 2)), new Int32Array(bytes(encoded.labels, 4)));
  }

  at(index: number): Vec3 {
    const { xyz } = this;
    return [(xyz[3 * index] ?? 0) / SCALE, (xyz[3 * index + 1] ?? 0) / SCALE, (xyz[3 * index + 2] ?? 0) / SCALE];
  }

  /** Indices of the points by label, made when first asked for. */
  byLabel(): Map<number, Uint32Array> {
    return (this.groups ??= group(this.labels));
  }
}

function group(labels: Int32Array): Map<number, Uint32Array> {
  let least = 0,
    most = 0;
  for (let i = 0; i < labels.length; i++) {
    const label = labels[i] as number;
    if (label < least) least = label;
    if (label > most) most = label;
  }
  return most - least < 2 * labels.length + 1000 ? groupDense(labels, least, most) : groupSparse(labels);
}

/** Labels that are close together are counted in an array: a millisecond for 200,000 of them. */
function groupDense(labels: Int32Array, least: number, most: number): Map<number, Uint32Array> {
  const ends = new Uint32Array(most - least + 2),
    order = new Uint32Array(labels.length),
    groups = new Map<number, Uint32Array>();
  for (let i = 0; i < labels.length; i++) {
    const place = (labels[i] as number) - least + 1;
    ends[place] = (ends[place] as number) + 1;
  }
  for (let i = 1; i < ends.length; i++) {
    const start = ends[i - 1] as number,
      end = start + (ends[i] as number);
    ends[i] = end;
    if (end > start) groups.set(least + i - 1, order.subarray(start, end));
  }
  for (let i = 0; i < labels.length; i++) {
    const place = (labels[i] as number) - least,
      at = ends[place] as number;
    order[at] = i;
    ends[place] = at + 1;
  }
  return groups;
}

function groupSparse(labels: Int32Array): Map<number, Uint32Array> {
  const counts = new Map<number, number>();
  for (const label of labels) counts.set(label, (counts.get(label) ?? 0) + 1);
  const groups = new Map<number, Uint32Array>();
  for (const [label, count] of counts) groups.set(label, new Uint32Array(count));
  const filled = new Map<number, number>();
  for (let i = 0; i < labels.length; i++) {
    const label = labels[i] as number,
      place = filled.get(label) ?? 0;
    (groups.get(label) as Uint32Array)[place] = i;
    filled.set(label, place + 1);
  }
  return groups;
}

export function bytes(base64: string, size: number): ArrayBuffer {
  let text: string;
  try {
    text = atob(base64);
  } catch {
    throw new Error("The points of the report are not base64.");
  }
  const whole = text.length - (text.length % size);
  const buffer = new Uint8Array(whole);
  for (let i = 0; i < whole; i++) buffer[i] = text.charCodeAt(i);
  return buffer.buffer;
}
