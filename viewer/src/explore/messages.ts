// SPDX-License-Identifier: MIT
//
// What the command says to a page of explore, and what the page asks for. ../../EXPLORE.md says what each field means.
import type { BatchCluster, Field } from "../data/types";

export type Method = "dp" | "spkm";
export type Merge = "none" | "evidence" | "angle" | "count";
export type Order = "given" | "content" | "random";
/** auto: plain, until the page takes what tune finds. */
export type Metric = "plain" | "local" | "auto";

/** The options of the run that the page wants to see. */
export interface Wish {
  method: Method;
  angle: number;
  clusters: number;
  merge: Merge;
  merge_angle: number;
  merge_to: number;
  min_size: number;
  center: boolean;
  axial: boolean;
  order: Order;
  metric: Metric;
}

export interface Hello {
  type: "hello";
  input: string;
  version: string;
  points: number;
  dimension: number;
  sparse: boolean;
  undirected: boolean;
  weighted: boolean;
  named: boolean;
  topics: boolean;
  mapped: boolean;
  /** Whether the command line named the angle to start with. */
  given: boolean;
  depth: boolean;
  /** What was measured, if it was in the field. */
  field?: Field | null;
  labels: string | null;
  width: number;
  height: number;
  first: { angle: number; clusters: number; axial: boolean; center: boolean; order: Order; metric: Metric };
  palette: string[];
  arrays: { rows: Uint32Array; grey?: Uint8Array; places?: Int16Array };
}

export interface Places {
  type: "points";
  projected: boolean;
  explained?: number[];
  shown?: number;
  arrays: { xyz: Int16Array };
}

/** Rows in a plane: which of the drawn ones, where, and their names. */
export interface Mapped {
  type: "map";
  names?: string[];
  arrays: { at: Uint32Array; xy: Int16Array };
}

export type Cluster = Omit<BatchCluster, "color">;

export interface Result {
  type: "result";
  id: number;
  command: string;
  clusters: number;
  merged: number;
  missing: number;
  outliers: number;
  objective: number;
  iterations: number;
  converged: boolean;
  unfinished: boolean;
  rows: number;
  seconds: number;
  elapsed: number;
  cluster: Cluster[];
  arrays: { labels: Uint8Array | Uint16Array | Int32Array };
}

/** a, b, into, loss, angle, size */
export type Join = [number, number, number, number, number, number];
/** node, size, cluster */
export type End = [number, number, number];

export interface Tree {
  leaves: number;
  ends: End[];
  joins: Join[];
}

export interface Details {
  type: "details";
  id: number;
  representatives: string[][];
  keywords: string[][];
  tree?: Tree;
  silhouette: number | null;
}

export interface Stability {
  type: "stability";
  id: number;
  runs: number;
  stability: number | null;
  clusters: number[];
}

export interface Member {
  row: number;
  name?: string;
  angle: number | null;
}

export interface Members {
  type: "members";
  id: number;
  cluster: number;
  nearest: Member[];
  farthest: Member[];
  neighbours: { id: number; angle: number | null }[];
}

export interface SweepAngle {
  angle: number;
  clusters: number;
  silhouette: number | null;
  stability: number | null;
  merged: number;
  merged_silhouette: number | null;
  evidence: number | null;
}

/** A cut of the tree of joins: how clear it is, and how clear one cluster would look. */
export interface Level {
  clusters: number;
  silhouette: number | null;
  null: number | null;
}

export interface Tuned {
  angle: number;
  leaf_angle: number;
  merge_to: number | null;
  metric: "plain" | "local";
  clusters: number;
  weak: boolean;
  reason: string;
  from: number | null;
  to: number | null;
  peaks: { clusters: number; excess: number | null; stability: number | null }[];
  levels: Level[];
}

export interface Sweep {
  type: "sweep";
  axial: boolean;
  center: boolean;
  /** What tune was asked for: auto decides. */
  metric: Metric;
  progress: number;
  problem: string | null;
  angles: SweepAngle[];
  tuned?: Tuned;
}

export type Message =
  | Hello
  | Places
  | Result
  | Details
  | Stability
  | Members
  | Sweep
  | Mapped
  | { type: "cancelled"; id: number }
  | { type: "problem"; id: number; text: string }
  | { type: "saved"; id: number; text: string }
  | { type: "report"; id: number; arrays: { html: Uint8Array } };

interface Section {
  name: string;
  type: "u8" | "u16" | "i16" | "u32" | "i32";
  count: number;
}

const KINDS = { u8: Uint8Array, u16: Uint16Array, i16: Int16Array, u32: Uint32Array, i32: Int32Array };

/** The object and the arrays behind it; nothing is copied. */
export function decode(buffer: ArrayBuffer): Message {
  const length = new DataView(buffer).getUint32(0, true),
    object = JSON.parse(new TextDecoder().decode(new Uint8Array(buffer, 4, length))) as { sections: Section[] };
  const arrays: Record<string, ArrayBufferView> = {};
  let at = upTo4(4 + length);
  for (const { name, type, count } of object.sections) {
    const array = new KINDS[type](buffer, at, count);
    arrays[name] = array;
    at = upTo4(at + array.byteLength);
  }
  return { ...object, arrays } as unknown as Message;
}

function upTo4(bytes: number): number {
  return (bytes + 3) & ~3;
}

/** Labels as numbers: all bits set is -1. */
export function labelsOf(result: Result): Int32Array {
  const { labels } = result.arrays;
  if (labels instanceof Int32Array) return labels;
  const none = labels instanceof Uint8Array ? 255 : 65535,
    wide = new Int32Array(labels.length);
  for (let i = 0; i < labels.length; i++) wide[i] = labels[i] === none ? -1 : (labels[i] as number);
  return wide;
}
