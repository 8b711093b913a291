// SPDX-License-Identifier: MIT
//
// The table of the clusters of a batch.
import type { Selection } from "../data/selection";
import type { BatchCluster, BatchReport } from "../data/types";
import { clusterColumns, fieldColumns, fieldKeys, keywordColumn, largestShare, nearestColumn, stabilityColumn } from "../ui/cluster_columns";
import { fixed } from "../ui/format";
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
  const largest = largestShare(report.clusters),
    all = clusterColumns<BatchCluster>(
      (c) => c.color,
      () => largest,
    );
  const examples = [...keywordColumns(report), ...representativeColumns(report)];
  // Names say more than coordinates along principal directions, and angles of the field more than x, y, z.
  const means = (examples.length && report.projection) || report.field ? [] : meanColumns(report);
  all.splice(3, 0, ...examples);
  return [...all, ...stabilityColumns(report), ...means, ...fieldColumns<BatchCluster>(fieldKeys(report.clusters))];
}

function keywordColumns(report: BatchReport): Column<BatchCluster>[] {
  if (!report.clusters.some((cluster) => cluster.keywords)) return [];
  return [keywordColumn((c) => c.keywords ?? [])];
}

function representativeColumns(report: BatchReport): Column<BatchCluster>[] {
  if (!report.clusters.some((cluster) => cluster.representatives)) return [];
  return [nearestColumn("representatives", (c) => c.representatives ?? [], "16em")];
}

function stabilityColumns(report: BatchReport): Column<BatchCluster>[] {
  if (!report.clusters.some((cluster) => typeof cluster.stability === "number")) return [];
  return [stabilityColumn((c) => c.stability ?? null, "other run")];
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
