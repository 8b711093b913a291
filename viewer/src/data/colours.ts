// SPDX-License-Identifier: MIT
//
// One colour for every cluster, as the data gives it, and a grey for what belongs to none.

const NONE = "#8a8f98";

export class Colours {
  private readonly known: Map<number, string>;

  constructor(entries: Iterable<readonly [number, string]>) {
    this.known = new Map(entries);
  }

  static of(colors: Record<string, string>): Colours {
    return new Colours(Object.entries(colors).map(([id, colour]) => [Number(id), colour] as const));
  }

  add(colors: Record<string, string>): void {
    for (const [id, colour] of Object.entries(colors)) this.known.set(Number(id), colour);
  }

  css(id: number): string {
    return this.known.get(id) ?? NONE;
  }

  rgb(id: number): readonly [number, number, number] {
    return channels(this.css(id));
  }
}

export function channels(css: string): readonly [number, number, number] {
  const value = parseInt(css.slice(1), 16);
  return [(value >> 16) & 255, (value >> 8) & 255, value & 255];
}

/** Whether text on this colour reads better in black than in white (luma of Rec. 601, as in app/report/palette.c). */
export function isLight(css: string): boolean {
  const [red, green, blue] = channels(css);
  return 299 * red + 587 * green + 114 * blue > 128000;
}
