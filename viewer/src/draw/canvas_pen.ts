// SPDX-License-Identifier: MIT
//
// The pen that draws on the screen.
import { FONT } from "./pen";
import { channels } from "../data/colours";
import { rasterDots } from "./dot_raster";
import type { Pen, Style, TextStyle } from "./pen";

const LEAST_ROUND = 1.6;
const MANY = 1000;

export class CanvasPen implements Pen {
  constructor(private readonly context: CanvasRenderingContext2D) {}

  line(places: ArrayLike<number>, closed: boolean, style: Style): void {
    const { context } = this;
    context.beginPath();
    for (let i = 0; i + 1 < places.length; i += 2) context.lineTo(places[i] as number, places[i + 1] as number);
    if (closed) context.closePath();
    this.paint(style);
  }

  path(d: string, style: Style): void {
    this.paint(style, new Path2D(d));
  }

  circle(x: number, y: number, radius: number, style: Style): void {
    this.context.beginPath();
    this.context.arc(x, y, radius, 0, 2 * Math.PI);
    this.paint(style);
  }

  // Squares while they are too small to tell: ten times as fast as arcs.
  dots(places: ArrayLike<number>, radius: number, colour: string, opacity: number): void {
    const { context } = this,
      size = 1.8 * radius;
    if (radius < LEAST_ROUND && places.length > MANY) {
      rasterDots(context, places, size, channels(colour), opacity, context.getTransform().a);
      return;
    }
    context.fillStyle = colour;
    context.globalAlpha = opacity;
    for (let i = 0; i + 1 < places.length; i += 2) {
      const x = places[i] as number,
        y = places[i + 1] as number;
      if (radius < LEAST_ROUND) context.fillRect(x - size / 2, y - size / 2, size, size);
      else this.disc(x, y, radius);
    }
    context.globalAlpha = 1;
  }

  text(x: number, y: number, words: string, style: TextStyle): void {
    const { context } = this;
    context.font = `${style.weight ?? 400} ${style.size}px ${FONT}`;
    context.textAlign = style.anchor === "middle" ? "center" : (style.anchor ?? "start");
    context.textBaseline = "alphabetic";
    context.globalAlpha = style.opacity ?? 1;
    if (style.halo) {
      context.lineWidth = 3;
      context.lineJoin = "round";
      context.strokeStyle = style.halo;
      context.strokeText(words, x, y);
    }
    context.fillStyle = style.colour;
    context.fillText(words, x, y);
    context.globalAlpha = 1;
  }

  inside(x: number, y: number, radius: number, draw: () => void): void {
    const { context } = this;
    context.save();
    context.beginPath();
    context.arc(x, y, radius, 0, 2 * Math.PI);
    context.clip();
    draw();
    context.restore();
  }

  private disc(x: number, y: number, radius: number): void {
    this.context.beginPath();
    this.context.arc(x, y, radius, 0, 2 * Math.PI);
    this.context.fill();
  }

  private paint(style: Style, path?: Path2D): void {
    const { context } = this;
    context.globalAlpha = style.opacity ?? 1;
    if (style.fill) {
      context.fillStyle = style.fill;
      if (path) context.fill(path);
      else context.fill();
    }
    if (style.stroke) {
      context.strokeStyle = style.stroke;
      context.lineWidth = style.width ?? 1;
      context.lineJoin = context.lineCap = "round";
      context.setLineDash(style.dash ?? []);
      if (path) context.stroke(path);
      else context.stroke();
    }
    context.globalAlpha = 1;
  }
}
