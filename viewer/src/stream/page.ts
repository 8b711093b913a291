// SPDX-License-Identifier: MIT
//
// The report of a stream, recorded or running: the sphere and the picture of one frame, the shares of all, what happened,
// and the bar that moves through time.
import { Points } from "../data/points";
import { turnToMeans } from "../data/axial";
import { Selection } from "../data/selection";
import type { Frame, StreamReport, Vec3 } from "../data/types";
import type { Rotation } from "../math/vector";
import { Nets } from "../net/nets";
import { MOST_MEANS } from "../sphere/scene";
import type { Scene } from "../sphere/scene";
import { Sphere } from "../sphere/sphere";
import { CAMERA_HOME, homeOf } from "../sphere/home";
import { card, toggle } from "../ui/card";
import { directionWords } from "../ui/describe";
import { el, onceAFrame } from "../ui/dom";
import { count, degrees, number, percent, plural } from "../ui/format";
import { notesOf } from "../ui/notes";
import { head, notesCard, originCard } from "../ui/frame";
import type { Head } from "../ui/frame";
import { saveAddress, saveCsv, saveSvg } from "../ui/save";
import { swatch } from "../ui/swatch";
import { netTools, sphereTools } from "../ui/tools";
import { planesTable } from "../planes/table";
import { Picture } from "./picture";
import { Player } from "./player";
import { Rotations, saveRotationsCsv } from "./rotation";
import { Shares } from "./shares";
import { saveSharesCsv, saveSharesSvg } from "./shares_file";
import { eventTable, frameTable } from "./tables";
import { Timeline } from "./timeline";
import type { StreamEvent } from "./timeline";
import { transport } from "./transport";

const TRAIL = 60;
const MANY_FRAMES = 2000;
const MOST_FRAMES = 20_000;

export class StreamPage {
  readonly element: HTMLElement;
  readonly head: Head;
  readonly player = new Player();
  private readonly selection = new Selection();
  private timeline: Timeline;
  private readonly sphere: Sphere;
  private readonly nets: Nets;
  private readonly planeSelection = new Selection();
  private readonly picture = new Picture(this.planeSelection);
  private readonly planes;
  private readonly planesPlace: HTMLElement;
  private readonly shares: Shares;
  private readonly rotations = new Rotations(this.player);
  private readonly rotationsPlace: HTMLElement;
  private readonly table;
  private readonly events;
  private readonly transport;
  private readonly below = el("div", { class: "below" });
  private readonly notes = el("div", { class: "notes-place" });
  private trails = true;
  private netsOpen = false;
  private shown: { frame: Frame | null; points: Points } = { frame: null, points: Points.decode(null) };
  private readonly redraw = onceAFrame(() => this.draw());

  constructor(private report: StreamReport) {
    this.timeline = new Timeline(report);
    this.head = head(report);
    const { selection, player } = this,
      axes = report.projection ? ["pc1", "pc2", "pc3"] : ["x", "y", "z"];
    const describe = (id: number, xyz: Vec3, mean: boolean): (Node | string)[] => this.describe(id, xyz, mean);
    const label =
      "The points of this frame on the sphere. Drag or press Shift and arrows to turn, plus and minus to zoom, click to pick a cluster";
    this.sphere = new Sphere({
      label,
      axes,
      home: this.home(),
      plainArrows: false,
      through: true,
      selection,
      describe,
    });
    this.nets = new Nets({ axial: report.axial, axes, field: null, selection, describe });
    this.shares = new Shares(player, selection);
    this.table = frameTable(() => this.timeline.colours, selection, axes);
    this.events = eventTable(
      () => this.timeline.colours,
      (event) => this.goTo(event),
      selection,
    );
    this.planes = planesTable({
      unit: "pixels",
      planes: this.planeSelection,
      directions: selection,
      directionColour: (id) => this.timeline.colours.css(id),
      dip: false,
    });
    this.planesPlace = this.planesCard();
    this.rotationsPlace = this.rotationsCard();
    this.transport = transport(player, () => this.timeline, report.live);
    document.addEventListener("keydown", (event) => {
      if (event.key !== "Escape") return;
      selection.clear();
      this.planeSelection.clear();
    });
    player.listen(this.redraw);
    this.element = this.layout();
    this.begin(report, true);
  }

  /** Another report on the same page: a stream that is seen again, or another one. */
  restart(report: StreamReport): void {
    const same = report.run === this.report.run,
      was = this.timeline.frames[this.player.index]?.frame ?? 0;
    this.report = report;
    this.timeline = new Timeline(report);
    this.head.title(report.title);
    this.begin(report, !same);
    if (same && !this.player.following) this.player.seek(this.timeline.indexOfFrame(was));
  }

