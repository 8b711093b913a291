// SPDX-License-Identifier: MIT
//
// The report of one clustering: sphere, table, nets, angles, and how it was made.
import { Colours } from "../data/colours";
import { Points } from "../data/points";
import { turnToMeans } from "../data/axial";
import { Selection } from "../data/selection";
import type { BatchReport, Vec3 } from "../data/types";
import { EAST_NORTH_UP, fieldWords } from "../math/field";
import type { Rotation } from "../math/vector";
import { AngleMatrix, MOST_ANGLES } from "../matrix/matrix";
import { Nets } from "../net/nets";
import { Rose, roseWords } from "../rose/rose";
import type { Scene } from "../sphere/scene";
import { MOST_CIRCLES, MOST_MEANS } from "../sphere/scene";
import { Sphere } from "../sphere/sphere";
import { CAMERA_HOME, PLANE_HOME, homeOf } from "../sphere/home";
import { card } from "../ui/card";
import { el } from "../ui/dom";
import { count, degrees, fixed, number, percent, plural } from "../ui/format";
import { notesOf } from "../ui/notes";
import { head, notesCard, originCard } from "../ui/frame";
import { directionWords } from "../ui/describe";
import { saveAddress, saveCsv, saveSvg } from "../ui/save";
import { netTools, sphereTools } from "../ui/tools";
import { swatch } from "../ui/swatch";
import { anglesOf } from "./angles";
import { PlanesDrawing, fromCorner } from "../planes/drawing";
import { planesTable } from "../planes/table";
import { mapCard } from "../map/card";
import { decodeMap } from "../map/decode";
import { shortened } from "../map/map";
import { layersCard } from "./layers";
import { fieldKeys } from "../ui/cluster_columns";
import { clusterTable } from "./table";

export function batchPage(report: BatchReport): HTMLElement {
  const selection = new Selection(),
    scene = sceneOf(report),
    describe = describer(report, scene.colours);
  escapeClears(selection);
  const top = head(report);
  top.facts(factsOf(report));
  const flat = report.dimension === 2 ? roseCard(report, scene, selection) : netsCard(report, scene, selection, describe);
  const image = imageCard(report),
    angles = anglesCard(report, selection);
  // The angles stand where there is more room.
  const left = el(
    "div",
    { class: "column" },
    mapOf(report, selection, scene.colours),
    sphereCard(report, scene, selection, describe),
    report.map ? null : flat,
    image && angles,
  );
  const planes = planesCard(report, selection, scene.colours);
  const right = el(
    "div",
    { class: "column" },
    tableCard(report, selection),
    layersCard(report, selection, scene.colours, captionOf(report)),
    planes,
    image ?? angles,
    originCard(report),
  );
  return el(
    "main",
    { class: "page batch" },
    top.element,
    notesCard(notesFor(report)),
    el("div", { class: "columns" }, left, right),
  );
}

function sceneOf(report: BatchReport): Scene {
  const colours = new Colours(report.clusters.map((cluster) => [cluster.id, cluster.color] as const));
  const bySize = [...report.clusters].sort((a, b) => b.size - a.size);
  // On principal directions a spread of all dimensions would be a circle of the wrong size.
  const markers = bySize.map(({ id, xyz, spread, share, alpha95, kappa }) => ({
    id,
    xyz,
    spread: report.projection ? null : spread,
    share,
    cone: alpha95 ?? null,
    girdle: (kappa ?? 0) < 0,
    faint: false,
  }));
  const points = Points.decode(report.points);
  if (report.axial) turnToMeans(points, report.clusters);
  return { points, colours, markers, trails: [] };
}

function notesFor(report: BatchReport): string[] {
  const clusters = report.clusters.length,
    most = report.projection ? MOST_MEANS : MOST_CIRCLES;
  if (clusters <= most) return notesOf(report);
  const what = report.projection ? "means" : "circles";
  return [
    ...notesOf(report),
    `Of ${count(clusters)} clusters the ${most} largest have their ${what} drawn, and the one you point at; the table has all of them.`,
  ];
}

function factsOf(report: BatchReport) {
  const { points, clusters, dimension, measures } = report,
    objective = measures["objective"],
    stability = measures["stability"];
  const facts = [
    { value: count(clusters.length), label: clusters.length === 1 ? "cluster" : "clusters" },
    { value: count(points.total), label: "points" },
    { value: String(dimension), label: "dimensions" },
  ];
  if (typeof objective === "number") facts.push({ value: number(objective), label: "objective" });
  if (typeof stability === "number") facts.push({ value: fixed(stability, 2), label: "stability" });
  return facts;
}

type Describe = (id: number, xyz: Vec3, mean: boolean) => (Node | string)[];

