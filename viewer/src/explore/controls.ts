// SPDX-License-Identifier: MIT
//
// The slider of the angle (or of the number of clusters), and the toggles.
import { card, toggle } from "../ui/card";
import { el, isTyping } from "../ui/dom";
import { plural } from "../ui/format";
import { Curves } from "./curves";
import { Levels } from "./levels";
import type { Hello, Merge, Method, Metric, Order, Sweep, Wish } from "./messages";
import { mostAngle } from "./wish";
import type { WishBox } from "./wish";

export class Controls {
  readonly element: HTMLElement;
  private readonly curves: Curves;
  private readonly levels = new Levels((clusters) => this.stop(clusters));
  private readonly slider = el("input", { type: "range", class: "angle-slider", min: 0, step: 0.1 });
  private readonly degrees = el("input", {
    type: "number",
    min: 0,
    max: 180,
    step: 0.1,
    "aria-label": "Angle in degrees",
  });
  private readonly cosine = el("input", {
    type: "number",
    min: -1,
    max: 1,
    step: 0.001,
    "aria-label": "The same as a cosine",
  });
  private readonly clusters = el("input", { type: "number", min: 1, step: 1, "aria-label": "Number of clusters" });
  private readonly verdict = el("p", { class: "verdict" });
  private readonly status = el("p", { class: "run-state", role: "status", "aria-live": "polite" });
  private sweep: Sweep | null = null;
  /** Whether the page starts where the reader wants it: then it does not move by itself. */
  private settled: boolean;

  constructor(
    private readonly box: WishBox,
    private readonly hello: Hello,
  ) {
    this.settled = hello.given;
    this.curves = new Curves((angle) => box.change({ angle }));
    const view = card("Angle", "angle-card");
    view.tools.append(this.verdict);
    view.body.append(this.angleRow(), this.levels.element, this.optionsRow(), this.status);
    this.element = view.element;
    this.slider.addEventListener("input", () => this.slid());
    box.listen((wish) => this.follow(wish));
    box.listen(() => (this.settled = true));
    document.addEventListener("keydown", (event) => this.key(event));
    this.follow(box.value);
    this.judge();
  }

  /** What the last run did, or what is wrong. */
  say(text: string, kind: "good" | "unfinished" | "bad"): void {
    this.status.textContent = text;
    this.status.dataset["kind"] = kind;
  }

  showSweep(sweep: Sweep): void {
    if (!suits(sweep, this.box.value)) return;
    this.sweep = sweep;
    this.curves.show(sweep);
    this.levels.show(sweep.tuned);
    this.judge();
    if (sweep.tuned && !sweep.tuned.weak && !this.settled) this.take();
  }

  /** Shows the level of tune with so many clusters. */
  private stop(clusters: number): void {
    const tuned = this.sweep?.tuned;
    if (!tuned) return;
    if (clusters === tuned.clusters) return this.take();
    const { leaf_angle: angle, metric } = tuned;
    this.box.change({ method: "dp", angle, order: "content", merge: "count", merge_to: clusters, metric });
  }

  /** Takes what tune recommends. */
  take(): void {
    const tuned = this.sweep?.tuned;
    if (!tuned) return;
    const merged: Partial<Wish> = tuned.merge_to ? { merge: "count", merge_to: tuned.merge_to } : { merge: "none" };
    this.box.change({ method: "dp", angle: tuned.angle, order: "content", metric: tuned.metric, ...merged });
  }

  private judge(): void {
    const { sweep } = this;
    if (!sweep) return this.verdict.replaceChildren("tune is at work");
    if (sweep.problem) return this.verdict.replaceChildren(`tune: ${sweep.problem}`);
    if (!sweep.tuned) return this.verdict.replaceChildren(`tune is at work: ${Math.round(100 * sweep.progress)} %`);
    const { angle, merge_to, clusters, weak, reason, metric } = sweep.tuned;
    const words = `★ tune ${weak ? "finds nothing that stands out; least bad:" : "recommends"} ${angle}°${merge_to ? `, merged to ${merge_to}` : ""}${metric === "local" ? ", local metric" : ""} (${plural(clusters, "cluster")})`;
    const button = el(
      "button",
      { type: "button", class: "take", title: reason, onclick: () => this.take() },
      "Take it",
    );
    this.verdict.replaceChildren(el("span", { title: reason }, words), " ", button);
  }

