// SPDX-License-Identifier: MIT
//
// The bar at the foot of a stream: play, step, scrub, follow; and the keys that do the same from anywhere on the page.
import { el, isTyping } from "../ui/dom";
import type { Player } from "./player";
import type { Timeline } from "./timeline";

const SPEEDS = [1, 2, 5, 10, 30];

export interface Transport {
  element: HTMLElement;
  update(): void;
}

export function transport(player: Player, timeline: () => Timeline, live: boolean): Transport {
  const play = el("button", { type: "button", class: "play", onclick: () => player.toggle() });
  const back = button("‹", "Frame before (left)", () => player.step(-1)),
    next = button("›", "Next frame (right)", () => player.step(1));
  const range = el("input", {
    type: "range",
    min: 0,
    max: 0,
    value: 0,
    step: 1,
    class: "scrubber",
    "aria-label": "Frame",
  });
  range.addEventListener("input", () => player.seek(Number(range.value)));
  const label = el("output", { class: "frame-label", "aria-live": "off" });
  const follow = el(
    "button",
    {
      type: "button",
      class: "toggle follow",
      title: "Always show the newest frame (End)",
      onclick: () => player.follow(!player.following),
    },
    "Follow",
  );
  const element = el(
    "div",
    { class: "transport", role: "group", "aria-label": "Frames" },
    play,
    back,
    next,
    range,
    label,
    speed(player),
    live ? follow : null,
  );
  const update = (): void => {
    const { index, count, playing, following } = player,
      frame = timeline().frames[index];
    play.textContent = playing ? "❚❚" : "▶";
    play.setAttribute("aria-label", playing ? "Pause (space)" : "Play (space)");
    play.title = playing ? "Pause (space)" : "Play (space)";
    play.disabled = count < 2;
    back.disabled = index <= 0;
    next.disabled = index >= count - 1;
    range.max = String(Math.max(0, count - 1));
    range.value = String(index);
    range.disabled = count < 2;
    range.setAttribute("aria-valuetext", frame ? `frame ${frame.frame}` : "no frame");
    label.textContent = frame ? `frame ${frame.frame} · ${index + 1} of ${count}` : "no frame yet";
    follow.setAttribute("aria-pressed", String(following));
  };
  document.addEventListener("keydown", (event) => key(player, live, event));
  update();
  return { element, update };
}

function button(label: string, title: string, run: () => void): HTMLButtonElement {
  return el("button", { type: "button", class: "step", title, "aria-label": title, onclick: run }, label);
}

function speed(player: Player): HTMLElement {
  const choices = SPEEDS.map((value) =>
    el("option", { value, selected: value === player.framesPerSecond }, `${value} / s`),
  );
  const select = el("select", { "aria-label": "Frames a second", title: "Frames a second" }, ...choices);
  select.addEventListener("change", () => (player.framesPerSecond = Number(select.value)));
  return select;
}

function key(player: Player, live: boolean, event: KeyboardEvent): void {
  if (isTyping(event) || event.ctrlKey || event.metaKey || event.altKey) return;
  const onButton = (event.target as Element | null)?.closest?.("button, summary, a") !== null;
  if (event.key === "ArrowLeft") player.step(event.shiftKey ? -10 : -1);
  else if (event.key === "ArrowRight") player.step(event.shiftKey ? 10 : 1);
  else if (event.key === " " && !onButton) player.toggle();
  else if (event.key === "Home") player.seek(0);
  else if (event.key === "End") live ? player.follow(true) : player.seek(player.count - 1);
  else return;
  event.preventDefault();
}
