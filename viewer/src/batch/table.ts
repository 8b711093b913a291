// SPDX-License-Identifier: MIT
//
// The table of the clusters of a batch.
import type { Selection } from "../data/selection";
import type { BatchCluster, BatchReport } from "../data/types";
import { el } from "../ui/dom";
import { count, degrees, fixed, number, percent } from "../ui/format";
import { shareBar, swatch } from "../ui/swatch";
import { DataTable } from "../ui/table";
import type { Column } from "../ui/table";

export function clusterTable(report: BatchReport, selection: Selection): DataTable<BatchCluster> {
  const table = new DataTable<BatchCluster>({
    label: "Clusters",
    columns: columns(report),
    key: (cluster) => cluster.id,
    hover: (id) => selection.hover(id),
    pick: (id) => selection.pick(id),
    sort: { column: 1, descending: true },
  });
  let picked: number | null = null;
  selection.listen(() => {
    table.light(selection.active, selection.picked);
    if (selection.picked !== picked && selection.picked !== null) table.reveal(selection.picked);
    picked = selection.picked;
  });
  table.show(report.clusters);
  return table;
}

function columns(report: BatchReport): Column<BatchCluster>[] {
  const largest = report.clusters.reduce((most, { share }) => Math.max(most, share), 1e-9);
  const all: Column<BatchCluster>[] = [
    {
      title: "id",
      value: (c) => c.id,
      cell: (c) => swatch(c.id, c.color),
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
      cell: (c) => shareBar(c.share / largest, c.color, percent(c.share)),
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
  const examples = representativeColumns(report);
  // Names say more than coordinates along principal directions.
  const means = examples.length && report.projection ? [] : meanColumns(report);
  all.splice(3, 0, ...examples);
  return [...all, ...stabilityColumns(report), ...means, ...dipColumns(report)];
}

function representativeColumns(report: BatchReport): Column<BatchCluster>[] {
  if (!report.clusters.some((cluster) => cluster.representatives)) return [];
  const text = (c: BatchCluster) => (c.representatives ?? []).join(" | ");
  return [
    {
      title: "representatives",
      value: text,
      cell: (c) => el("span", { title: (c.representatives ?? []).join("\n") }, text(c)),
      width: "16em",
      help: "The rows nearest to the mean, nearest first",
    },
  ];
}

function stabilityColumns(report: BatchReport): Column<BatchCluster>[] {
  if (!report.clusters.some((cluster) => typeof cluster.stability === "number")) return [];
  return [
    {
      title: "stability",
      value: (c) => c.stability ?? null,
      cell: (c) => (typeof c.stability === "number" ? fixed(c.stability, 2) : "–"),
      numeric: true,
      width: "5em",
      help: "Mean Jaccard index with the most similar cluster of each other run: 1 if all runs have this cluster",
    },
  ];
}

function meanColumns(report: BatchReport): Column<BatchCluster>[] {
  const names = report.projection ? ["pc1", "pc2", "pc3"] : ["x", "y", "z"].slice(0, Math.min(3, report.dimension));
  return names.map((title, i) => ({
    title,
    value: (c) => c.xyz[i] ?? null,
    cell: (c) => fixed(c.xyz[i], 3),
    numeric: true,
    width: "4.6em",
    help: report.projection ? "The mean along a leading principal direction, rescaled" : "A coordinate of the mean",
  }));
}

type FieldAngle = "dip" | "dip_direction" | "plunge" | "trend";

/** Angles as measured in the field, where the command wrote them. */
function dipColumns(report: BatchReport): Column<BatchCluster>[] {
  const known: [FieldAngle, string, string, string][] = [
    ["dip", "dip", "3.4em", "Dip of the plane whose pole is the mean"],
    ["dip_direction", "dip dir.", "4.7em", "Dip direction of that plane"],
    ["plunge", "plunge", "4.2em", "Plunge of the mean"],
    ["trend", "trend", "4.2em", "Trend of the mean"],
  ];
  return known
    .filter(([key]) => report.clusters.some((cluster) => typeof cluster[key] === "number"))
    .map(([key, title, width, help]) => ({
      title,
      value: (c) => c[key] ?? null,
      cell: (c) => degrees(c[key], 0),
      numeric: true,
      width,
      help,
    }));
}
