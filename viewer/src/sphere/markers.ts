// SPDX-License-Identifier: MIT
//
// Over the points: where the means have been, how far each cluster spreads, and the means with their ids.
import { drawBadge } from "../draw/badge";
import type { Pen } from "../draw/pen";
import type { Vec3 } from "../data/types";
import { add, angle, scale, smallCircle, unit } from "../math/vector";
import { drawSplit } from "./globe";
import { MOST_CIRCLES, MOST_MEANS, MOST_NAMES } from "./scene";
import type { Look, Marker, Scene, Trail } from "./scene";
import type { Box, View } from "./view";

export function drawMarkers(pen: Pen, scene: Scene, view: View, box: Box, look: Look): void {
  const { active } = look;
  for (const trail of scene.trails) drawTrail(pen, scene, trail, view, box, look);
  const shown = scene.markers.filter((marker, rank) => rank < MOST_MEANS || marker.id === active);
  const circled = shown.filter((marker, rank) => rank < MOST_CIRCLES || marker.id === active);
  for (const marker of circled) drawSpread(pen, scene, marker, view, box, look);
  // The last drawn is on top: the largest cluster over smaller ones, the active one over all.
  const order = [...shown].reverse().sort((a, b) => Number(a.id === active) - Number(b.id === active));
  for (const marker of order) drawMean(pen, scene, marker, view, box, look);
}

/** How much of a marker is seen while another one is active. */
function presence(id: number, active: number | null): number {
  return active === null || active === id ? 1 : 0.25;
}

function drawSpread(pen: Pen, scene: Scene, marker: Marker, view: View, box: Box, look: Look): void {
  if (marker.spread === null || marker.spread <= 0 || marker.faint) return;
  const { ink, active } = look,
    ring = smallCircle(marker.xyz, Math.min(marker.spread, 179)),
    opacity = presence(marker.id, active);
  const draw = (stroke: string, width: number, strength: number): void =>
    drawSplit(pen, view, box, ring, true, { stroke, width, opacity: strength * opacity }, 0);
  if (marker.id === active) {
    draw(ink.halo, 4.5, 0.75);
    draw(ink.ink, 2.8, 1);
  } else {
    draw(ink.halo, 3.5, 0.75);
    draw(scene.colours.css(marker.id), 1.8, 1);
    draw(ink.ink, 0.8, 0.7);
  }
}

function drawMean(pen: Pen, scene: Scene, marker: Marker, view: View, box: Box, look: Look): void {
  const { id, faint } = marker,
    place = view.place(box, marker.xyz),
    lit = id === look.active;
  const named = scene.markers.length <= MOST_NAMES || lit || scene.markers.indexOf(marker) < MOST_NAMES / 2;
  const behind = place.depth < -0.02;
  if (behind && !look.through && !lit) return;
  const opacity = presence(id, look.active) * (behind ? 0.4 : 1),
    colour = scene.colours.css(id);
  drawBadge(pen, place.x, place.y, { id, colour, faint, named, radius: lit ? 11 : 9.5, opacity }, look.ink);
}

/** A trail fades into the past; it is drawn in a few pieces, each of one strength. */
function drawTrail(pen: Pen, scene: Scene, trail: Trail, view: View, box: Box, look: Look): void {
  const places = alongSphere(trail.places),
    last = places.length - 1,
    pieces = Math.min(6, last);
  for (let piece = 0; piece < pieces; piece++) {
    const part = places.slice(Math.floor((piece * last) / pieces), Math.floor(((piece + 1) * last) / pieces) + 1);
    const opacity = presence(trail.id, look.active) * (0.25 + (0.75 * (piece + 1)) / pieces);
    drawSplit(pen, view, box, part, false, { stroke: look.ink.halo, width: 4.5, opacity: 0.6 * opacity }, 0);
    const colour = scene.colours.css(trail.id);
    drawSplit(pen, view, box, part, false, { stroke: colour, width: 2.5, opacity }, look.through ? 0.3 : 0);
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
