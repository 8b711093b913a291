// SPDX-License-Identifier: MIT
//
// The controls of the sphere and of the nets, the same in every report.
import type { Nets } from "../net/nets";
import type { Sphere } from "../sphere/sphere";
import { toggle } from "./card";
import { el } from "./dom";

export function sphereTools(sphere: Sphere): HTMLElement[] {
  const button = (label: string, title: string, run: () => void): HTMLElement =>
    el("button", { type: "button", class: "tool", title, "aria-label": title, onclick: run }, label);
  return [
    toggle("See through", "Show the far side too", sphere.isThrough, (on) => sphere.seeThrough(on)),
    button("−", "Zoom out", () => sphere.zoom(1 / 1.3)),
    button("+", "Zoom in", () => sphere.zoom(1.3)),
    button("Reset", "Turn and zoom back", () => sphere.reset()),
  ];
}

export function netTools(nets: Nets): HTMLElement[] {
  return [
    toggle("Points", "Show the points", true, (on) => nets.dots(on)),
    toggle("Density", "Show contours of density", true, (on) => nets.shades(on)),
  ];
}
