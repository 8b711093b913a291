// SPDX-License-Identifier: MIT
//
// The levels of tune: how clear the partition of the tree of joins into K clusters is, over K, beside what one cluster
// would show as well. What stands out are stops: a click shows that partition.
import { el, svg } from "../ui/dom";
import { fixed, plural } from "../ui/format";
import type { Level, Tuned } from "./messages";

const WIDTH = 640;
const HEIGHT = 92;
const EDGE = 26;
const FLOOR = 74;
const TOP = 10;

export class Levels {
  readonly element = el("div", { class: "levels" });

  constructor(private readonly choose: (clusters: number) => void) {
    this.element.hidden = true;
  }

  show(tuned: Tuned | undefined): void {
    const levels = (tuned?.levels ?? []).filter(({ silhouette }) => silhouette !== null);
    this.element.hidden = levels.length < 2;
    if (!tuned || this.element.hidden) return;
    const most = Math.max(2, ...levels.map(({ clusters }) => clusters)),
      high = Math.max(1e-9, ...levels.flatMap((level) => [level.silhouette ?? 0, level.null ?? 0]));
    const x = (clusters: number): number => EDGE + (Math.log(clusters / 2) / Math.log(Math.max(2, most / 2))) * (WIDTH - 2 * EDGE),
      y = (value: number | null): number => FLOOR - (Math.max(0, value ?? 0) / high) * (FLOOR - TOP);
    const line = (name: string, value: (level: Level) => number | null): SVGElement =>
      svg("polyline", { class: name, points: levels.map((level) => `${x(level.clusters).toFixed(1)},${y(value(level)).toFixed(1)}`).join(" ") });
    const stops = tuned.peaks.map((peak) => {
      const level = levels.find(({ clusters }) => clusters === peak.clusters);
      return svg("circle", { class: "stop", r: 5, cx: x(peak.clusters), cy: y(level?.silhouette ?? 0) });
    });
    const picture = svg(
      "svg",
      { viewBox: `0 0 ${WIDTH} ${HEIGHT}`, role: "img", "aria-label": "Silhouette over the number of clusters, with the levels that stand out" },
      line("null", (level) => level.null),
      line("silhouette", (level) => level.silhouette),
      ...stops,
    );
    const buttons = tuned.peaks.map((peak) => this.button(peak, x(peak.clusters) / WIDTH, peak.clusters === tuned.clusters));
    this.element.replaceChildren(
      el("div", { class: "levels-picture" }, picture, ...buttons),
      el("p", { class: "hint" }, "Silhouette over the number of clusters (dashed: what one cluster would show as well). Circles stand out: click a number to see it."),
    );
  }

  private button(peak: Tuned["peaks"][number], left: number, best: boolean): HTMLElement {
    const title = `${plural(peak.clusters, "cluster")}: silhouette ${fixed(peak.excess, 3)} above one cluster${peak.stability === null ? "" : `, stability ${fixed(peak.stability, 2)} over halves`}`;
    const button = el(
      "button",
      { type: "button", class: "stop-button", title, "aria-label": `Show ${plural(peak.clusters, "cluster")}`, onclick: () => this.choose(peak.clusters) },
      `${best ? "★ " : ""}${peak.clusters}`,
    );
    button.style.left = `${(100 * left).toFixed(2)}%`;
    return button;
  }
}
