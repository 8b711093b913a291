// SPDX-License-Identifier: MIT
//
// The report of a comparison (tune, reproduce): figures as the command drew them, and tables. A figure is shown as an
// image: what is inside it can neither run nor reach the page.
import type { ChartsReport, Chart, Table, Value } from "../data/types";
import { card } from "../ui/card";
import { el } from "../ui/dom";
import { number } from "../ui/format";
import { head, notesCard, originCard } from "../ui/frame";
import { saveSvg } from "../ui/save";
import { DataTable } from "../ui/table";

export function chartsPage(report: ChartsReport): HTMLElement {
  const top = head(report);
  const answer = report.recommended ? el("p", { class: "recommended" }, report.recommended) : null;
  const figures = el("div", { class: "figures" }, ...report.charts.map(chartCard));
  const tables = report.tables.map(tableCard);
  return el(
    "main",
    { class: "page charts" },
    top.element,
    answer,
    notesCard(report.notes),
    figures,
    ...tables,
    originCard(report),
  );
}

function fileName(title: string): string {
  return (
    title
      .toLowerCase()
      .replace(/[^a-z0-9]+/g, "-")
      .replace(/^-|-$/g, "") || "chart"
  );
}

function chartCard(chart: Chart): HTMLElement {
  const view = card(chart.title, "chart-card", [
    { label: "SVG", title: `Save "${chart.title}" as SVG`, run: () => saveSvg(fileName(chart.title), chart.svg) },
  ]);
  view.body.append(
    el("img", {
      class: "paper",
      src: `data:image/svg+xml;charset=utf-8,${encodeURIComponent(chart.svg)}`,
      alt: chart.title,
    }),
  );
  return view.element;
}

function tableCard(source: Table): HTMLElement {
  const rows = source.rows.map((cells, index) => ({ cells, index }));
  const table = new DataTable<(typeof rows)[number]>({
    label: source.title,
    key: (row) => row.index,
    columns: source.columns.map((title, i) => ({
      title,
      value: (row) => row.cells[i] ?? null,
      cell: (row) => shown(row.cells[i] ?? null),
      numeric: rows.some((row) => typeof row.cells[i] === "number"),
      width: `${widthOf(
        title,
        rows.map((row) => row.cells[i] ?? null),
      )}em`,
    })),
  });
  table.show(rows);
  const view = card(source.title, "table-card", [
    { label: "CSV", title: `Save "${source.title}" as CSV`, run: () => table.save(fileName(source.title)) },
  ]);
  view.body.append(table.element);
  return view.element;
}

function shown(value: Value): string {
  if (value === null) return "–";
  if (typeof value === "boolean") return value ? "yes" : "no";
  return typeof value === "number" ? number(value) : value;
}

/** Wide enough for what stands in a column, within reason. */
function widthOf(title: string, values: Value[]): number {
  const longest = Math.max(title.length + 2, ...values.slice(0, 200).map((value) => shown(value).length));
  return Math.min(34, Math.max(5, 0.62 * longest + 1.6));
}
