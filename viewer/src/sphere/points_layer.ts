// SPDX-License-Identifier: MIT
//
// The layer of points, and the same points with a pen.
import type { Colours } from "../data/colours";
import type { Points } from "../data/points";
import type { Pen } from "../draw/pen";
import { el } from "../ui/dom";
import type { Look, Scene } from "./scene";
import { CpuPoints } from "./cpu_points";
import { dotRadius } from "./dot_radius";
import { GlPoints } from "./gl_points";
import type { Box, View } from "./view";

export interface PointsLayer {
  readonly element: HTMLCanvasElement;
  set(points: Points, colours: Colours): void;
  draw(view: View, box: Box, width: number, height: number, look: Look): void;
}

/** WebGL on a graphics card, the processor where there is none or where WebGL only imitates one. */
export function pointsLayer(): PointsLayer {
  const canvas = el("canvas");
  const context = canvas.getContext("webgl2", {
    alpha: true,
    antialias: false,
    powerPreference: "high-performance",
    failIfMajorPerformanceCaveat: true,
  });
  return context && !imitated(context) ? new GlPoints(canvas, context) : new CpuPoints();
}

/** Browsers differ in what they call a major caveat, so the name of the renderer is looked at too. */
function imitated(context: WebGL2RenderingContext): boolean {
  const names = context.getExtension("WEBGL_debug_renderer_info");
  const name = String(context.getParameter(names ? names.UNMASKED_RENDERER_WEBGL : context.RENDERER));
  return /swiftshader|llvmpipe|softpipe|software|basic render/i.test(name);
}

/** The points with a pen, for SVG files: those behind first, the active cluster last. */
export function drawPoints(pen: Pen, scene: Scene, view: View, box: Box, look: Look): void {
  const { points, colours } = scene,
    { active, through } = look;
  const radius = dotRadius(points.count, view.zoom),
    groups = [...points.byLabel()];
  groups.sort(([a], [b]) => Number(a === active) - Number(b === active));
  for (const front of through ? [false, true] : [true])
    for (const [label, indices] of groups) {
      const strength = active === null || label === active ? 1 : 0.15;
      pen.dots(
        placesOf(points, indices, view, box, front),
        front ? radius : 0.7 * radius,
        colours.css(label),
        strength * (front ? 1 : 0.3),
      );
    }
}

function placesOf(points: Points, indices: Uint32Array, view: View, box: Box, front: boolean): number[] {
  const places: number[] = [];
  for (const index of indices) {
    const place = view.place(box, points.at(index));
    if (place.depth >= 0 === front) places.push(place.x, place.y);
  }
  return places;
}
