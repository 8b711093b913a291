// SPDX-License-Identifier: MIT
//
// The picture of a frame with the outlines of its planes, its numbers, and how many of its points are drawn.
import type { Selection } from "../data/selection";
import type { Frame } from "../data/types";
import { PlanesDrawing } from "../planes/drawing";
import { el } from "../ui/dom";
import { count, fixed, number, plural } from "../ui/format";

export class Picture {
  private readonly image = el("img", { class: "overlay", alt: "" });
  private readonly none = el("p", { class: "empty" });
  private readonly outlines: PlanesDrawing;
  readonly stage: HTMLElement;
  readonly facts = el("dl", { class: "frame-facts" });
  /** A line under the sphere. */
  readonly hint = el("p", { class: "hint" });

  constructor(planes: Selection) {
    this.outlines = new PlanesDrawing(planes, "The outlines of the planes of this frame");
    this.stage = el("div", { class: "stage" }, this.image, this.none);
    this.stage.append(this.outlines.element);
  }

  /** In the shape of the picture, so that both fill the stage alike. */
  private showPlanes(frame: Frame | null): void {
    const { naturalWidth: width, naturalHeight: height } = this.image;
    this.outlines.element.setAttribute("viewBox", `0 0 ${width || 4} ${height || 3}`);
    const planes = frame?.image ? frame.planes : [];
    this.outlines.show(planes, ([x, y]) => [(x ?? 0) * (width || 4), (y ?? 0) * (height || 3)]);
  }

  show(frame: Frame | null, drawn: number): void {
    const { image, none } = this;
    image.hidden = !frame?.image;
    none.hidden = !image.hidden;
    none.textContent = frame ? "This frame has no picture." : "Waiting for the first frame.";
    if (frame?.image && image.getAttribute("src") !== frame.image) image.src = frame.image;
    image.onload = () => this.showPlanes(frame);
    this.showPlanes(frame);
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
