// SPDX-License-Identifier: MIT
//
// Which cluster the reader looks at: the one under the pointer, else the one that was picked. Every view listens and
// every view can set it, so that they all light up together.

type Listener = (selection: Selection) => void;

export class Selection {
  private over: number | null = null;
  private chosen: number | null = null;
  private readonly listeners: Listener[] = [];

  get hovered(): number | null {
    return this.over;
  }

  get picked(): number | null {
    return this.chosen;
  }

  /** The cluster to light up, if any. */
  get active(): number | null {
    return this.over ?? this.chosen;
  }

  hover(id: number | null): void {
    if (id === this.over) return;
    this.over = id;
    this.tell();
  }

  /** Picks a cluster; picking it again lets it go. */
  pick(id: number | null): void {
    this.chosen = id === this.chosen ? null : id;
    this.tell();
  }

  clear(): void {
    if (this.over === null && this.chosen === null) return;
    this.over = this.chosen = null;
    this.tell();
  }

  listen(listener: Listener): void {
    this.listeners.push(listener);
  }

  private tell(): void {
    for (const listener of this.listeners) listener(this);
  }
}
