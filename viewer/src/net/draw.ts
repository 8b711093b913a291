// SPDX-License-Identifier: MIT
//
// One net with a pen: density, grid, points and means. d3-geo draws what bends: the grid and the circles around means.
import { geoAzimuthalEqualArea, geoCircle, geoGraticule, geoPath } from "d3-geo";
import type { GeoPermissibleObjects, GeoProjection } from "d3-geo";
import { drawBadge } from "../draw/badge";
import type { Colours } from "../data/colours";
import type { Field, Vec3 } from "../data/types";
import type { Pen } from "../draw/pen";
import { COMPASS, hasPlanes } from "../math/field";
import { onNet } from "../math/lambert";
import { DEGREES } from "../math/vector";
import type { Marker } from "../sphere/scene";
import { MOST_CIRCLES, MOST_MEANS, MOST_NAMES } from "../sphere/scene";
import type { Inks } from "../ui/theme";
import type { Contour } from "./contours";
import { endOn } from "./half";
import type { Half } from "./half";

/** Where the net is. */
export interface Disc {
  x: number;
  y: number;
  radius: number;
}

export interface NetPicture {
  half: Half;
  contours: Contour[];
  markers: Marker[];
  colours: Colours;
  /** Whether both ends of a direction show on this half. */
  folded: boolean;
  axes: readonly string[];
  field: Field | null;
}

/** Both hemispheres are drawn by the projection of the upper one: the lower is seen from above, through the sphere. */
function projection(disc: Disc): GeoProjection {
  return geoAzimuthalEqualArea()
    .rotate([90, -90])
    .clipAngle(90)
    .precision(0.3)
    .scale(disc.radius / Math.SQRT2)
    .translate([disc.x, disc.y]);
}

export function drawGround(pen: Pen, picture: NetPicture, disc: Disc, ink: Inks, shaded: boolean): void {
  pen.circle(disc.x, disc.y, disc.radius, { fill: ink.globe });
  if (shaded)
    pen.inside(disc.x, disc.y, disc.radius, () => {
      const strength = 0.62 / Math.max(4, picture.contours.length);
      for (const contour of picture.contours) pen.path(ringsPath(contour, disc), { fill: ink.band, opacity: strength });
    });
  const grid = geoGraticule()
    .stepMinor([30, 30])
    .stepMajor([90, 30])
    .extentMinor([
      [-180, -89.9],
      [180, 89.9],
    ])();
  pen.path(geoPath(projection(disc))(grid) ?? "", { stroke: ink.grid, width: 1 });
  pen.circle(disc.x, disc.y, disc.radius, { stroke: ink.globeEdge, width: 1.2 });
}

/** Directions that point to the other half are rings. */
export function drawDots(pen: Pen, picture: NetPicture, disc: Disc, ink: Inks, only: number | null): void {
  const radius = dotRadius(picture.half.count) * (only === null ? 1 : 1.2);
  const { groups, turned } = picture.half;
  for (const [label, places] of [...groups, ...turned]) {
    if (only !== null && label !== only) continue;
    pen.dots(onScreen(places, disc), radius, picture.colours.css(label), label < 0 ? 0.5 : 0.85);
    if (turned.get(label) === places) pen.dots(onScreen(places, disc), 0.55 * radius, ink.globe, 1);
  }
}

export function drawLines(pen: Pen, picture: NetPicture, disc: Disc, ink: Inks): void {
  pen.inside(disc.x, disc.y, disc.radius, () => {
    for (const contour of picture.contours)
      pen.path(ringsPath(contour, disc), { stroke: ink.ink, width: 0.9, opacity: 0.45 });
  });
}

export function drawMeans(pen: Pen, picture: NetPicture, disc: Disc, ink: Inks, active: number | null): void {
  const shown = picture.markers.filter((marker, rank) => rank < MOST_MEANS || marker.id === active);
  const circled = shown.filter((marker, rank) => rank < MOST_CIRCLES || marker.id === active);
  const path = geoPath(projection(disc));
  for (const marker of circled)
    if (hasPlanes(picture.field) || marker.girdle) drawPlane(pen, picture, marker, path, ink, active);
  for (const marker of circled) drawSpread(pen, picture, marker, path, ink, active);
  for (const marker of [...shown].reverse()) drawMean(pen, picture, marker, disc, ink, active);
}

export function drawNames(pen: Pen, picture: NetPicture, disc: Disc, ink: Inks): void {
  const style = { colour: ink.muted, size: 12, weight: 600, halo: ink.card };
  if (picture.field) return drawCompass(pen, disc.x, disc.y, disc.radius, ink);
  pen.text(disc.x + disc.radius + 6, disc.y + 4, picture.axes[0] ?? "x", style);
  pen.text(disc.x, disc.y - disc.radius - 7, picture.axes[1] ?? "y", { ...style, anchor: "middle" });
}

