// SPDX-License-Identifier: MIT
//
// Thousands of small dots of one colour, written as pixels: much faster than asking the canvas for each of them.

interface Bounds {
  left: number;
  top: number;
  width: number;
  height: number;
}

/** Draws squares of `size` CSS pixels at the places; `ratio` is how many pixels of the canvas a CSS pixel has. */
export function rasterDots(
  context: CanvasRenderingContext2D,
  places: ArrayLike<number>,
  size: number,
  rgb: readonly [number, number, number],
  opacity: number,
  ratio: number,
): void {
  const side = Math.max(1, Math.round(size * ratio)),
    bounds = boundsOf(places, ratio, side, context.canvas);
  if (!bounds) return;
  const image = new ImageData(bounds.width, bounds.height),
    pixels = new Uint32Array(image.data.buffer);
  const [red, green, blue] = rgb,
    colour = ((Math.round(255 * opacity) << 24) | (blue << 16) | (green << 8) | red) >>> 0;
  for (let i = 0; i + 1 < places.length; i += 2) {
    const x = Math.round((places[i] as number) * ratio - side / 2) - bounds.left,
      y = Math.round((places[i + 1] as number) * ratio - side / 2) - bounds.top;
    for (let row = Math.max(0, y); row < Math.min(y + side, bounds.height); row++)
      pixels.fill(colour, row * bounds.width + Math.max(0, x), row * bounds.width + Math.min(x + side, bounds.width));
  }
  paint(context, image, bounds);
}

/** Over what is there already, which putImageData alone would replace. */
function paint(context: CanvasRenderingContext2D, image: ImageData, bounds: Bounds): void {
  const scratch = document.createElement("canvas");
  scratch.width = bounds.width;
  scratch.height = bounds.height;
  scratch.getContext("2d", { willReadFrequently: true })?.putImageData(image, 0, 0);
  context.save();
  context.setTransform(1, 0, 0, 1, 0, 0);
  context.drawImage(scratch, bounds.left, bounds.top);
  context.restore();
}

function boundsOf(places: ArrayLike<number>, ratio: number, side: number, canvas: HTMLCanvasElement): Bounds | null {
  let left = Infinity,
    right = -Infinity,
    top = Infinity,
    bottom = -Infinity;
  for (let i = 0; i + 1 < places.length; i += 2) {
    const x = places[i] as number,
      y = places[i + 1] as number;
    if (x < left) left = x;
    if (x > right) right = x;
    if (y < top) top = y;
    if (y > bottom) bottom = y;
  }
  const start = {
    left: Math.max(0, Math.floor(left * ratio) - side),
    top: Math.max(0, Math.floor(top * ratio) - side),
  };
  const width = Math.min(canvas.width, Math.ceil(right * ratio) + side + 1) - start.left,
    height = Math.min(canvas.height, Math.ceil(bottom * ratio) + side + 1) - start.top;
  return width > 0 && height > 0 ? { ...start, width, height } : null;
}
