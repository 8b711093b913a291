// SPDX-License-Identifier: MIT
//
// The sphere as a part of the page: three canvases on top of each other (globe, points, means) and the hands on them. It
// draws only when something changed.
import { Colours } from "../data/colours";
import { Points } from "../data/points";
import type { Selection } from "../data/selection";
import type { Vec3 } from "../data/types";
import { Canvas } from "../draw/canvas";
import { SvgPen } from "../draw/svg_pen";
import { el, onceAFrame } from "../ui/dom";
import { inks, onInks } from "../ui/theme";
import { hideTooltip, showTooltip } from "../ui/tooltip";
import { handle } from "./gestures";
import { drawAxes, drawGlobe } from "./globe";
import { drawMarkers } from "./markers";
import { pick } from "./pick";
import { drawPoints, pointsLayer } from "./points_layer";
import type { Look, Scene } from "./scene";
import { View } from "./view";
import type { Rotation } from "../math/vector";

export interface SphereOptions {
  label: string;
  axes: readonly string[];
  home: Rotation;
  /** Whether arrows without Shift turn the sphere. */
  plainArrows: boolean;
  /** Whether what is behind shows through at first. */
  through: boolean;
  /** False: a cloud, which has no surface. */
  globe?: boolean;
  selection: Selection;
  /** What the tooltip says about a cluster and a place on the sphere. */
  describe: (id: number, xyz: Vec3, mean: boolean) => (Node | string)[];
}

const TURN_MILLISECONDS = 350;

export class Sphere {
  readonly element: HTMLElement;
  readonly view: View;
  private readonly under = new Canvas("globe");
  private readonly points = pointsLayer();
  private readonly over = new Canvas("means");
  private scene: Scene = { points: Points.decode(null), colours: new Colours([]), markers: [], trails: [] };
  private through: boolean;
  private width = 0;
  private height = 0;
  private seen: unknown[] = [];
  private pointer: { x: number; y: number } | null = null;
  readonly redraw = onceAFrame(() => this.draw());
  private readonly peek = onceAFrame(() => this.point());

  constructor(private readonly options: SphereOptions) {
    this.view = new View(options.home);
    this.through = options.through;
    this.element = el(
      "div",
      {
        class: "sphere",
        tabindex: 0,
        role: "application",
        "aria-roledescription": "sphere",
        "aria-label": options.label,
      },
      this.under.element,
      this.points.element,
      this.over.element,
    );
    handle(this.element, this.view, () => this.box().radius, this.hands(), options.plainArrows);
    new ResizeObserver(() => this.resize()).observe(this.element);
    onInks(this.redraw);
    options.selection.listen(() => this.selected());
  }

  show(scene: Scene): void {
    if (scene.points !== this.scene.points || scene.colours !== this.scene.colours)
      this.points.set(scene.points, scene.colours);
    this.scene = scene;
    this.redraw();
  }

  /** The same at once, in the time that would pass until the next repaint. */
  showNow(scene: Scene): void {
    if (scene.points !== this.scene.points) this.points.set(scene.points, scene.colours);
    this.scene = scene;
    this.draw();
  }

  get isThrough(): boolean {
    return this.through;
  }

  seeThrough(on: boolean): void {
    this.through = on;
    this.redraw();
  }

  reset(): void {
    this.view.reset();
    this.redraw();
  }

  zoom(factor: number): void {
    this.view.zoomBy(factor);
    this.redraw();
  }

  svg(title: string): string {
    const size = 800,
      pen = new SvgPen(size, size, title, inks().card),
      box = this.view.box(size, size);
    if (this.options.globe !== false) drawGlobe(pen, this.view, box, inks());
    drawPoints(pen, this.scene, this.view, box, this.look());
    drawMarkers(pen, this.scene, this.view, box, this.look());
    drawAxes(pen, this.view, box, inks(), this.options.axes);
    return pen.finish();
  }

  private look(): Look {
    return { ink: inks(), active: this.options.selection.active, through: this.through };
  }

  private box(): { x: number; y: number; radius: number } {
    return this.view.box(this.width, this.height);
  }

  private resize(): void {
    const frame = this.element.getBoundingClientRect();
    this.width = Math.floor(frame.width);
    this.height = Math.floor(frame.height);
    this.draw();
  }

  private draw(): void {
    const { width, height, view, scene } = this,
      ink = inks();
    if (width < 20 || height < 20) return;
    const box = this.box();
    this.drawUnder();
    this.points.draw(view, box, width, height, this.look());
    const pen = this.over.fresh(width, height);
    drawMarkers(pen, scene, view, box, this.look());
    drawAxes(pen, view, box, ink, this.options.axes);
  }

  /** The globe, if it is seen differently than before. */
  private drawUnder(): void {
    const { width, height, view } = this,
      ink = inks(),
      seen = [width, height, view.rotation, view.zoom, ink];
    if (seen.every((value, i) => value === this.seen[i])) return;
    this.seen = seen;
    const pen = this.under.fresh(width, height);
    if (this.options.globe !== false) drawGlobe(pen, view, this.box(), ink);
  }

  private hands() {
    const { selection } = this.options;
    return {
      moved: this.redraw,
      pointed: (place: { x: number; y: number } | null): void => {
        this.pointer = place;
        this.peek();
      },
      clicked: (place: { x: number; y: number }): void => {
        this.element.focus({ preventScroll: true });
        const hit = pick(this.scene, this.view, this.box(), place.x, place.y);
        if (!hit || hit.id < 0) selection.clear();
        else selection.pick(hit.id);
      },
    };
  }

  private point(): void {
    const { selection, describe } = this.options,
      place = this.pointer;
    const hit = place && pick(this.scene, this.view, this.box(), place.x, place.y);
    selection.hover(hit && hit.id >= 0 ? hit.id : null);
    if (!hit || !place) return hideTooltip();
    const frame = this.element.getBoundingClientRect();
    showTooltip(frame.left + place.x, frame.top + place.y, ...describe(hit.id, hit.xyz, hit.mean));
  }

  private last: number | null = null;

  /** A cluster that was picked and is on the far side is turned to the front. */
  private selected(): void {
    this.redraw();
    const { picked } = this.options.selection;
    if (picked === this.last) return;
    this.last = picked;
    const marker = this.scene.markers.find(({ id }) => id === picked);
    if (marker && this.view.place(this.box(), marker.xyz).depth < 0.15) this.turnTo(marker.xyz);
  }

  private turnTo(direction: Vec3): void {
    if (matchMedia("(prefers-reduced-motion: reduce)").matches) {
      this.view.face(direction, 1);
      return this.redraw();
    }
    const began = performance.now();
    let done = 0;
    const step = (now: number): void => {
      const part = Math.min(1, Math.max(0, (now - began) / TURN_MILLISECONDS)),
        eased = part * part * (3 - 2 * part);
      this.view.face(direction, part >= 1 ? 1 : (eased - done) / (1 - done));
      done = eased;
      this.draw();
      if (part < 1) requestAnimationFrame(step);
    };
    requestAnimationFrame(step);
  }
}
