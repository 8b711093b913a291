// SPDX-License-Identifier: MIT
//
// Words on the map: what the largest clusters are about, at the middle of their rows, as long as there is room.
import { SCALE } from "../data/points";
import type { Pen } from "../draw/pen";
import type { Inks } from "../ui/theme";
import type { MapData } from "./map";

export interface Caption {
  id: number;
  text: string;
  x: number;
  y: number;
}

const MOST = 60;
const SIZE = 12;
const LETTER = 0.56 * SIZE;

/** Largest clusters first. The middle is the median of each coordinate: a few rows far away do not move it. */
export function captionsOf(data: MapData, words: (id: number) => string): Caption[] {
  const rows = new Map<number, number[]>();
  data.labels.forEach((label, i) => {
    if (label < 0) return;
    const list = rows.get(label);
    if (list) list.push(i);
    else rows.set(label, [i]);
  });
  const median = (list: number[], offset: number): number => {
    const values = list.map((i) => data.xy[2 * i + offset] as number).sort((a, b) => a - b);
    return (values[values.length >> 1] as number) / SCALE;
  };
  return [...rows]
    .sort(([a, one], [b, other]) => other.length - one.length || a - b)
    .slice(0, MOST)
    .map(([id, list]) => ({ id, text: words(id), x: median(list, 0), y: median(list, 1) }));
}

/** Those that would cover another one are left out; the active one comes first. */
export function drawCaptions(
  pen: Pen,
  captions: readonly Caption[],
  active: number | null,
  place: (at: Caption) => { x: number; y: number },
  size: { width: number; height: number },
  ink: Inks,
): void {
  const taken: { left: number; right: number; y: number }[] = [];
  const order = [...captions].sort((a, b) => Number(b.id === active) - Number(a.id === active));
  for (const caption of order) {
    const { x, y } = place(caption),
      half = (caption.text.length * LETTER) / 2 + 3;
    if (x - half < 0 || x + half > size.width || y < SIZE || y > size.height) continue;
    if (taken.some((box) => Math.abs(box.y - y) < SIZE + 3 && x - half < box.right && x + half > box.left)) continue;
    taken.push({ left: x - half, right: x + half, y });
    const weight = caption.id === active ? 700 : 600,
      opacity = active === null || caption.id === active ? 1 : 0.35;
    pen.text(x, y + 4, caption.text, { colour: ink.ink, size: SIZE, weight, anchor: "middle", halo: ink.card, opacity });
  }
}
