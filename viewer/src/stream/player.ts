// SPDX-License-Identifier: MIT
//
// Which frame is shown, and whether the next one comes by itself: playing a recording, or following a running stream.

type Listener = (player: Player) => void;

export class Player {
  index = 0;
  playing = false;
  following = false;
  framesPerSecond = 10;
  private length = 0;
  private due = 0;
  private readonly listeners: Listener[] = [];

  listen(listener: Listener): void {
    this.listeners.push(listener);
  }

  get count(): number {
    return this.length;
  }

  /** There are so many frames now. A follower goes to the newest. */
  setLength(length: number): void {
    this.length = length;
    this.index = this.following ? Math.max(0, length - 1) : Math.min(this.index, Math.max(0, length - 1));
    this.tell();
  }

  /** The reader goes to a frame: no longer plays, follows only if it is the newest. */
  seek(index: number): void {
    this.playing = false;
    this.following = false;
    this.go(index);
  }

  step(frames: number): void {
    this.seek(this.index + frames);
  }

  follow(on: boolean): void {
    this.following = on;
    if (on) this.playing = false;
    this.go(on ? this.length - 1 : this.index);
  }

  toggle(): void {
    this.playing = !this.playing && this.length > 1;
    this.following = false;
    if (this.playing && this.index >= this.length - 1) this.index = 0;
    if (this.playing) this.run();
    this.tell();
  }

  private go(index: number): void {
    this.index = Math.max(0, Math.min(this.length - 1, index));
    this.tell();
  }

  private run(): void {
    this.due = performance.now() + 1000 / this.framesPerSecond;
    const tick = (now: number): void => {
      if (!this.playing) return;
      if (now >= this.due) this.advance(now);
      requestAnimationFrame(tick);
    };
    requestAnimationFrame(tick);
  }

  /** A browser that is too slow skips frames rather than time. */
  private advance(now: number): void {
    const pace = 1000 / this.framesPerSecond,
      steps = 1 + Math.floor((now - this.due) / pace);
    this.due += steps * pace;
    if (this.index + steps >= this.length - 1) this.playing = false;
    this.go(this.index + steps);
  }

  private tell(): void {
    for (const listener of this.listeners) listener(this);
  }
}
