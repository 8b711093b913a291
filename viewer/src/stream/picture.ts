// SPDX-License-Identifier: MIT
//
// The picture of a frame, its numbers, and how many of its points are drawn.
import type { Frame } from "../data/types";
import { el } from "../ui/dom";
import { count, fixed, number, plural } from "../ui/format";

export class Picture {
  private readonly image = el("img", { class: "overlay", alt: "" });
  private readonly none = el("p", { class: "empty" });
  readonly stage = el("div", { class: "stage" }, this.image, this.none);
  readonly facts = el("dl", { class: "frame-facts" });
  /** A line under the sphere. */
  readonly hint = el("p", { class: "hint" });

  show(frame: Frame | null, drawn: number): void {
    const { image, none } = this;
    image.hidden = !frame?.image;
    none.hidden = !image.hidden;
    none.textContent = frame ? "This frame has no picture." : "Waiting for the first frame.";
    if (frame?.image && image.getAttribute("src") !== frame.image) image.src = frame.image;
    image.alt = frame ? `Frame ${frame.frame}, coloured by cluster` : "";
    this.hint.textContent = hintFor(frame, drawn);
    this.facts.replaceChildren(...(frame ? factsOf(frame) : []));
  }
}

function hintFor(frame: Frame | null, drawn: number): string {
  if (!frame) return "";
  if (drawn === 0) return "No points of this frame were kept; the means are drawn.";
  const dashed = frame.clusters.some((cluster) => cluster.count === 0) ? " Dashed: clusters without points now." : "";
  return `${plural(drawn, "point")} of ${count(frame.points)} drawn. Drag to turn, click to pick.${dashed}`;
}

function factsOf(frame: Frame): HTMLElement[] {
  const pair = (name: string, value: string): HTMLElement => el("div", {}, el("dt", {}, name), el("dd", {}, value));
  const seen = frame.clusters.filter((cluster) => cluster.count > 0).length;
  return [
    pair("source", frame.source?.replace(/^.*\//, "") ?? "–"),
    pair("points", count(frame.points)),
    pair("missing", count(frame.missing)),
    pair("clusters", count(seen)),
    pair("time", frame.milliseconds === null ? "–" : `${fixed(frame.milliseconds, 2)} ms`),
    pair("objective", frame.objective === null ? "–" : number(frame.objective)),
  ];
}
