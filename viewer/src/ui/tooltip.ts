// SPDX-License-Identifier: MIT
//
// A few words beside the pointer. There is one tooltip for the whole page.
import { el } from "./dom";

let box: HTMLElement | null = null;

export function showTooltip(clientX: number, clientY: number, ...content: (Node | string)[]): void {
  box ??= document.body.appendChild(el("div", { class: "tooltip", role: "status" }));
  box.replaceChildren(...content);
  box.hidden = false;
  const { width, height } = box.getBoundingClientRect();
  const left = clientX + 14 + width > innerWidth ? clientX - width - 10 : clientX + 14;
  const top = clientY + 14 + height > innerHeight ? clientY - height - 10 : clientY + 14;
  box.style.left = `${Math.max(4, left)}px`;
  box.style.top = `${Math.max(4, top)}px`;
}

export function hideTooltip(): void {
  if (box) box.hidden = true;
}
