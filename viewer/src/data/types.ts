// SPDX-License-Identifier: MIT
//
// The data of a report as types; ../../DATA.md says what each field means.

export type Vec3 = readonly [number, number, number];
export type Value = string | number | boolean | null;

export interface EncodedPoints {
  xyz: string;
  labels: string;
}

interface Common {
  format: 1;
  live: boolean;
  run: string;
  title: string;
  command: string;
  version: string;
  parameters: Record<string, Value>;
  measures: Record<string, Value>;
  notes: string[];
  dimension: number;
  axial: boolean;
  projection: { explained: number[] } | null;
}

/** What was measured in the field: the azimuth of planes (whose poles the points are) or lines, or azimuths alone. */
export type Field = "dip_direction" | "strike" | "trend" | "azimuth";

export interface BatchCluster {
  id: number;
  size: number;
  share: number;
  kappa: number | null;
  spread: number | null;
  stability?: number | null;
  mean?: number[];
  xyz: Vec3;
  dip?: number | null;
  dip_direction?: number | null;
  plunge?: number | null;
  trend?: number | null;
  strike?: number | null;
  azimuth?: number | null;
  precision?: number | null;
  alpha95?: number | null;
  representatives?: string[];
  keywords?: string[];
  color: string;
}

/** A plane of a cloud or a mesh, whose polygons are in space, or of a depth image, whose polygons are in the picture, in
 *  shares of its width and height. */
export interface Plane {
  id: number;
  direction: number;
  area: number;
  offset: number;
  rms: number;
  count: number;
  normal: Vec3;
  dip?: number | null;
  dip_direction?: number | null;
  polygons: number[][][];
  color: string;
}

/** Rows in a plane: two 16-bit numbers each and a label; their names, if they have any. */
export interface EncodedMap {
  shown: number;
  xy: string;
  labels: string;
  names?: string[];
}

/** A level of the tree of joins that stands out: its clusters, each within one of the level before. */
export interface Layer {
  clusters: number;
  stability: number | null;
  excess: number | null;
  parents: number[];
  sizes: number[];
  /** The cluster of the result that most rows of each are in. */
  of: number[];
}

export interface BatchReport extends Common {
  kind: "batch";
  field: Field | null;
  points: EncodedPoints & { total: number; shown: number };
  clusters: BatchCluster[];
  angles: number[][] | null;
  image: string | null;
  planes: Plane[];
  map: EncodedMap | null;
  layers?: Layer[] | null;
}

export type EventKind = "born" | "revived" | "seen" | "unseen" | "died" | "merged";

export interface FrameCluster {
  id: number;
  count: number;
  share: number;
  xyz: Vec3;
  age: number;
  spread: number | null;
  event: EventKind;
  /** Of a cluster that is merged: the id that stays. */
  into?: number | null;
}

export interface Frame {
  frame: number;
  source: string | null;
  points: number;
  missing: number;
  milliseconds: number | null;
  objective: number | null;
  clusters: FrameCluster[];
  planes: Plane[];
  /** x y z w, from the camera to the first frame; left out where it is not found. */
  rotation?: [number, number, number, number] | null;
  rotation_rank?: number | null;
  /** Degrees about x, y and z of the first frame. */
  rotation_deviation?: Vec3 | null;
  sample: EncodedPoints | null;
  image: string | null;
}

export interface StreamReport extends Common {
  kind: "stream";
  frames: Frame[];
  colors: Record<string, string>;
}

export interface Chart {
  title: string;
  svg: string;
}

export interface Table {
  title: string;
  columns: string[];
  rows: Value[][];
}

export interface ChartsReport extends Common {
  kind: "charts";
  charts: Chart[];
  tables: Table[];
  recommended: string | null;
}

export type Report = BatchReport | StreamReport | ChartsReport;

export type Message =
  | { type: "hello"; data: unknown }
  | { type: "frame"; data: unknown; colors?: Record<string, string> }
  | { type: "end"; reason: string };
