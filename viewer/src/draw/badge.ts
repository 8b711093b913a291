// SPDX-License-Identifier: MIT
//
// The mean of a cluster: a disc of its colour with its id; for a cluster without points now, a dashed ring.
import { isLight } from "../data/colours";
import type { Inks } from "../ui/theme";
import type { Pen } from "./pen";

export interface Badge {
  id: number;
  colour: string;
  faint: boolean;
  /** Whether there is room for the id. */
  named: boolean;
  radius: number;
  opacity: number;
}

export function drawBadge(pen: Pen, x: number, y: number, badge: Badge, ink: Inks): void {
  const { id, colour, faint, named, opacity } = badge,
    radius = named ? badge.radius : badge.radius * 0.37;
  pen.circle(x, y, radius + 1.5, { fill: ink.halo, opacity: 0.8 * opacity });
  if (faint) drawRing(pen, x, y, radius, colour, opacity, ink);
  else pen.circle(x, y, radius, { fill: colour, stroke: ink.ink, width: 1.4, opacity });
  if (!named) return;
  const size = badge.radius * (id > 999 ? 0.85 : id > 99 ? 0.95 : 1.15),
    letters = faint ? ink.ink : isLight(colour) ? "#000" : "#fff";
  pen.text(x, y + size * 0.36, String(id), { colour: letters, size, weight: 700, anchor: "middle", opacity });
}

function drawRing(pen: Pen, x: number, y: number, radius: number, colour: string, opacity: number, ink: Inks): void {
  pen.circle(x, y, radius, { fill: ink.card, stroke: ink.muted, width: 1.2, dash: [2.5, 3], opacity });
  pen.circle(x, y, Math.max(0.5, radius - 2), { stroke: colour, width: 2, opacity });
}
