// SPDX-License-Identifier: MIT
//
// A card: a heading, some words beside it, the buttons that take its content along, and the content.
import { el } from "./dom";

export interface Action {
  label: string;
  title: string;
  run: () => void;
}

export interface Card {
  element: HTMLElement;
  /** Words right of the heading, such as how many there are. */
  say(text: string): void;
  /** Controls of the view, left of the export buttons. */
  tools: HTMLElement;
  body: HTMLElement;
}

let made = 0;

export function card(title: string, name: string, actions: Action[] = []): Card {
  const id = `card-${made++}`;
  const remark = el("span", { class: "remark" });
  const tools = el("div", { class: "tools" });
  const buttons = el("div", { class: "exports" }, ...actions.map(actionButton));
  const body = el("div", { class: "card-body" });
  const heading = el("header", {}, el("h2", { id }, title), remark, tools, buttons);
  const element = el("section", { class: `card ${name}`, "aria-labelledby": id }, heading, body);
  return { element, tools, body, say: (text) => (remark.textContent = text) };
}

export function actionButton(action: Action): HTMLButtonElement {
  const icon = action.label === "Copy" ? null : "⤓ ";
  return el(
    "button",
    { type: "button", class: "export", title: action.title, "aria-label": action.title, onclick: action.run },
    icon,
    action.label,
  );
}

/** A button that is on or off. */
export function toggle(label: string, title: string, on: boolean, change: (on: boolean) => void): HTMLButtonElement {
  const button = el("button", { type: "button", class: "toggle", title, "aria-pressed": String(on) }, label);
  button.addEventListener("click", () => {
    const now = button.getAttribute("aria-pressed") !== "true";
    button.setAttribute("aria-pressed", String(now));
    change(now);
  });
  return button;
}
