// SPDX-License-Identifier: MIT
//
// The tables of a stream: the clusters of the frame that is shown, and everything that happened.
import type { Colours } from "../data/colours";
import type { Selection } from "../data/selection";
import type { FrameCluster } from "../data/types";
import { el } from "../ui/dom";
import { count, degrees, fixed, percent } from "../ui/format";
import { shareBar, swatch } from "../ui/swatch";
import { DataTable } from "../ui/table";
import { SIGNS } from "./shapes";
import type { StreamEvent, Turning } from "./timeline";

export function frameTable(
  colours: () => Colours,
  selection: Selection,
  axes: readonly string[],
): DataTable<FrameCluster> {
  const colour = (id: number): string => colours().css(id);
  const table = new DataTable<FrameCluster>({
    label: "Clusters of this frame",
    key: (cluster) => cluster.id,
    hover: (id) => selection.hover(id),
    pick: (id) => selection.pick(id),
    sort: { column: 2, descending: true },
    columns: [
      { title: "id", value: (c) => c.id, cell: (c) => swatch(c.id, colour(c.id)), numeric: true, width: "3.9em" },
      { title: "points", value: (c) => c.count, cell: (c) => count(c.count), numeric: true, width: "5em" },
      {
        title: "share",
        value: (c) => c.share,
        cell: (c) => shareBar(c.share, colour(c.id), percent(c.share)),
        numeric: true,
        width: "5.6em",
      },
      { title: "event", value: (c) => c.event, cell: (c) => eventWord(c.event, c.into), width: "8em" },
      {
        title: "age",
        help: "Frames since it was last seen",
        value: (c) => c.age,
        cell: (c) => count(c.age),
        numeric: true,
        width: "3.6em",
      },
      { title: "spread", value: (c) => c.spread, cell: (c) => degrees(c.spread), numeric: true, width: "4.5em" },
      ...axes.map((title, i) => ({
        title,
        value: (c: FrameCluster) => c.xyz[i] ?? null,
        cell: (c: FrameCluster) => fixed(c.xyz[i], 3),
        numeric: true,
        width: "4.4em",
      })),
    ],
  });
  lightWith(table, selection);
  return table;
}

export function eventTable(
  colours: () => Colours,
  go: (event: StreamEvent) => void,
  selection: Selection,
): DataTable<StreamEvent & { key: number }> {
  const events = new Map<number, StreamEvent & { key: number }>();
  const table = new DataTable<StreamEvent & { key: number }>({
    label: "Events",
    key: (event) => {
      events.set(event.key, event);
      return event.key;
    },
    hover: (key) => selection.hover(key === null ? null : (events.get(key)?.id ?? null)),
    pick: (key) => {
      const event = events.get(key);
      if (event) go(event);
    },
    columns: [
      { title: "frame", value: (e) => e.frame, numeric: true, width: "5em" },
      { title: "event", value: (e) => e.kind, cell: (e) => eventWord(e.kind, e.into), width: "8em" },
      {
        title: "cluster",
        value: (e) => e.id,
        cell: (e) => swatch(e.id, colours().css(e.id)),
        numeric: true,
        width: "5em",
      },
      { title: "share", value: (e) => e.share, cell: (e) => percent(e.share), numeric: true, width: "5em" },
    ],
  });
  return table;
}

function eventWord(kind: string, into?: number | null): HTMLElement {
  const sign = SIGNS[kind as Turning] as string | undefined,
    words = into === undefined || into === null ? kind : `${kind} into ${into}`;
  return el("span", { class: `event ${kind}` }, sign ? `${sign} ${words}` : words);
}

function lightWith(table: DataTable<FrameCluster>, selection: Selection): void {
  let picked: number | null = null;
  selection.listen(() => {
    table.light(selection.active, selection.picked);
    if (selection.picked !== picked && selection.picked !== null) table.reveal(selection.picked);
    picked = selection.picked;
  });
}