  /** The stream went on. */
  push(frame: Frame, colors: Record<string, string>): void {
    this.timeline.colours.add(colors);
    this.timeline.push(frame);
    if (this.timeline.length > MOST_FRAMES) this.forget();
    if (this.timeline.length === 1) this.sphere.view.rehome(this.home());
    this.player.setLength(this.timeline.length);
    if (this.timeline.length < MANY_FRAMES) this.all();
    else this.soon();
  }

  /** A page that watches for days keeps what it can show. */
  private forget(): void {
    const kept = Math.round(0.9 * MOST_FRAMES);
    this.player.index = Math.max(0, this.player.index - (this.timeline.length - kept));
    this.timeline = this.timeline.last(kept);
  }

  private begin(report: StreamReport, anew: boolean): void {
    this.sphere.view.rehome(this.home());
    if (anew) {
      this.selection.clear();
      this.player.index = 0;
      this.player.following = report.live;
    }
    this.notes.replaceChildren(...[notesCard(notesOf(report))].filter((note) => note !== null));
    this.below.replaceChildren(originCard(report));
    this.player.setLength(this.timeline.length);
    this.all();
  }

  /** What depends on all frames, once a repaint. */
  private readonly all = onceAFrame(() => {
    this.shares.show(this.timeline);
    this.rotationsPlace.hidden = !this.rotations.show(this.timeline);
    this.events.show(this.timeline.events.map((event, key) => ({ ...event, key })).reverse());
    this.head.facts(this.facts());
    this.redraw();
  });

  private waiting = false;

  /** The same twice a second: with thousands of frames one more is not worth drawing all of them again. */
  private soon(): void {
    if (this.waiting) return;
    this.waiting = true;
    setTimeout(() => {
      this.waiting = false;
      this.all();
    }, 500);
  }

  private layout(): HTMLElement {
    const top = el("div", { class: "columns even" }, this.sphereCard(), this.pictureCard());
    const bottom = el("div", { class: "columns even" }, this.tableCard(), this.eventCard());
    return el(
      "main",
      { class: "page stream" },
      this.head.element,
      this.notes,
      top,
      this.planesPlace,
      this.sharesCard(),
      this.rotationsPlace,
      bottom,
      this.netsCard(),
      this.below,
      this.transport.element,
    );
  }

  private sphereCard(): HTMLElement {
    const view = card("Sphere", "sphere-card", [
      {
        label: "SVG",
        title: "Save the sphere as SVG",
        run: () => saveSvg("sphere", this.sphere.svg(this.report.title)),
      },
      { label: "CSV", title: "Save the means of all frames as CSV", run: () => saveSharesCsv(this.timeline) },
    ]);
    const trails = toggle("Trails", `Where the means have been in the last ${TRAIL} frames`, true, (on) => {
      this.trails = on;
      this.redraw();
    });
    view.tools.append(trails, ...sphereTools(this.sphere));
    view.body.append(this.sphere.element, this.picture.hint);
    return view.element;
  }

  private pictureCard(): HTMLElement {
    const view = card("Frame", "image-card", [
      { label: "PNG", title: "Save the picture as PNG", run: () => this.savePicture() },
    ]);
    view.body.append(this.picture.stage, this.picture.facts);
    return view.element;
  }

  private planesCard(): HTMLElement {
    const view = card("Planes of this frame", "table-card planes-card", [
      { label: "CSV", title: "Save the planes as CSV", run: () => this.planes.save("planes") },
    ]);
    view.say("metres; point at one to see it in the picture");
    view.body.append(this.planes.element);
    return view.element;
  }

  private sharesCard(): HTMLElement {
    const view = card("Shares", "shares-card", [
      { label: "SVG", title: "Save the shares as SVG", run: () => saveSharesSvg(this.timeline, this.report.title) },
      { label: "CSV", title: "Save the shares as CSV", run: () => saveSharesCsv(this.timeline) },
    ]);
    view.say("drag to scrub");
    view.body.append(this.shares.element);
    return view.element;
  }

  private rotationsCard(): HTMLElement {
    const view = card("Rotation of the camera", "rotations-card", [
      {
        label: "SVG",
        title: "Save the rotations as SVG",
        run: () => this.rotations.save(this.report.title),
      },
      { label: "CSV", title: "Save the rotations as CSV", run: () => saveRotationsCsv(this.timeline) },
    ]);
    view.say("degrees about x, y and z of the first frame, with one standard deviation; drag to scrub");
    view.body.append(this.rotations.element);
    return view.element;
  }

  private tableCard(): HTMLElement {
    const view = card("Clusters of this frame", "table-card", [
      { label: "CSV", title: "Save the table as CSV", run: () => this.table.save("clusters") },
    ]);
    view.body.append(this.table.element);
    return view.element;
  }

