// SPDX-License-Identifier: MIT
//
// An image whose pixels are the points: grey where it is known how far they are, and the colour of their cluster over it,
// as strong as in the overlays of the command.
import type { Selection } from "../data/selection";
import { card } from "../ui/card";
import { el, onceAFrame } from "../ui/dom";
import { saveAddress } from "../ui/save";
import type { Hello } from "./messages";
import type { Palette } from "./palette";

const COLOUR = 166 / 256;

export class PictureCard {
  readonly element: HTMLElement;
  private readonly canvas = el("canvas", {
    class: "overlay",
    role: "img",
    "aria-label": "The image, coloured by cluster",
  });
  private labels: Int32Array = new Int32Array(0);
  private readonly redraw = onceAFrame(() => this.draw());

  constructor(
    private readonly hello: Hello,
    private readonly colours: Palette,
    private readonly selection: Selection,
  ) {
    const view = card("Image", "image-card", [
      {
        label: "PNG",
        title: "Save the picture as PNG",
        run: () => saveAddress("clusters.png", this.canvas.toDataURL()),
      },
    ]);
    this.canvas.width = hello.width;
    this.canvas.height = hello.height;
    view.say(`${hello.width} × ${hello.height} pixels shown`);
    view.body.append(this.canvas);
    this.element = view.element;
    this.canvas.addEventListener("pointermove", (event) => selection.hover(this.at(event)));
    this.canvas.addEventListener("pointerleave", () => selection.hover(null));
    this.canvas.addEventListener("click", (event) => selection.pick(this.at(event)));
    selection.listen(this.redraw);
  }

  show(labels: Int32Array): void {
    this.labels = labels;
    this.redraw();
  }

  private at(event: MouseEvent): number | null {
    const frame = this.canvas.getBoundingClientRect(),
      x = Math.floor(((event.clientX - frame.left) / frame.width) * this.hello.width),
      y = Math.floor(((event.clientY - frame.top) / frame.height) * this.hello.height),
      label = this.labels[y * this.hello.width + x] ?? -1;
    return label < 0 ? null : label;
  }

  private draw(): void {
    const { width, height, arrays } = this.hello,
      image = new ImageData(width, height),
      { active } = this.selection,
      colours = new Map<number, readonly [number, number, number]>();
    for (let i = 0; i < this.labels.length; i++) {
      const label = this.labels[i] as number,
        grey = arrays.grey?.[i] ?? 128;
      if (!colours.has(label)) colours.set(label, this.colours.rgb(label));
      const colour = colours.get(label) as readonly [number, number, number],
        part = label < 0 ? 0 : active === null || active === label ? COLOUR : 0.15,
        below = label < 0 ? 0 : grey;
      for (let c = 0; c < 3; c++) image.data[4 * i + c] = (colour[c] as number) * part + below * (1 - part);
      image.data[4 * i + 3] = 255;
    }
    this.canvas.getContext("2d", { willReadFrequently: true })?.putImageData(image, 0, 0);
  }
}
