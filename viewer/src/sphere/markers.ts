// SPDX-License-Identifier: MIT
//
// Over the points: where the means have been, how far each cluster spreads, and the means with their ids.
import { isLight } from "../data/colours";
import type { Pen } from "../draw/pen";
import type { Vec3 } from "../data/types";
import { add, angle, scale, smallCircle, unit } from "../math/vector";
import type { Inks } from "../ui/theme";
import { drawSplit } from "./globe";
import { MOST_CIRCLES, MOST_MEANS, MOST_NAMES } from "./scene";
import type { Marker, Scene, Trail } from "./scene";
import type { Box, View } from "./view";

export function drawMarkers(pen: Pen, scene: Scene, view: View, box: Box, ink: Inks, active: number | null): void {
  for (const trail of scene.trails) drawTrail(pen, scene, trail, view, box, ink, active);
  const shown = scene.markers.filter((marker, rank) => rank < MOST_MEANS || marker.id === active);
  const circled = shown.filter((marker, rank) => rank < MOST_CIRCLES || marker.id === active);
  for (const marker of circled) drawSpread(pen, scene, marker, view, box, ink, active);
  // The last drawn is on top: the largest cluster over smaller ones, the active one over all.
  const order = [...shown].reverse().sort((a, b) => Number(a.id === active) - Number(b.id === active));
  for (const marker of order) drawMean(pen, scene, marker, view, box, ink, active);
}

/** How much of a marker is seen while another one is active. */
function presence(id: number, active: number | null): number {
  return active === null || active === id ? 1 : 0.25;
}

function drawSpread(
  pen: Pen,
  scene: Scene,
  marker: Marker,
  view: View,
  box: Box,
  ink: Inks,
  active: number | null,
): void {
  if (marker.spread === null || marker.spread <= 0 || marker.faint) return;
  const ring = smallCircle(marker.xyz, Math.min(marker.spread, 179)),
    opacity = presence(marker.id, active);
  const strong = marker.id === active ? 1 : 0;
  drawSplit(pen, view, box, ring, true, { stroke: ink.halo, width: 3.5 + strong, opacity: 0.75 * opacity }, 0);
  drawSplit(
    pen,
    view,
    box,
    ring,
    true,
    { stroke: strong ? ink.ink : scene.colours.css(marker.id), width: 1.8 + strong, opacity },
    0,
  );
  if (!strong) drawSplit(pen, view, box, ring, true, { stroke: ink.ink, width: 0.8, opacity: 0.7 * opacity }, 0);
}

function drawMean(
  pen: Pen,
  scene: Scene,
  marker: Marker,
  view: View,
  box: Box,
  ink: Inks,
  active: number | null,
): void {
  const place = view.place(box, marker.xyz);
  const named =
    scene.markers.length <= MOST_NAMES || marker.id === active || scene.markers.indexOf(marker) < MOST_NAMES / 2;
  const behind = place.depth < -0.02;
  if (behind && marker.id !== active) return;
  const colour = scene.colours.css(marker.id),
    radius = named ? (marker.id === active ? 11 : 9.5) : 3.5;
  const opacity = presence(marker.id, active) * (behind ? 0.5 : 1) * (marker.faint ? 0.65 : 1);
  const look = marker.faint
    ? { fill: ink.card, stroke: colour, width: 2, dash: [3, 3] }
    : { fill: colour, stroke: ink.ink, width: 1.5 };
  pen.circle(place.x, place.y, radius + 1.5, { fill: ink.halo, opacity: 0.8 * opacity });
  pen.circle(place.x, place.y, radius, { ...look, opacity });
  if (!named) return;
  const letters = marker.faint ? ink.ink : isLight(colour) ? "#000" : "#fff";
  const size = marker.id > 999 ? 8 : marker.id > 99 ? 9 : 11;
  pen.text(place.x, place.y + size * 0.36, String(marker.id), {
    colour: letters,
    size,
    weight: 700,
    anchor: "middle",
    opacity,
  });
}

/** A trail fades into the past; it is drawn in a few pieces, each of one strength. */
function drawTrail(pen: Pen, scene: Scene, trail: Trail, view: View, box: Box, ink: Inks, active: number | null): void {
  const places = alongSphere(trail.places),
    pieces = Math.min(6, places.length - 1),
    all = presence(trail.id, active);
  for (let piece = 0; piece < pieces; piece++) {
    const start = Math.floor((piece * (places.length - 1)) / pieces),
      end = Math.floor(((piece + 1) * (places.length - 1)) / pieces);
    const part = places.slice(start, end + 1),
      opacity = all * (0.25 + (0.75 * (piece + 1)) / pieces);
    drawSplit(pen, view, box, part, false, { stroke: ink.halo, width: 4.5, opacity: 0.6 * opacity }, 0);
    drawSplit(pen, view, box, part, false, { stroke: scene.colours.css(trail.id), width: 2.5, opacity }, 0.25);
  }
}

/** A mean that jumped is joined to where it was along the sphere, not through it. */
function alongSphere(places: readonly Vec3[]): Vec3[] {
  const line: Vec3[] = [];
  places.forEach((place, i) => {
    const before = places[i - 1],
      pieces = before ? Math.min(24, Math.ceil(angle(before, place) / 4)) : 1;
    for (let piece = 1; before && piece < pieces; piece++)
      line.push(unit(add(scale(before, 1 - piece / pieces), scale(place, piece / pieces)), place));
    line.push(place);
  });
  return line;
}
