// SPDX-License-Identifier: MIT
//
// The pen that writes an SVG file.
import { FONT } from "./pen";
import type { Pen, Style, TextStyle } from "./pen";

export class SvgPen implements Pen {
  private readonly parts: string[] = [];
  private clips = 0;

  constructor(
    private readonly width: number,
    private readonly height: number,
    private readonly title: string,
    background: string,
  ) {
    this.parts.push(`<rect width="${width}" height="${height}" fill="${background}"/>`);
  }

  /** The file. */
  finish(): string {
    const size = `width="${this.width}" height="${this.height}" viewBox="0 0 ${this.width} ${this.height}"`;
    return `<svg xmlns="http://www.w3.org/2000/svg" ${size} font-family="${FONT}">\n<title>${text(this.title)}</title>\n${this.parts.join("\n")}\n</svg>\n`;
  }

  line(places: ArrayLike<number>, closed: boolean, style: Style): void {
    let d = "";
    for (let i = 0; i + 1 < places.length; i += 2) d += `${i ? "L" : "M"}${at(places[i])} ${at(places[i + 1])}`;
    if (d) this.path(closed ? `${d}Z` : d, style);
  }

  path(d: string, style: Style): void {
    this.parts.push(
      `<path d="${d.replace(/-?\d+\.\d{3,}(e-?\d+)?/g, (number) => at(Number(number)))}"${attributes(style)}/>`,
    );
  }

  circle(x: number, y: number, radius: number, style: Style): void {
    this.parts.push(`<circle cx="${at(x)}" cy="${at(y)}" r="${at(radius)}"${attributes(style)}/>`);
  }

  // One path for all: dots are lines of no length with round ends.
  dots(places: ArrayLike<number>, radius: number, colour: string, opacity: number): void {
    let d = "";
    for (let i = 0; i + 1 < places.length; i += 2) d += `M${at(places[i])} ${at(places[i + 1])}h0`;
    const stroke = `stroke="${colour}" stroke-width="${at(2 * radius)}" stroke-linecap="round"`;
    if (d) this.parts.push(`<path d="${d}" fill="none" ${stroke}${opacity < 1 ? ` opacity="${at(opacity)}"` : ""}/>`);
  }

  text(x: number, y: number, words: string, style: TextStyle): void {
    const halo = style.halo
      ? ` paint-order="stroke" stroke="${style.halo}" stroke-width="3" stroke-linejoin="round"`
      : "";
    const look = `fill="${style.colour}" font-size="${style.size}" font-weight="${style.weight ?? 400}" text-anchor="${style.anchor ?? "start"}"`;
    this.parts.push(
      `<text x="${at(x)}" y="${at(y)}" ${look}${halo}${style.opacity !== undefined ? ` opacity="${at(style.opacity)}"` : ""}>${text(words)}</text>`,
    );
  }

  inside(x: number, y: number, radius: number, draw: () => void): void {
    const id = `clip${this.clips++}`;
    this.parts.push(
      `<clipPath id="${id}"><circle cx="${at(x)}" cy="${at(y)}" r="${at(radius)}"/></clipPath><g clip-path="url(#${id})">`,
    );
    draw();
    this.parts.push("</g>");
  }
}

function attributes(style: Style): string {
  const stroke = style.stroke
    ? ` stroke="${style.stroke}" stroke-width="${style.width ?? 1}" stroke-linejoin="round" stroke-linecap="round"`
    : "";
  const dash = style.dash?.length ? ` stroke-dasharray="${style.dash.join(" ")}"` : "";
  const opacity = style.opacity !== undefined && style.opacity < 1 ? ` opacity="${at(style.opacity)}"` : "";
  return ` fill="${style.fill ?? "none"}"${stroke}${dash}${opacity}`;
}

function at(value: number | undefined): string {
  return String(Math.round((value ?? 0) * 100) / 100);
}

function text(words: string): string {
  return words.replaceAll("&", "&amp;").replaceAll("<", "&lt;").replaceAll(">", "&gt;");
}