function describer(report: BatchReport, colours: Colours): Describe {
  const clusters = new Map(report.clusters.map((cluster) => [cluster.id, cluster]));
  return (id, xyz, mean) => {
    const cluster = clusters.get(id),
      where = report.field
        ? fieldWords(xyz, report.field, report.axial)
        : directionWords(xyz, report.projection !== null);
    if (!cluster) return ["a point of no cluster", el("div", {}, where)];
    const about = `${plural(cluster.size, "point")}, ${percent(cluster.share)}${cluster.spread === null ? "" : `, spread ${degrees(cluster.spread)}`}`;
    return [
      el("div", {}, swatch(id, colours.css(id)), ` ${about}`),
      cluster.keywords?.length ? el("div", { class: "keywords" }, cluster.keywords.slice(0, 6).join(", ")) : "",
      ...(cluster.representatives ?? []).map((name) => el("div", { class: "text" }, name)),
      el("div", { class: "fine" }, `${mean ? "mean" : "point"} ${where}`),
    ];
  };
}

/** What a cluster is about, in a few words. */
function captionOf(report: BatchReport): (id: number) => string {
  const words = new Map(
    report.clusters.map((c) => [c.id, c.keywords?.slice(0, 2).join(", ") || c.representatives?.[0] || String(c.id)]),
  );
  return (id) => shortened(words.get(id) ?? String(id), 28);
}

function mapOf(report: BatchReport, selection: Selection, colours: Colours): HTMLElement | null {
  if (!report.map) return null;
  const clusters = new Map(report.clusters.map((cluster) => [cluster.id, cluster]));
  const describe = (id: number): (Node | string)[] => {
    const cluster = clusters.get(id);
    if (!cluster) return ["a point of no cluster"];
    return [
      el("div", {}, swatch(id, colours.css(id)), ` ${plural(cluster.size, "point")}, ${percent(cluster.share)}`),
      el("div", { class: "keywords" }, cluster.keywords?.slice(0, 6).join(", ") ?? ""),
    ];
  };
  const data = decodeMap(report.map),
    { view } = mapCard(data, { selection, colours, describe, caption: captionOf(report) }, report.title);
  view.say(
    report.map.shown < report.points.total
      ? `${count(report.map.shown)} of ${count(report.points.total)}`
      : plural(report.map.shown, "point"),
  );
  return view.element;
}

function escapeClears(selection: Selection): void {
  document.addEventListener("keydown", (event) => {
    if (event.key === "Escape") selection.clear();
  });
}

function axesOf(report: BatchReport): string[] {
  if (report.projection) return ["pc1", "pc2", "pc3"];
  return report.field ? EAST_NORTH_UP : ["x", "y", "z"];
}

function firstView(report: BatchReport): Rotation {
  if (report.dimension === 2) return PLANE_HOME;
  return report.image ? CAMERA_HOME : homeOf(report.clusters);
}

function sphereCard(report: BatchReport, scene: Scene, selection: Selection, describe: Describe): HTMLElement {
  const label =
    "The points on the sphere. Drag or press arrows to turn, plus and minus to zoom, 0 to reset, click to pick a cluster";
  const sphere = new Sphere({
    label,
    axes: axesOf(report),
    home: firstView(report),
    plainArrows: true,
    through: false,
    selection,
    describe,
  });
  const view = card(report.map ? "Three axes" : "Sphere", "sphere-card", [
    { label: "SVG", title: "Save the sphere as SVG", run: () => saveSvg("sphere", sphere.svg(report.title)) },
    { label: "CSV", title: "Save the points that are shown as CSV", run: () => savePoints(scene.points) },
  ]);
  const { shown, total } = report.points;
  view.say(shown < total ? `${count(shown)} of ${count(total)}` : plural(total, "point"));
  view.tools.append(...sphereTools(sphere));
  view.body.append(
    sphere.element,
    el(
      "p",
      { class: "hint" },
      `Drag to turn, click to pick, scroll after a click to zoom.${report.projection ? "" : " Circles: one angular standard deviation."}`,
    ),
  );
  sphere.show(scene);
  return view.element;
}

function savePoints(points: Points): void {
  const rows = Array.from({ length: points.count }, (_, i) => [
    ...points.at(i).map((value) => Number(value.toFixed(5))),
    points.labels[i] as number,
  ]);
  saveCsv("points", ["x", "y", "z", "label"], rows);
}

function netsCard(report: BatchReport, scene: Scene, selection: Selection, describe: Describe): HTMLElement {
  const nets = new Nets({ axial: report.axial, axes: axesOf(report), field: report.field, selection, describe });
  nets.show(scene);
  const view = card(report.field ? "Equal-area net" : "Equal-area nets", "nets-card", [
    { label: "SVG", title: "Save the nets as SVG", run: () => saveSvg("nets", nets.svg(report.title)) },
    {
      label: "CSV",
      title: "Save the places of the points on the nets as CSV",
      run: () => saveCsv("nets", ["hemisphere", "across", "up", "label"], nets.rows()),
    },
  ]);
  view.tools.append(...netTools(nets));
  view.body.append(nets.element, el("p", { class: "hint" }, nets.legend()));
  return view.element;
}

