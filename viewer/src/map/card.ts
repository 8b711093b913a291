// SPDX-License-Identifier: MIT
//
// The card of the map, the same in a report and in explore.
import { card } from "../ui/card";
import type { Card } from "../ui/card";
import { el } from "../ui/dom";
import { saveCsv, saveSvg } from "../ui/save";
import { PlaneMap } from "./map";
import type { MapData, MapOptions } from "./map";

export function mapCard(data: MapData, options: MapOptions, title: string): { view: Card; map: PlaneMap } {
  const map = new PlaneMap(data, options),
    names = data.names ? ["name"] : [];
  const view = card("Map", "map-card", [
    { label: "SVG", title: "Save the map as SVG", run: () => saveSvg("map", map.svg(title)) },
    {
      label: "CSV",
      title: "Save the places of the rows on the map as CSV",
      run: () => saveCsv("map", ["x", "y", "label", ...names], map.rows()),
    },
  ]);
  const button = (label: string, words: string, run: () => void): HTMLElement =>
    el("button", { type: "button", class: "tool", title: words, "aria-label": words, onclick: run }, label);
  view.tools.append(
    ...(map.search ? [map.search] : []),
    button("−", "Zoom out of the map", () => map.zoomBy(1 / 1.5)),
    button("+", "Zoom into the map", () => map.zoomBy(1.5)),
    button("Reset", "Show the whole map", () => map.reset()),
  );
  view.body.append(
    map.element,
    el("p", { class: "hint" }, "Rows lie near their nearest rows; far distances and directions say little. Drag to move, click to pick, scroll after a click to zoom."),
  );
  return { view, map };
}
