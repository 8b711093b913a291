// SPDX-License-Identifier: MIT
//
// The layers of a clustering, coarse to fine: a bar each, cut into its clusters, which stand under the cluster that they
// lie in. Widths are numbers of rows; colours are those of the result, where most rows of the cluster are.
import type { Colours } from "../data/colours";
import type { Selection } from "../data/selection";
import type { BatchReport, Layer } from "../data/types";
import { card } from "../ui/card";
import { el, svg } from "../ui/dom";
import { fixed, plural } from "../ui/format";

const WIDTH = 600;
const HEIGHT = 26;
const STEP = 32;
const WORDS = 46; // narrower segments have no words

interface Segment {
  cluster: number;
  left: number;
  width: number;
}

/** The clusters of each layer from left to right: by the place of their parent, then by size. Lefts and widths in rows. */
export function segmentsOf(layers: Layer[]): Segment[][] {
  let before: Map<number, number> | null = null;
  return layers.map(({ sizes, parents }) => {
    const lefts: Map<number, number> | null = before,
      place = (k: number): number => (lefts ? (lefts.get(parents[k] ?? 0) ?? 0) : 0);
    const order = sizes.map((_, k) => k).sort((a, b) => place(a) - place(b) || (sizes[b] ?? 0) - (sizes[a] ?? 0) || a - b);
    let left = 0;
    const segments = order.map((cluster) => {
      const width = sizes[cluster] ?? 0;
      left += width;
      return { cluster, left: left - width, width };
    });
    before = new Map(segments.map((segment) => [segment.cluster, segment.left]));
    return segments;
  });
}

export function layersCard(
  report: BatchReport,
  selection: Selection,
  colours: Colours,
  caption: (id: number) => string,
): HTMLElement | null {
  const layers = report.layers ?? [];
  if (layers.length === 0) return null;
  const total = Math.max(1, ...layers.map(({ sizes }) => sizes.reduce((sum, size) => sum + size, 0))),
    scale = WIDTH / total;
  const bars = segmentsOf(layers).map((segments, i) => barOf(layers[i] as Layer, segments, i * STEP, scale));
  const view = card("Layers", "layers-card");
  view.say(layers.map(({ clusters }) => clusters).join(", ") + (layers.length > 1 ? " clusters" : ""));
  view.body.append(
    el(
      "div",
      { class: "layers" },
      svg("svg", { viewBox: `0 0 ${WIDTH} ${layers.length * STEP}`, role: "img", "aria-label": "Clusters of each layer, coarse to fine" }, ...bars),
      el("div", { class: "layer-words" }, ...layers.map((layer) => el("span", {}, wordsOf(layer)))),
    ),
    el("p", { class: "hint" }, "Levels of the tree that stand out, coarse to fine. Each cluster stands under the one that it lies in; click one to pick it."),
  );
  return view.element;

  function barOf(layer: Layer, segments: Segment[], top: number, scale: number): SVGElement {
    const parts = segments.map(({ cluster, left, width }) => {
      const id = layer.of[cluster] ?? -1,
        box = { x: (left * scale).toFixed(2), y: top, width: Math.max(0.5, width * scale - 1).toFixed(2), height: HEIGHT };
      const words = width * scale >= WORDS && id >= 0 ? caption(id) : "",
        most = Math.floor((width * scale - 8) / 6.2),
        text = words.length > most ? `${words.slice(0, Math.max(1, most - 1))}…` : words;
      const part = svg(
        "g",
        { class: "layer-cluster" },
        svg("title", {}, `${plural(width, "row")}${id >= 0 ? `: ${caption(id)}` : ""}`),
        svg("rect", { ...box, rx: 2, fill: colours.css(id) }),
        words && svg("text", { x: (left * scale + 4).toFixed(2), y: top + 17 }, text),
      );
      part.addEventListener("click", () => id >= 0 && selection.pick(id));
      return part;
    });
    return svg("g", {}, ...parts);
  }
}

function wordsOf({ clusters, stability }: Layer): string {
  return `${clusters}${stability === null ? "" : ` · stability ${fixed(stability, 2)}`}`;
}