function roseCard(report: BatchReport, scene: Scene, selection: Selection): HTMLElement {
  const rose = new Rose(scene, selection, { axial: report.axial, field: report.field !== null });
  const view = card("Rose", "rose-card", [
    { label: "SVG", title: "Save the rose as SVG", run: () => saveSvg("rose", rose.svg("Rose")) },
  ]);
  view.body.append(
    rose.element,
    el("p", { class: "hint" }, roseWords(report.axial)),
  );
  return view.element;
}

function tableCard(report: BatchReport, selection: Selection): HTMLElement {
  const table = clusterTable(report, selection);
  const view = card("Clusters", "table-card", [
    { label: "CSV", title: "Save the table as CSV, with the whole means", run: () => saveClusters(report) },
  ]);
  view.say(plural(report.clusters.length, "cluster"));
  view.body.append(table.element);
  return view.element;
}

function saveClusters(report: BatchReport): void {
  const { clusters, dimension } = report,
    whole = clusters.every((cluster) => cluster.mean?.length === dimension),
    stable = clusters.some((cluster) => typeof cluster.stability === "number"),
    named = clusters.some((cluster) => cluster.representatives),
    topics = clusters.some((cluster) => cluster.keywords);
  const angles = fieldKeys(clusters);
  const names = whole ? Array.from({ length: dimension }, (_, i) => `mean_${i + 1}`) : ["x", "y", "z"];
  const rows = clusters.map((c) => [
    c.id,
    c.size,
    c.share,
    c.spread,
    c.kappa,
    ...(stable ? [c.stability ?? null] : []),
    ...(topics ? [(c.keywords ?? []).join(", ")] : []),
    ...(named ? [(c.representatives ?? []).join(" | ")] : []),
    ...angles.map((key) => c[key] ?? null),
    ...(whole ? (c.mean ?? []) : c.xyz),
  ]);
  const words = [...(stable ? ["stability"] : []), ...(topics ? ["keywords"] : []), ...(named ? ["representatives"] : [])];
  const known = ["id", "size", "share", "spread", "kappa", ...words, ...angles];
  saveCsv("clusters", [...known, ...names], rows);
}

/** The planes of a cloud or a mesh: their outlines in space, and their list. */
function planesCard(report: BatchReport, directions: Selection, colours: Colours): HTMLElement | null {
  const { planes } = report,
    selection = new Selection();
  if (planes.length === 0) return null;
  escapeClears(selection);
  const drawing = new PlanesDrawing(selection, "The outlines of the planes, seen from a corner", {
    viewBox: "0 0 480 300",
  });
  const table = planesTable({
    unit: report.parameters["normals"] === "faces" ? "faces" : "points",
    planes: selection,
    directions,
    directionColour: (id) => colours.css(id),
    dip: true,
  });
  const view = card("Planes", "table-card planes-card", [
    { label: "CSV", title: "Save the planes as CSV", run: () => table.save("planes") },
  ]);
  drawing.show(planes, fromCorner(planes, 480, 300));
  table.show(planes);
  view.say(plural(planes.length, "plane"));
  view.body.append(drawing.element, table.element);
  return view.element;
}

function imageCard(report: BatchReport): HTMLElement | null {
  const { image } = report;
  if (!image) return null;
  const view = card("Image", "image-card", [
    { label: "PNG", title: "Save the picture as PNG", run: () => saveAddress("clusters.png", image) },
  ]);
  view.body.append(el("img", { src: image, class: "overlay", alt: "The depth image, coloured by cluster" }));
  return view.element;
}

function anglesCard(report: BatchReport, selection: Selection): HTMLElement | null {
  const angles = anglesOf(report),
    ids = report.clusters.map((cluster) => cluster.id);
  if (!angles || ids.length < 2 || ids.length > MOST_ANGLES) return null;
  const matrix = new AngleMatrix(ids, angles, report.axial ? 90 : 180, selection);
  const view = card("Angles between means", "matrix-card", [
    { label: "SVG", title: "Save the matrix as SVG", run: () => saveSvg("angles", matrix.svg(report.title)) },
    {
      label: "CSV",
      title: "Save the angles as CSV",
      run: () =>
        saveCsv(
          "angles",
          ["id", ...ids.map(String)],
          angles.map((row, i) => [ids[i] as number, ...row]),
        ),
    },
  ]);
  view.say("degrees; stronger is closer");
  const details = el(
    "details",
    { open: report.dimension > 3 || ids.length <= 8 },
    el("summary", {}, "Show the matrix"),
    matrix.element,
  );
  view.body.append(details);
  return view.element;
}
