// SPDX-License-Identifier: MIT
//
// The table of the clusters that are shown, largest first. What comes later than the result (names, stability) fills its
// columns when it comes.
import type { Selection } from "../data/selection";
import { card } from "../ui/card";
import { clusterColumns, fieldColumns, keysOf, keywordColumn, largestShare, nearestColumn, stabilityColumn } from "../ui/cluster_columns";
import { count, plural } from "../ui/format";
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
  private keywords: string[][] = [];
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
    this.largest = largestShare(result.cluster);
    this.names = [];
    this.keywords = [];
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
    this.keywords = details.keywords;
    this.table.show(this.rows);
  }

  stability(stability: Stability): void {
    this.stable = stability.clusters;
    this.table.show(this.rows);
  }

  namesOf(id: number): string[] {
    return this.names[id] ?? [];
  }

  cluster(id: number): Cluster | undefined {
    return this.rows.find((cluster) => cluster.id === id);
  }

  /** A few words about the cluster. */
  captionOf(id: number): string {
    return this.keywords[id]?.slice(0, 2).join(", ") || this.names[id]?.[0] || String(id);
  }

  /** What the cluster is about, for people: its keywords and the rows nearest to its mean. */
  aboutOf(id: number): string[] {
    const keywords = this.keywords[id]?.slice(0, 6).join(", ");
    return [...(keywords ? [keywords] : []), ...this.namesOf(id)];
  }

  private columns(hello: Hello): Column<Cluster>[] {
    const columns = clusterColumns<Cluster>(
        (c) => this.colours.css(c.id),
        () => this.largest,
      ),
      names = (c: Cluster): string[] => this.namesOf(c.id);
    if (hello.field) columns.push(...fieldColumns<Cluster>(keysOf(hello.field)));
    columns.push(stabilityColumn((c) => this.stable[c.id] ?? null, "of three runs in another order"));
    if (hello.named) columns.splice(3, 0, nearestColumn("nearest to the mean", names, "16em"));
    else columns.push(nearestColumn("nearest rows", names, "9em"));
    if (hello.topics) columns.splice(3, 0, keywordColumn((c) => this.keywords[c.id] ?? []));
    return columns;
  }
}
