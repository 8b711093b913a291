// SPDX-License-Identifier: MIT
//
// What every report has around its views: the head with the title and a few large numbers, and the card that says how
// the result came about and how to get it again.
import type { Report, Value } from "../data/types";
import { card } from "./card";
import { copyText } from "./copy";
import { el, svg } from "./dom";
import { number, words } from "./format";
import { setTheme, theme } from "./theme";
import type { Theme } from "./theme";

export interface Fact {
  value: string;
  label: string;
}

export interface Head {
  element: HTMLElement;
  /** For the state of a live stream. */
  state: HTMLElement;
  facts(facts: Fact[]): void;
  title(text: string): void;
}

export function head(report: { title: string; version: string }): Head {
  const title = el("h1", {}, report.title),
    facts = el("dl", { class: "facts" }),
    state = el("div", { class: "state", role: "status", "aria-live": "polite" });
  const version = report.version ? el("span", { class: "version" }, `asterism ${report.version}`) : null;
  const element = el(
    "header",
    { class: "page-head" },
    el("div", { class: "brand" }, logo(), el("div", {}, title, version)),
    state,
    facts,
    themeButton(),
  );
  return {
    element,
    state,
    title: (text) => (title.textContent = text),
    facts: (list) =>
      facts.replaceChildren(...list.map((fact) => el("div", {}, el("dd", {}, fact.value), el("dt", {}, fact.label)))),
  };
}

/** Three stars, the typographer's asterism. */
function logo(): SVGElement {
  const star = (x: number, y: number, size: number): SVGElement =>
    svg("path", {
      d: `M${x} ${y - size}L${x + size * 0.24} ${y - size * 0.24}L${x + size} ${y}L${x + size * 0.24} ${y + size * 0.24}L${x} ${y + size}L${x - size * 0.24} ${y + size * 0.24}L${x - size} ${y}L${x - size * 0.24} ${y - size * 0.24}Z`,
    });
  return svg(
    "svg",
    { viewBox: "0 0 32 32", class: "logo", "aria-hidden": "true" },
    star(16, 8.5, 8),
    star(8, 22.5, 7),
    star(24, 22.5, 7),
  );
}

function themeButton(): HTMLElement {
  const names: Record<Theme, string> = { auto: "◐ Auto", light: "○ Light", dark: "● Dark" },
    order: Theme[] = ["auto", "light", "dark"];
  const button = el("button", { type: "button", class: "theme", title: "Light, dark, or as the system says" });
  const label = (): void => {
    button.textContent = names[theme()];
    button.setAttribute("aria-label", `Colours: ${theme()}. Change them`);
  };
  button.addEventListener("click", () => {
    setTheme(order[(order.indexOf(theme()) + 1) % order.length] as Theme);
    label();
  });
  label();
  return button;
}

/** Notes for the reader, above everything else. */
export function notesCard(notes: string[]): HTMLElement | null {
  if (notes.length === 0) return null;
  return el("aside", { class: "notes", "aria-label": "Notes" }, ...notes.map((note) => el("p", {}, note)));
}

/** The command, parameters and measures. */
export function originCard(report: Report): HTMLElement {
  const { element, body } = card("How it was made", "origin");
  if (report.command) body.append(commandLine(report.command));
  body.append(el("div", { class: "lists" }, list("Parameters", report.parameters), list("Measures", report.measures)));
  return element;
}

function commandLine(command: string): HTMLElement {
  const text = el("code", {}, ...unbroken(command)),
    button = el("button", { type: "button", class: "export copy", "aria-label": "Copy the command" }, "Copy");
  button.addEventListener("click", () => {
    void copyText(command, text).then((done) => {
      button.textContent = done ? "Copied" : "Press Ctrl+C";
      setTimeout(() => (button.textContent = "Copy"), 1600);
    });
  });
  return el("div", { class: "command" }, el("pre", { tabindex: 0, "aria-label": "Command" }, text), button);
}

/** Lines break between words, not after the hyphens of an option; only what is very long may break anywhere. */
export function unbroken(command: string): (Node | string)[] {
  return command
    .split(/( +)/)
    .map((word) => (word.length < 50 && word.trim() ? el("span", { class: "word" }, word) : word));
}

function list(title: string, values: Record<string, Value>): HTMLElement | null {
  const entries = Object.entries(values);
  if (entries.length === 0) return null;
  const rows = entries.map(([name, value]) => el("div", {}, el("dt", {}, words(name)), el("dd", {}, shown(value))));
  return el("div", {}, el("h3", {}, title), el("dl", {}, ...rows));
}

function shown(value: Value): string {
  if (value === null || value === "") return "–";
  if (typeof value === "boolean") return value ? "yes" : "no";
  return typeof value === "number" ? number(value) : String(value);
}
