// SPDX-License-Identifier: MIT
//
// The map of explore: a card that says that the map follows, and then the map. Only its colours change with the clusters.
import type { Selection } from "../data/selection";
import { mapCard } from "../map/card";
import { shortened } from "../map/map";
import type { PlaneMap } from "../map/map";
import { card } from "../ui/card";
import { el } from "../ui/dom";
import { count, percent, plural } from "../ui/format";
import { swatch } from "../ui/swatch";
import type { Hello, Mapped } from "./messages";
import type { Palette } from "./palette";
import type { ClusterTable } from "./table";

export class MapView {
  readonly element = el("div");
  private map: PlaneMap | null = null;
  private at: Uint32Array = new Uint32Array(0);
  private labels: Int32Array = new Int32Array(0);

  constructor(
    private readonly hello: Hello,
    private readonly colours: Palette,
    private readonly selection: Selection,
    private readonly table: ClusterTable,
  ) {
    const view = card("Map", "map-card");
    view.body.append(el("p", { class: "hint" }, "The map follows in some seconds: rows near their nearest rows."));
    this.element.append(view.element);
  }

  place(message: Mapped): void {
    const { at, xy } = message.arrays,
      { input, points } = this.hello;
    this.at = at;
    const { view, map } = mapCard(
      { xy, labels: this.own(), names: message.names ?? null },
      {
        selection: this.selection,
        colours: this.colours,
        describe: this.describe,
        caption: (id) => shortened(this.table.captionOf(id), 28),
      },
      input,
    );
    view.say(at.length < points ? `${count(at.length)} of ${count(points)} points` : plural(at.length, "point"));
    this.map = map;
    this.element.replaceChildren(view.element);
  }

  /** labels: of the drawn rows. */
  show(labels: Int32Array): void {
    this.labels = labels;
    this.map?.show(this.own());
  }

  caption(): void {
    this.map?.caption();
  }

  private own(): Int32Array {
    return Int32Array.from(this.at, (row) => this.labels[row] ?? -1);
  }

  private readonly describe = (id: number): (Node | string)[] => {
    const cluster = this.table.cluster(id);
    if (!cluster) return [id < 0 ? "a point of no cluster" : `a point of cluster ${id}`];
    return [
      el("div", {}, swatch(id, this.colours.css(id)), ` ${plural(cluster.size, "point")}, ${percent(cluster.share)}`),
      el("div", { class: "keywords" }, shortened(this.table.captionOf(id), 80)),
    ];
  };
}
