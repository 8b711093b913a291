// SPDX-License-Identifier: MIT
//
// A canvas that is as sharp as the screen: coordinates are CSS pixels.
import { CanvasPen } from "./canvas_pen";
import { el } from "../ui/dom";

export class Canvas {
  readonly element: HTMLCanvasElement;
  readonly pen: CanvasPen;
  private readonly context: CanvasRenderingContext2D;
  private width = 0;
  private height = 0;

  constructor(name: string) {
    this.element = el("canvas", { class: name, "aria-hidden": "true" });
    // Drawn by the processor: what is drawn here is small and changes often, and where there is no graphics card an
    // accelerated canvas takes seconds.
    const context = this.element.getContext("2d", { willReadFrequently: true });
    if (!context) throw new Error("This browser draws no canvas.");
    this.context = context;
    this.pen = new CanvasPen(context);
  }

  /** Sizes it if it has to, empties it, and returns the pen. */
  fresh(width: number, height: number): CanvasPen {
    const ratio = Math.min(devicePixelRatio || 1, 2);
    const wide = Math.max(1, Math.round(width * ratio)),
      high = Math.max(1, Math.round(height * ratio));
    if (wide !== this.width || high !== this.height) {
      this.element.width = this.width = wide;
      this.element.height = this.height = high;
      this.element.style.width = `${width}px`;
      this.element.style.height = `${height}px`;
    }
    this.context.setTransform(ratio, 0, 0, ratio, 0, 0);
    this.context.clearRect(0, 0, width, height);
    return this.pen;
  }
}
