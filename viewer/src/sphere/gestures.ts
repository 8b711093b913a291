// SPDX-License-Identifier: MIT
//
// Hands on the sphere: drag turns, two fingers or the wheel zoom (the wheel only once the sphere has the focus, so that
// the page still scrolls), a click picks, keys do all of it too.
import type { View } from "./view";

export interface Hands {
  /** Something about the view changed. */
  moved(): void;
  /** The pointer is at a place and drags nothing; null when it left. */
  pointed(place: { x: number; y: number } | null): void;
  clicked(place: { x: number; y: number }): void;
}

interface Finger {
  x: number;
  y: number;
}

const CLICK_SLACK = 4;

export function handle(
  element: HTMLElement,
  view: View,
  radius: () => number,
  hands: Hands,
  plainArrows: boolean,
): void {
  const fingers = new Map<number, Finger>();
  let travelled = 0;

  element.addEventListener("pointerdown", (event) => {
    if (event.button !== 0) return;
    if (event.target !== element && (event.target as Element).closest("button")) return;
    element.setPointerCapture(event.pointerId);
    fingers.set(event.pointerId, placeOf(element, event));
    if (fingers.size === 1) travelled = 0;
  });
  element.addEventListener("pointermove", (event) => {
    const place = placeOf(element, event),
      before = fingers.get(event.pointerId);
    if (!before) return hands.pointed(place);
    travelled += Math.hypot(place.x - before.x, place.y - before.y);
    if (fingers.size === 2) pinch(view, fingers, event.pointerId, place);
    else if (travelled > CLICK_SLACK) view.turn((place.x - before.x) / radius(), (before.y - place.y) / radius());
    fingers.set(event.pointerId, place);
    if (travelled > CLICK_SLACK) hands.pointed(null);
    hands.moved();
  });
  const lift = (event: PointerEvent): void => {
    if (!fingers.delete(event.pointerId)) return;
    if (event.type === "pointerup" && travelled <= CLICK_SLACK) hands.clicked(placeOf(element, event));
  };
  element.addEventListener("pointerup", lift);
  element.addEventListener("pointercancel", lift);
  element.addEventListener("pointerleave", () => hands.pointed(null));
  element.addEventListener("wheel", (event) => wheel(element, view, hands, event), { passive: false });
  element.addEventListener("keydown", (event) => {
    if (!key(view, event, plainArrows)) return;
    event.preventDefault();
    event.stopPropagation();
    hands.moved();
  });
}

function placeOf(element: HTMLElement, event: MouseEvent): Finger {
  const frame = element.getBoundingClientRect();
  return { x: event.clientX - frame.left, y: event.clientY - frame.top };
}

function pinch(view: View, fingers: Map<number, Finger>, moved: number, place: Finger): void {
  const still = [...fingers].find(([id]) => id !== moved)?.[1],
    before = fingers.get(moved);
  if (!still || !before) return;
  const was = Math.hypot(before.x - still.x, before.y - still.y),
    is = Math.hypot(place.x - still.x, place.y - still.y);
  if (was > 1) view.zoomBy(is / was);
}

function wheel(element: HTMLElement, view: View, hands: Hands, event: WheelEvent): void {
  if (!event.ctrlKey && !event.metaKey && document.activeElement !== element) return;
  event.preventDefault();
  view.zoomBy(Math.exp(-event.deltaY * (event.deltaMode === 1 ? 0.05 : 0.0015)));
  hands.moved();
}

/** Whether the key did something. Plain arrows may belong to somebody else; with Shift they always turn. */
function key(view: View, event: KeyboardEvent, plainArrows: boolean): boolean {
  const step = 0.12,
    arrows = plainArrows || event.shiftKey;
  if (event.ctrlKey || event.metaKey || event.altKey) return false;
  if (event.key === "ArrowLeft" && arrows) view.turn(-step, 0);
  else if (event.key === "ArrowRight" && arrows) view.turn(step, 0);
  else if (event.key === "ArrowUp" && arrows) view.turn(0, step);
  else if (event.key === "ArrowDown" && arrows) view.turn(0, -step);
  else if (event.key === "+" || event.key === "=") view.zoomBy(1.2);
  else if (event.key === "-") view.zoomBy(1 / 1.2);
  else if (event.key === "0") view.reset();
  else return false;
  return true;
}