  private angleRow(): HTMLElement {
    this.degrees.addEventListener("change", () => this.typed(this.degrees, (angle) => ({ angle })));
    this.cosine.addEventListener("change", () =>
      this.typed(this.cosine, (cosine) => ({ angle: Math.round((Math.acos(cosine) * 180e6) / Math.PI) / 1e6 })),
    );
    this.clusters.addEventListener("change", () =>
      this.typed(this.clusters, (clusters) => ({ clusters: Math.round(clusters) })),
    );
    const numbers = el(
      "div",
      { class: "numbers" },
      el("label", { class: "by-angle" }, this.degrees, "°"),
      el("label", { class: "by-angle" }, "cosine ", this.cosine),
      el("label", { class: "by-count" }, "K ", this.clusters),
    );
    return el("div", { class: "angle-row" }, el("div", { class: "scale" }, this.curves.element, this.slider), numbers);
  }

  private typed(input: HTMLInputElement, part: (value: number) => Partial<Wish>): void {
    const value = Number(input.value);
    if (input.value !== "" && input.checkValidity()) this.box.change(part(value));
    else this.follow(this.box.value);
  }

  private slid(): void {
    const value = Number(this.slider.value);
    this.box.change(
      this.box.value.method === "dp" ? { angle: value } : { clusters: fromScale(value, this.mostClusters()) },
    );
  }

  private mostClusters(): number {
    return Math.max(2, Math.min(1000, this.hello.points));
  }

  private follow(wish: Wish): void {
    const dp = wish.method === "dp",
      most = mostAngle(wish);
    this.element.dataset["method"] = wish.method;
    this.slider.setAttribute("aria-label", dp ? "Angle" : "Number of clusters");
    this.slider.setAttribute("aria-valuetext", dp ? `${wish.angle} degrees` : plural(wish.clusters, "cluster"));
    this.slider.max = String(dp ? most : 1000);
    this.slider.step = dp ? "0.1" : "1";
    this.slider.value = String(dp ? wish.angle : toScale(wish.clusters, this.mostClusters()));
    this.degrees.value = String(wish.angle);
    this.cosine.value = Math.cos((wish.angle * Math.PI) / 180).toFixed(3);
    this.clusters.max = String(this.hello.points);
    this.clusters.value = String(wish.clusters);
    this.curves.at(wish.angle, most);
    if (this.sweep && !suits(this.sweep, wish)) {
      this.sweep = null;
      this.curves.show(null);
      this.levels.show(undefined);
      this.judge();
    }
  }

  private optionsRow(): HTMLElement {
    const { box, hello } = this;
    const method = select(
      "Method",
      [
        ["dp", "angle (dp)"],
        ["spkm", "K (spkm)"],
      ],
      box.value.method,
      (value) => box.change({ method: value as Method }),
    );
    const order = select(
      "Order",
      [
        ["given", "given"],
        ["content", "content"],
        ["random", "random"],
      ],
      box.value.order,
      (value) => box.change({ order: value as Order }),
    );
    const center = toggle("Center", "Without the common direction of all rows", box.value.center, (on) =>
        box.change({ center: on }),
      ),
      axial = toggle("Axial", "x and −x are the same", box.value.axial, (on) => box.change({ axial: on }));
    const metric = select(
      "Metric",
      [
        ["auto", "auto"],
        ["plain", "plain"],
        ["local", "local"],
      ],
      box.value.metric,
      (value) => box.change({ metric: value as Metric }),
    );
    metric.element.title = "local: rows are mapped so that clusters are round; auto: plain, until tune has found which";
    metric.element.hidden = hello.dimension <= 3;
    metric.input.disabled = hello.sparse || hello.undirected;
    center.disabled = axial.disabled = hello.sparse || hello.undirected;
    box.listen((wish) => {
      center.setAttribute("aria-pressed", String(wish.center));
      axial.setAttribute("aria-pressed", String(wish.axial));
      method.input.value = wish.method;
      order.input.value = wish.order;
      metric.input.value = wish.metric;
    });
    const help = "Keys: , and . move the angle, ★ t takes what tune recommends, c copies the command, Esc lets go";
    return el(
      "div",
      { class: "options-row", title: help },
      method.element,
      ...this.mergeInputs(),
      this.sizeInput(),
      order.element,
      metric.element,
      center,
      axial,
    );
  }

