// SPDX-License-Identifier: MIT
//
// What views draw with. There are two pens, a canvas and an SVG file, so that what is exported is what is seen, drawn by
// the same code.

export interface Style {
  fill?: string;
  stroke?: string;
  width?: number;
  dash?: number[];
  opacity?: number;
}

export interface TextStyle {
  colour: string;
  size: number;
  anchor?: "start" | "middle" | "end";
  weight?: number;
  /** Drawn behind the letters, to keep them legible on anything. */
  halo?: string;
  opacity?: number;
}

export interface Pen {
  /** x0, y0, x1, y1, ... */
  line(places: ArrayLike<number>, closed: boolean, style: Style): void;
  /** A path in the language of SVG. */
  path(d: string, style: Style): void;
  circle(x: number, y: number, radius: number, style: Style): void;
  /** Many dots of one colour: x0, y0, x1, y1, ... */
  dots(places: ArrayLike<number>, radius: number, colour: string, opacity: number): void;
  text(x: number, y: number, words: string, style: TextStyle): void;
  /** What `draw` draws shows only inside this circle. */
  inside(x: number, y: number, radius: number, draw: () => void): void;
}

export const FONT = "system-ui, -apple-system, 'Segoe UI', Roboto, 'Noto Sans', 'DejaVu Sans', sans-serif";