/** North is up. */
export function drawCompass(pen: Pen, x: number, y: number, radius: number, ink: Inks): void {
  const style = { colour: ink.muted, size: 12, weight: 600, anchor: "middle" as const, halo: ink.card };
  COMPASS.forEach((name, i) => {
    const angle = (i * Math.PI) / 2;
    pen.text(x + (radius + 13) * Math.sin(angle), y - (radius + 13) * Math.cos(angle) + 4, name, style);
  });
}

type Path = (shape: GeoPermissibleObjects) => string | null;

/** The great circle of the plane, or of the girdle, whose pole the mean is. */
function drawPlane(pen: Pen, picture: NetPicture, marker: Marker, path: Path, ink: Inks, active: number | null): void {
  const opacity = active === null || active === marker.id ? 1 : 0.2;
  const d = path({ type: "LineString", coordinates: ring(marker.xyz, picture.half.side, 90) });
  if (!d) return;
  const dash = marker.girdle ? { dash: [6, 5] } : {};
  pen.path(d, { stroke: picture.colours.css(marker.id), width: 2.2, opacity, ...dash });
  if (marker.girdle) return;
  pen.path(d, { stroke: ink.ink, width: 0.5, opacity: 0.6 * opacity });
}

function drawSpread(
  pen: Pen,
  picture: NetPicture,
  marker: Marker,
  path: Path,
  ink: Inks,
  active: number | null,
): void {
  const angle = picture.field ? marker.cone : marker.spread;
  if (!angle || marker.faint || (picture.field && angle >= 90)) return;
  const opacity = active === null || active === marker.id ? 1 : 0.2;
  const ends: Vec3[] = picture.folded ? [marker.xyz, [-marker.xyz[0], -marker.xyz[1], -marker.xyz[2]]] : [marker.xyz];
  for (const end of ends) {
    const d = path({ type: "LineString", coordinates: ring(end, picture.half.side, angle) });
    if (!d) continue;
    pen.path(d, { stroke: ink.halo, width: 3.5, opacity: 0.7 * opacity });
    pen.path(d, { stroke: marker.id === active ? ink.ink : picture.colours.css(marker.id), width: 1.8, opacity });
    if (marker.id !== active) pen.path(d, { stroke: ink.ink, width: 0.7, opacity: 0.7 * opacity });
  }
}

/** As a line and not as an area, so that its clipped ends stay open. */
function ring(end: Vec3, side: number, degrees: number): [number, number][] {
  const latitude = Math.asin(Math.max(-1, Math.min(1, side * end[2]))) * DEGREES,
    longitude = Math.atan2(end[1], end[0]) * DEGREES;
  return geoCircle().center([longitude, latitude]).radius(Math.min(degrees, 179)).precision(4)().coordinates[0] as [
    number,
    number,
  ][];
}

function drawMean(pen: Pen, picture: NetPicture, marker: Marker, disc: Disc, ink: Inks, active: number | null): void {
  const end = endOn(marker.xyz, picture.half.side, picture.folded);
  if (!end) return;
  const [across, up] = onNet(end, picture.half.side),
    x = disc.x + across * disc.radius,
    y = disc.y - up * disc.radius;
  const rank = picture.markers.indexOf(marker),
    named = marker.id === active || picture.markers.length <= MOST_NAMES || rank < MOST_NAMES / 2;
  const opacity = active === null || active === marker.id ? 1 : 0.2,
    colour = picture.colours.css(marker.id);
  const badge = { id: marker.id, colour, faint: marker.faint, named, radius: 8, opacity };
  if (!picture.field) return drawBadge(pen, x, y, badge, ink);
  // The cone would be hidden behind a badge.
  drawBadge(pen, x, y, { ...badge, named: false }, ink);
  if (named)
    pen.text(x + 9, y - 7, String(marker.id), { colour: ink.ink, size: 12, weight: 700, halo: ink.card, opacity });
}

function ringsPath(contour: Contour, disc: Disc): string {
  return contour.rings.map((ring) => `M${pairs(onScreen(ring, disc)).join("L")}Z`).join("");
}

function pairs(flat: Float32Array): string[] {
  const result: string[] = [];
  for (let i = 0; i + 1 < flat.length; i += 2)
    result.push(`${(flat[i] as number).toFixed(2)} ${(flat[i + 1] as number).toFixed(2)}`);
  return result;
}

function onScreen(places: ArrayLike<number>, disc: Disc): Float32Array {
  const result = new Float32Array(places.length);
  for (let i = 0; i + 1 < places.length; i += 2) {
    result[i] = disc.x + disc.radius * (places[i] as number);
    result[i + 1] = disc.y - disc.radius * (places[i + 1] as number);
  }
  return result;
}

function dotRadius(count: number): number {
  return Math.max(0.6, 2.4 * Math.pow(Math.max(count, 100) / 100, -0.2));
}