  private eventCard(): HTMLElement {
    const rows = (): (string | number | null)[][] =>
      this.timeline.events.map((event) => [event.frame, event.kind, event.id, event.share, event.into]);
    const view = card("Events", "table-card events-card", [
      {
        label: "CSV",
        title: "Save the events as CSV",
        run: () => saveCsv("events", ["frame", "event", "id", "share", "into"], rows()),
      },
    ]);
    view.say("newest first; click to go there");
    view.body.append(this.events.element);
    return view.element;
  }

  private netsCard(): HTMLElement {
    const view = card("Equal-area nets of this frame", "nets-card", [
      {
        label: "SVG",
        title: "Save the nets as SVG",
        run: () => saveSvg("nets", this.openNets().svg(this.report.title)),
      },
      {
        label: "CSV",
        title: "Save the places of the points on the nets as CSV",
        run: () => saveCsv("nets", ["hemisphere", "across", "up", "label"], this.openNets().rows()),
      },
    ]);
    const details = el("details", {}, el("summary", {}, "Show the nets"), this.nets.element);
    details.addEventListener("toggle", () => {
      this.netsOpen = details.open;
      this.redraw();
    });
    view.tools.append(...netTools(this.nets));
    view.body.append(details);
    return view.element;
  }

  /** The nets of the frame that is shown, also while they are folded away. */
  private openNets(): Nets {
    this.nets.show(this.scene());
    return this.nets;
  }

  private savePicture(): void {
    const frame = this.timeline.frames[this.player.index];
    if (frame?.image) saveAddress(`frame-${frame.frame}.png`, frame.image);
  }

  private goTo(event: StreamEvent): void {
    this.player.seek(event.index);
    if (this.selection.picked !== event.id) this.selection.pick(event.id);
  }

  private draw(): void {
    const frame = this.timeline.frames[this.player.index] ?? null,
      scene = this.scene();
    this.sphere.show(scene);
    if (this.netsOpen) this.nets.show(scene);
    this.table.show(frame ? frame.clusters : []);
    this.planes.show(frame ? frame.planes : []);
    this.planesPlace.hidden = !this.timeline.frames.some((other) => other.planes.length > 0);
    this.picture.show(frame, scene.points.count);
    this.transport.update();
  }

  private scene(): Scene {
    const { index } = this.player,
      frame = this.timeline.frames[index] ?? null,
      projected = this.report.projection !== null;
    if (frame !== this.shown.frame) this.shown = { frame, points: this.pointsOf(frame) };
    const clusters = [...(frame?.clusters ?? [])].sort((a, b) => b.share - a.share);
    const markers = clusters.map(({ id, xyz, spread, share, count }) => {
      return { id, xyz, spread: projected ? null : spread, share, faint: count === 0 };
    });
    const followed = this.trails ? clusters.slice(0, MOST_MEANS) : [];
    const trails = followed.map(({ id }) => ({ id, places: this.timeline.trail(id, index, TRAIL) }));
    return { points: this.shown.points, colours: this.timeline.colours, markers, trails };
  }

  private pointsOf(frame: Frame | null): Points {
    const points = Points.decode(frame?.sample ?? null);
    if (frame && this.report.axial) turnToMeans(points, frame.clusters);
    return points;
  }

  private describe(id: number, xyz: Vec3, mean: boolean): (Node | string)[] {
    const cluster = this.timeline.at(this.player.index).get(id),
      where = directionWords(xyz, this.report.projection !== null);
    if (!cluster) return ["a point of no cluster", el("div", { class: "fine" }, where)];
    const spread = cluster.spread === null ? "" : `, spread ${degrees(cluster.spread)}`;
    return [
      el(
        "div",
        {},
        swatch(id, this.timeline.colours.css(id)),
        ` ${plural(cluster.count, "point")}, ${percent(cluster.share)}${spread}`,
      ),
      el("div", { class: "fine" }, `${mean ? "mean" : "point"} ${where}; ${cluster.event}`),
    ];
  }

  /** Directions of a camera that stands still in its own world are seen as it sees them. */
  private home(): Rotation {
    const { frames } = this.timeline,
      camera = frames.some((frame) => frame.image) && !this.report.parameters["poses"];
    if (camera) return CAMERA_HOME;
    const step = Math.ceil(frames.length / 60);
    return homeOf(frames.filter((_, index) => index % step === 0).flatMap((frame) => frame.clusters));
  }

  private facts() {
    const { frames, totals, events } = this.timeline,
      times = frames
        .map((frame) => frame.milliseconds)
        .filter((time): time is number => time !== null)
        .sort((a, b) => a - b);
    const median = times[Math.floor(times.length / 2)],
      revivals = events.filter((event) => event.kind === "revived").length;
    const facts = [
      { value: count(frames.length), label: frames.length === 1 ? "frame" : "frames" },
      { value: count(totals.size), label: "clusters seen" },
      { value: count(revivals), label: "revivals" },
    ];
    if (median !== undefined)
      facts.push({ value: `${number(Number(median.toPrecision(3)))} ms`, label: "a frame, median" });
    return facts;
  }
}
