// SPDX-License-Identifier: MIT
//
// The columns that every table of clusters has: those of a report and that of explore.
import type { BatchCluster, Field } from "../data/types";
import { el } from "./dom";
import { count, degrees, fixed, number, percent } from "./format";
import { shareBar, swatch } from "./swatch";
import type { Column } from "./table";

type Row = Omit<BatchCluster, "color">;

/** id, size, share, spread, kappa. The bars of the shares are as long as the largest one allows. */
export function clusterColumns<R extends Row>(colour: (row: R) => string, largest: () => number): Column<R>[] {
  return [
    {
      title: "id",
      value: (c) => c.id,
      cell: (c) => swatch(c.id, colour(c)),
      numeric: true,
      width: "3.6em",
      help: "The cluster's label",
    },
    {
      title: "size",
      value: (c) => c.size,
      cell: (c) => count(c.size),
      numeric: true,
      width: "5em",
      help: "Points in the cluster",
    },
    {
      title: "share",
      value: (c) => c.share,
      cell: (c) => shareBar(c.share / largest(), colour(c), percent(c.share)),
      numeric: true,
      width: "5.2em",
      help: "Part of all points",
    },
    {
      title: "spread",
      value: (c) => c.spread,
      cell: (c) => degrees(c.spread),
      numeric: true,
      width: "4.4em",
      help: "Angular standard deviation around the mean",
    },
    {
      title: "kappa",
      value: (c) => c.kappa,
      cell: (c) => (c.kappa === null ? "–" : number(c.kappa)),
      numeric: true,
      width: "4.4em",
      help: "Concentration of a von Mises-Fisher distribution",
    },
  ];
}

export type FieldKey = "precision" | "alpha95" | "dip" | "dip_direction" | "strike" | "plunge" | "trend" | "azimuth";

const FIELD: [FieldKey, string, string, number, string][] = [
  ["dip", "dip", "3.4em", 0, "Dip of the plane whose pole is the mean"],
  ["dip_direction", "dip dir.", "4.7em", 0, "Dip direction of that plane"],
  ["strike", "strike", "4.2em", 0, "Strike of that plane, which dips to the right of it"],
  ["plunge", "plunge", "4.2em", 0, "Plunge of the mean"],
  ["trend", "trend", "4.2em", 0, "Trend of the mean"],
  ["azimuth", "azimuth", "4.8em", 0, "Azimuth of the mean, clockwise from north"],
  ["precision", "k", "4em", 1, "Precision: in three dimensions Fisher's, (n - 1) / (n - R); of a Watson distribution kappa (n - 1) / n"],
  ["alpha95", "α95", "3.8em", 1, "The true mean is within this angle of the mean with 95% confidence"],
];

/** What the command wrote of the field: its angles and errors. */
export function fieldKeys(rows: readonly Row[]): FieldKey[] {
  return FIELD.map(([key]) => key).filter((key) => rows.some((row) => typeof row[key] === "number"));
}

/** The keys that a notation has. */
export function keysOf(field: Field): FieldKey[] {
  const angles: Record<Field, FieldKey[]> = {
    dip_direction: ["dip_direction", "dip"],
    strike: ["strike", "dip"],
    trend: ["trend", "plunge"],
    azimuth: ["azimuth"],
  };
  return ["precision", "alpha95", ...angles[field]];
}

export function fieldColumns<R extends Row>(keys: readonly FieldKey[]): Column<R>[] {
  return FIELD.filter(([key]) => keys.includes(key)).map(([key, title, width, digits, help]) => ({
    title,
    value: (c) => c[key] ?? null,
    cell: (c) => (key === "precision" ? fixed(c[key] ?? null, digits) : degrees(c[key], digits)),
    numeric: true,
    width,
    help,
  }));
}

/** The largest share, for the bars. */
export function largestShare(clusters: readonly Row[]): number {
  return clusters.reduce((most, { share }) => Math.max(most, share), 1e-9);
}

/** The rows nearest to the mean. */
export function nearestColumn<R>(title: string, names: (row: R) => string[], width: string): Column<R> {
  const text = (row: R): string => names(row).join(" | ");
  return {
    title,
    value: text,
    cell: (row) => el("span", { title: names(row).join("\n") }, text(row)),
    width,
    help: "The rows nearest to the mean, nearest first",
  };
}

/** What the texts or documents of a cluster are about. */
export function keywordColumn<R>(keywords: (row: R) => string[]): Column<R> {
  const text = (row: R): string => keywords(row).join(", ");
  return {
    title: "keywords",
    value: text,
    cell: (row) => el("span", { title: text(row) }, text(row)),
    width: "18em",
    help: "The terms that tell the cluster from the others (c-TF-IDF), best first",
  };
}

export function stabilityColumn<R>(value: (row: R) => number | null, runs: string): Column<R> {
  return {
    title: "stability",
    value,
    cell: (row) => fixed(value(row), 2),
    numeric: true,
    width: "5em",
    help: `Mean Jaccard index with the most similar cluster of each ${runs}: 1 if all runs have this cluster`,
  };
}
