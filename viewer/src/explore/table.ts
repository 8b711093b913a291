// SPDX-License-Identifier: MIT
//
// The table of the clusters that are shown, largest first. What comes later than the result (names, stability) fills its
// columns when it comes.
import type { Selection } from "../data/selection";
import { card } from "../ui/card";
import { el } from "../ui/dom";
import { count, degrees, fixed, number, percent, plural } from "../ui/format";
import { shareBar, swatch } from "../ui/swatch";
import { DataTable } from "../ui/table";
import type { Column } from "../ui/table";
import type { Cluster, Details, Hello, Result, Stability } from "./messages";
import type { Palette } from "./palette";

export class ClusterTable {
  readonly element: HTMLElement;
  private readonly table: DataTable<Cluster>;
  private readonly say: (text: string) => void;
  private rows: Cluster[] = [];
  private largest = 1e-9;
  private names: string[][] = [];
  private stable: number[] = [];

  constructor(
    hello: Hello,
    private readonly colours: Palette,
    selection: Selection,
  ) {
    this.table = new DataTable<Cluster>({
      label: "Clusters",
      columns: this.columns(hello),
      key: (cluster) => cluster.id,
      hover: (id) => selection.hover(id),
      pick: (id) => selection.pick(id),
      sort: { column: 1, descending: true },
    });
    selection.listen(() => this.table.light(selection.active, selection.picked));
    const view = card("Clusters", "table-card", [
      { label: "CSV", title: "Save the table as CSV", run: () => this.table.save("clusters") },
    ]);
    view.body.append(this.table.element);
    this.say = view.say;
    this.element = view.element;
  }

  show(result: Result): void {
    this.rows = result.cluster;
    this.largest = result.cluster.reduce((most, { share }) => Math.max(most, share), 1e-9);
    this.names = [];
    this.stable = [];
    const listed = result.cluster.length;
    this.say(
      listed < result.clusters
        ? `the ${count(listed)} largest of ${count(result.clusters)}`
        : plural(listed, "cluster"),
    );
    this.table.show(this.rows);
  }

  detail(details: Details): void {
    this.names = details.representatives;
    this.table.show(this.rows);
  }

  stability(stability: Stability): void {
    this.stable = stability.clusters;
    this.table.show(this.rows);
  }

  namesOf(id: number): string[] {
    return this.names[id] ?? [];
  }

  private columns(hello: Hello): Column<Cluster>[] {
    const text = (c: Cluster): string => this.namesOf(c.id).join(" | ");
    const names: Column<Cluster>[] = [
      {
        title: hello.named ? "nearest to the mean" : "nearest rows",
        value: text,
        cell: (c) => el("span", { title: this.namesOf(c.id).join("\n") }, text(c)),
        width: hello.named ? "16em" : "9em",
        help: "The rows nearest to the mean, nearest first",
      },
    ];
    const columns: Column<Cluster>[] = [
      {
        title: "id",
        value: (c) => c.id,
        cell: (c) => swatch(c.id, this.colours.css(c.id)),
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
        cell: (c) => shareBar(c.share / this.largest, this.colours.css(c.id), percent(c.share)),
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
      {
        title: "stability",
        value: (c) => this.stable[c.id] ?? null,
        cell: (c) => fixed(this.stable[c.id], 2),
        numeric: true,
        width: "5em",
        help: "Mean Jaccard index with the most similar cluster of each of three runs in another order: 1 if all have this cluster",
      },
    ];
    if (hello.named) columns.splice(3, 0, ...names);
    else columns.push(...names);
    return columns;
  }
}
