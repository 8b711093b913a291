// SPDX-License-Identifier: MIT
//
// From JSON to a report whose every field is there. What is wrong with it becomes one sentence, thrown as an Error, that
// the page shows instead; what is merely left out gets its default here and nowhere else.
import type { Frame, Report } from "./types";

type Loose = Record<string, unknown>;

export function readReport(value: unknown): Report {
  if (!isObject(value)) throw new Error("This page carries no data: the report was not written to its end.");
  if (value["format"] !== 1)
    throw new Error(`The data has format ${String(value["format"])}, and this page reads format 1.`);
  const common = withCommonDefaults(value);
  switch (value["kind"]) {
    case "batch":
      return batch(common);
    case "stream":
      return { ...common, frames: list(value["frames"]).map(readFrame), colors: value["colors"] ?? {} } as Report;
    case "charts":
      return charts(common);
    default:
      throw new Error(`The data is of kind ${String(value["kind"])}, which this page does not know.`);
  }
}

export function readFrame(value: unknown): Frame {
  if (!isObject(value)) throw new Error("A frame of the stream is not an object.");
  const defaults = { source: null, missing: 0, milliseconds: null, objective: null, sample: null, image: null };
  return { ...defaults, ...value, clusters: list(value["clusters"]), planes: list(value["planes"]) } as unknown as Frame;
}

function withCommonDefaults(value: Loose): Loose {
  const defaults = {
    live: false,
    run: "",
    title: "asterism",
    command: "",
    version: "",
    axial: false,
    projection: null,
  };
  return {
    ...defaults,
    ...value,
    parameters: value["parameters"] ?? {},
    measures: value["measures"] ?? {},
    notes: list(value["notes"]),
    dimension: value["dimension"] ?? 3,
  };
}

function batch(value: Loose): Report {
  if (!isObject(value["points"])) throw new Error("The report has no points.");
  return {
    ...value,
    clusters: list(value["clusters"]),
    field: value["field"] ?? null,
    angles: value["angles"] ?? null,
    image: value["image"] ?? null,
    planes: list(value["planes"]),
    map: isObject(value["map"]) ? value["map"] : null,
  } as unknown as Report;
}

function charts(value: Loose): Report {
  const recommended = value["recommended"] ?? null;
  return { ...value, charts: list(value["charts"]), tables: list(value["tables"]), recommended } as unknown as Report;
}

function isObject(value: unknown): value is Loose {
  return typeof value === "object" && value !== null && !Array.isArray(value);
}

function list(value: unknown): unknown[] {
  return Array.isArray(value) ? value : [];
}
