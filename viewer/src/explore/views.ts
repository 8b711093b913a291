// SPDX-License-Identifier: MIT
//
// The sphere (or the cloud of more than three dimensions), the cloud of a 3-D file beside it, and the nets or the rose,
// which follow when the reader has stopped.
import { Points, SCALE } from "../data/points";
import type { Selection } from "../data/selection";
import type { Vec3 } from "../data/types";
import { Nets } from "../net/nets";
import { Rose, roseWords } from "../rose/rose";
import { EAST_NORTH_UP, fieldWords, hasPlanes } from "../math/field";
import { CAMERA_HOME, PLANE_HOME, homeOf } from "../sphere/home";
import type { Scene } from "../sphere/scene";
import { Sphere } from "../sphere/sphere";
import { card } from "../ui/card";
import { directionWords } from "../ui/describe";
import { el } from "../ui/dom";
import { count, degrees, percent, plural } from "../ui/format";
import { saveSvg } from "../ui/save";
import { swatch } from "../ui/swatch";
import { netTools, sphereTools } from "../ui/tools";
import type { Cluster, Hello, Places, Result } from "./messages";
import type { Palette } from "./palette";

const EMPTY = (colours: Palette): Scene => ({ points: Points.decode(null), colours, markers: [], trails: [] });

export class Views {
  readonly sphere: HTMLElement;
  readonly cloud: HTMLElement | null;
  readonly flat: HTMLElement | null;
  private readonly globe: Sphere;
  private readonly solid: Sphere | null;
  private readonly nets = new Map<boolean, Nets>();
  private readonly flatBody = el("div");
  private rose: Rose | null = null;
  private scene: Scene;
  private clusters = new Map<number, Cluster>();
  private homed = false;
  private axial = false;

  constructor(
    private readonly hello: Hello,
    private readonly colours: Palette,
    private readonly selection: Selection,
    private readonly names: (id: number) => string[],
  ) {
    const projected = hello.dimension > 3,
      { rows, places } = hello.arrays;
    this.scene = EMPTY(colours);
    const axes = projected ? ["axis 1", "axis 2", "axis 3"] : hello.field ? EAST_NORTH_UP : ["x", "y", "z"];
    this.globe = this.make(axes, !projected, this.home());
    const view = this.cardOf(projected ? "Cloud" : "Sphere", "sphere-card", this.globe);
    view.say(
      rows.length < hello.points
        ? `${count(rows.length)} of ${count(hello.points)} points drawn`
        : plural(hello.points, "point"),
    );
    this.sphere = view.element;
    this.solid = places ? this.make(["x", "y", "z"], false, undefined) : null;
    this.cloud = this.solid ? this.cardOf("In space", "cloud-card", this.solid).element : null;
    if (places) this.solid?.zoom(Math.max(1, Math.min(6, 0.45 / spreadOf(places))));
    this.flat = projected ? null : this.flatCard();
  }

  /** x and -x are the same: the points at the end at which the mean of their cluster is. */
  turned(xyz: Int16Array, labels: Int32Array, result: Result, axial: boolean): Int16Array {
    if (!axial) return xyz;
    const means = new Float64Array(3 * result.clusters),
      copy = xyz.slice();
    for (const { id, xyz: mean } of result.cluster) means.set(mean, 3 * id);
    for (let i = 0; i < labels.length; i++) {
      const label = labels[i] as number,
        at = 3 * i;
      if (label < 0) continue;
      const dot = [0, 1, 2].reduce((sum, c) => sum + (means[3 * label + c] as number) * (xyz[at + c] as number), 0);
      if (dot < 0) for (let c = at; c < at + 3; c++) copy[c] = -(copy[c] as number);
    }
    return copy;
  }

