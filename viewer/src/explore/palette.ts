// SPDX-License-Identifier: MIT
//
// The colours of clusters, by id: those of the overlays and reports, over and over.
import { Colours } from "../data/colours";

export class Palette extends Colours {
  constructor(private readonly list: readonly string[]) {
    super([]);
  }

  override css(id: number): string {
    return id < 0 ? super.css(id) : (this.list[id % this.list.length] as string);
  }
}