  private mergeInputs(): HTMLElement[] {
    const { box } = this;
    const merge = select(
      "Merge",
      [
        ["none", "none"],
        ["evidence", "by evidence"],
        ["angle", "closer than"],
        ["count", "down to"],
      ],
      box.value.merge,
      (value) => box.change({ merge: value as Merge }),
    );
    const angle = el("input", {
        type: "number",
        min: 0,
        max: 180,
        step: 0.5,
        "aria-label": "Merge means closer than so many degrees",
      }),
      count = el("input", {
        type: "number",
        min: 1,
        max: this.hello.points,
        step: 1,
        "aria-label": "Merge until so many clusters are left",
      });
    angle.addEventListener("change", () => this.typed(angle, (value) => ({ merge_angle: value })));
    count.addEventListener("change", () => this.typed(count, (value) => ({ merge_to: Math.round(value) })));
    const degrees = el("label", {}, angle, "°"),
      clusters = el("label", {}, count, " clusters");
    const follow = (wish: Wish): void => {
      merge.input.value = wish.merge;
      angle.value = String(wish.merge_angle);
      count.value = String(wish.merge_to);
      degrees.hidden = wish.merge !== "angle";
      clusters.hidden = wish.merge !== "count";
    };
    box.listen(follow);
    follow(box.value);
    return [merge.element, degrees, clusters];
  }

  private sizeInput(): HTMLElement {
    const input = el("input", {
      type: "number",
      min: 0,
      step: 1,
      value: this.box.value.min_size,
      "aria-label": "Dissolve clusters with fewer points",
    });
    input.addEventListener("change", () => this.typed(input, (value) => ({ min_size: value })));
    return el("label", { title: "Dissolve clusters with fewer points" }, "Min size ", input);
  }

  /** The angle from anywhere on the page. */
  private key(event: KeyboardEvent): void {
    if (isTyping(event) || event.ctrlKey || event.metaKey || event.altKey) return;
    const { angle, clusters, method } = this.box.value,
      step = event.key === "." ? 1 : event.key === "," ? -1 : 0;
    if (event.key === "t") return this.take();
    if (step === 0) return;
    if (method === "spkm") this.box.change({ clusters: Math.max(1, Math.min(this.hello.points, clusters + step)) });
    else this.box.change({ angle: Math.round(Math.max(0, Math.min(180, angle + 0.5 * step)) * 10) / 10 });
  }
}

/** Whether the sweep is about the rows that are clustered. */
function suits(sweep: Sweep, wish: Wish): boolean {
  if (sweep.axial !== wish.axial || sweep.center !== wish.center) return false;
  return wish.axial || wish.center || sweep.metric === wish.metric || sweep.tuned?.metric === wish.metric;
}

/** The slider of K is logarithmic, from 0 to 1000. */
function toScale(clusters: number, most: number): number {
  return Math.round((1000 * Math.log(Math.max(1, clusters))) / Math.log(most));
}

function fromScale(place: number, most: number): number {
  return Math.max(1, Math.round(Math.exp((place / 1000) * Math.log(most))));
}

function select(
  label: string,
  choices: [string, string][],
  value: string,
  change: (value: string) => void,
): { element: HTMLElement; input: HTMLSelectElement } {
  const input = el(
    "select",
    { "aria-label": label },
    ...choices.map(([key, words]) => el("option", { value: key }, words)),
  );
  input.value = value;
  input.addEventListener("change", () => change(input.value));
  return { element: el("label", {}, `${label} `, input), input };
}
