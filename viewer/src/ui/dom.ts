// SPDX-License-Identifier: MIT
//
// Elements in one call: el("button", { class: "quiet", onclick: go }, "Go"). Text is always text, never markup.

type Child = Node | string | null | undefined | false;
type Attributes = Record<string, string | number | boolean | null | undefined | ((event: never) => void)>;

export function el<K extends keyof HTMLElementTagNameMap>(
  name: K,
  attributes: Attributes = {},
  ...children: Child[]
): HTMLElementTagNameMap[K] {
  const element = document.createElement(name);
  for (const [key, value] of Object.entries(attributes)) set(element, key, value);
  element.append(...present(children));
  return element;
}

/** Elements of SVG, for the small drawings inside the page. */
export function svg(name: string, attributes: Record<string, string | number>, ...children: Child[]): SVGElement {
  const element = document.createElementNS("http://www.w3.org/2000/svg", name);
  for (const [key, value] of Object.entries(attributes)) element.setAttribute(key, String(value));
  element.append(...present(children));
  return element;
}

function set(element: HTMLElement, key: string, value: Attributes[string]): void {
  if (typeof value === "function") element.addEventListener(key.slice(2), value as EventListener);
  else if (value === true) element.setAttribute(key, "");
  else if (value !== null && value !== undefined && value !== false) element.setAttribute(key, String(value));
}

function present(children: Child[]): (Node | string)[] {
  return children.filter((child): child is Node | string => child !== null && child !== undefined && child !== false);
}

/** Calls `draw` once before the next repaint, however often it is asked for. */
export function onceAFrame(draw: () => void): () => void {
  let waiting = false;
  return () => {
    if (waiting) return;
    waiting = true;
    requestAnimationFrame(() => {
      waiting = false;
      draw();
    });
  };
}

export function isTyping(event: KeyboardEvent): boolean {
  const target = event.target as HTMLElement | null;
  return (
    !!target &&
    (target.isContentEditable ||
      ["TEXTAREA", "SELECT"].includes(target.tagName) ||
      (target instanceof HTMLInputElement && target.type !== "range"))
  );
}