  show(points: Points, result: Result, places: Places): void {
    const markers = result.cluster.map(({ id, xyz, spread, share, alpha95 }) => ({
      id,
      xyz,
      share,
      spread: places.projected || this.hello.dimension === 2 ? null : spread, // of a plane it would be a chord
      cone: alpha95 ?? null,
      faint: false,
    }));
    this.clusters = new Map(result.cluster.map((cluster) => [cluster.id, cluster]));
    this.scene = { points, colours: this.colours, markers, trails: [] };
    if (!this.homed && !this.hello.depth && this.hello.dimension !== 2) this.globe.view.rehome(homeOf(result.cluster));
    this.homed = true;
    this.globe.showNow(this.scene);
    const { places: solid } = this.hello.arrays;
    if (solid)
      this.solid?.show({ points: new Points(solid, points.labels), colours: this.colours, markers: [], trails: [] });
  }

  /** What takes longer to draw. */
  rest(axial: boolean): void {
    this.axial = axial;
    if (!this.flat) return;
    if (this.hello.dimension === 2) {
      if (this.rose) return this.rose.show(this.scene, axial);
      this.rose = new Rose(this.scene, this.selection, { axial, field: Boolean(this.hello.field) });
      return this.flatBody.replaceChildren(this.rose.element);
    }
    let nets = this.nets.get(axial);
    if (!nets) {
      const { selection, describe } = this;
      nets = new Nets({ axial, axes: ["x", "y", "z"], field: this.hello.field ?? null, selection, describe });
      this.nets.set(axial, nets);
    }
    if (nets.element.parentElement !== this.flatBody)
      this.flatBody.replaceChildren(el("div", { class: "tools" }, ...netTools(nets)), nets.element);
    nets.show(this.scene);
  }

  private home() {
    return this.hello.dimension === 2 ? PLANE_HOME : this.hello.depth ? CAMERA_HOME : homeOf([]);
  }

  private make(axes: string[], globe: boolean, home = homeOf([])): Sphere {
    return new Sphere({
      label: "The points. Drag or press arrows to turn, plus and minus to zoom, 0 to reset, click to pick a cluster",
      axes,
      home,
      plainArrows: true,
      through: !globe,
      globe,
      selection: this.selection,
      describe: this.describe,
    });
  }

  private cardOf(title: string, name: string, sphere: Sphere) {
    const view = card(title, name, [
      { label: "SVG", title: "Save it as SVG", run: () => saveSvg(title.toLowerCase(), sphere.svg(this.hello.input)) },
    ]);
    view.tools.append(...sphereTools(sphere));
    view.body.append(sphere.element);
    return view;
  }

  private flatCard(): HTMLElement {
    const plane = this.hello.dimension === 2,
      view = card(plane ? "Rose" : this.hello.field ? "Equal-area net" : "Equal-area nets", plane ? "rose-card" : "nets-card");
    view.body.append(
      this.flatBody,
      el(
        "p",
        { class: "hint" },
        plane ? roseWords(this.hello.first.axial) : this.netWords(),
      ),
    );
    return view.element;
  }

  private netWords(): string {
    const { field } = this.hello;
    if (!field) return "Lambert's projection, with contours of density.";
    const planes = hasPlanes(field) ? " Lines: the planes of the means." : "";
    return `Equal area, seen from above, with Kamb's contours of density. Ovals: where the means are with 95% confidence.${planes}`;
  }

  private readonly describe = (id: number, xyz: Vec3, mean: boolean): (Node | string)[] => {
    const cluster = this.clusters.get(id),
      { field, dimension } = this.hello;
    const where = field ? fieldWords(xyz, field, this.axial) : directionWords(xyz, dimension > 3);
    if (!cluster) return [id < 0 ? "a point of no cluster" : `a point of cluster ${id}`, el("div", {}, where)];
    const about = `${plural(cluster.size, "point")}, ${percent(cluster.share)}${cluster.spread === null ? "" : `, spread ${degrees(cluster.spread)}`}`;
    return [
      el("div", {}, swatch(id, this.colours.css(id)), ` ${about}`),
      ...this.names(id).map((name) => el("div", { class: "text" }, name)),
      el("div", { class: "fine" }, `${mean ? "mean" : "point"} ${where}`),
    ];
  };
}

/** How far places are from the middle, as a share of the farthest: a few that are far away make the others small. */
function spreadOf(places: Int16Array): number {
  let sum = 0;
  for (const value of places) sum += (value / SCALE) ** 2;
  return Math.max(1e-3, Math.sqrt((3 * sum) / Math.max(3, places.length)));
}
