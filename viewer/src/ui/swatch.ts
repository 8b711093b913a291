// SPDX-License-Identifier: MIT
//
// A cluster in words: its colour and its id, never its colour alone.
import { isLight } from "../data/colours";
import { el } from "./dom";

export function swatch(id: number, colour: string): HTMLElement {
  if (id < 0) return el("span", { class: "swatch none" }, "none");
  const element = el("span", { class: `swatch ${isLight(colour) ? "light" : "deep"}` }, String(id));
  element.style.backgroundColor = colour;
  return element;
}

/** A bar of the cluster's colour under a number. */
export function shareBar(share: number, colour: string, text: string): HTMLElement {
  const bar = el("span", { class: "bar" });
  bar.style.width = `${Math.max(0, Math.min(1, share)) * 100}%`;
  bar.style.backgroundColor = colour;
  return el("span", { class: "share" }, bar, el("span", { class: "share-text" }, text));
}
