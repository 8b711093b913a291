// SPDX-License-Identifier: MIT
//
// Events as shapes: a triangle up is born, a diamond is revived, a triangle to the right is merged into an older cluster,
// a triangle down died. Shapes, so that nobody has to tell them by colour.
import type { Turning } from "./timeline";

export const LANES: readonly Turning[] = ["born", "revived", "merged", "died"];
export const SIGNS: Record<Turning, string> = { born: "▲", revived: "◆", merged: "▶", died: "▼" };

export function shape(kind: Turning, x: number, y: number, size: number): number[] {
  if (kind === "born") return [x, y - size, x + size, y + size * 0.8, x - size, y + size * 0.8];
  if (kind === "died") return [x, y + size, x + size, y - size * 0.8, x - size, y - size * 0.8];
  if (kind === "merged") return [x + size, y, x - size * 0.8, y + size, x - size * 0.8, y - size];
  return [x, y - size * 1.1, x + size * 0.9, y, x, y + size * 1.1, x - size * 0.9, y];
}
