// SPDX-License-Identifier: MIT
//
// The connection to the command. At most one request is under way; while it is, only the newest wish waits. A request that
// takes long is overtaken: the command gives it up. So every step of a drag that can be answered is, and none queues.
import { decode } from "./messages";
import type { Message, Wish } from "./messages";

export interface ChannelListener {
  message(message: Message): void;
  connected(): void;
  /** The connection is gone; a new one is tried in so many seconds. */
  lost(seconds: number): void;
}

const OVERTAKEN = 250;
const FIRST_WAIT = 500;
const LAST_WAIT = 5000;

export class Channel {
  private socket: WebSocket | null = null;
  private id = 0;
  private underWay: { id: number; since: number } | null = null;
  private waiting: Wish | null = null;
  private timer = 0;
  private wait = FIRST_WAIT;

  constructor(
    private readonly address: string,
    private readonly listener: ChannelListener,
  ) {
    this.connect();
  }

  /** The number of the newest request. */
  get newest(): number {
    return this.id;
  }

  ask(wish: Wish): void {
    this.waiting = wish;
    this.sendWaiting();
  }

  /** Something besides a run, about the run of this wish. */
  say(type: "members" | "save" | "report", wish: Wish, more: Record<string, number> = {}): void {
    this.send({ ...wish, ...more, type, id: this.id });
  }

  private sendWaiting(): void {
    const { underWay, waiting } = this,
      age = underWay ? performance.now() - underWay.since : Infinity;
    clearTimeout(this.timer);
    if (!waiting) return;
    if (age < OVERTAKEN) {
      this.timer = window.setTimeout(() => this.sendWaiting(), OVERTAKEN - age);
      return;
    }
    if (!this.send({ ...waiting, type: "cluster", id: this.id + 1 })) return;
    this.id++;
    this.waiting = null;
    this.underWay = { id: this.id, since: performance.now() };
  }

  private send(object: object): boolean {
    if (this.socket?.readyState !== WebSocket.OPEN) return false;
    this.socket.send(JSON.stringify(object));
    return true;
  }

  private connect(): void {
    const socket = new WebSocket(this.address);
    socket.binaryType = "arraybuffer";
    socket.addEventListener("message", (event) => this.hear(event.data as ArrayBuffer));
    socket.addEventListener("open", () => {
      this.wait = FIRST_WAIT;
      this.underWay = null;
      this.listener.connected();
    });
    socket.addEventListener("close", () => {
      this.socket = null;
      this.listener.lost(Math.ceil(this.wait / 1000));
      setTimeout(() => this.connect(), this.wait);
      this.wait = Math.min(LAST_WAIT, this.wait * 1.7);
    });
    this.socket = socket;
  }

  private hear(data: ArrayBuffer): void {
    const message = decode(data);
    this.listener.message(message);
    const answers = message.type === "result" || message.type === "cancelled" || message.type === "problem";
    if (!answers || (this.underWay && message.id < this.underWay.id)) return;
    this.underWay = null;
    this.sendWaiting();
  }
}
