// SPDX-License-Identifier: MIT
//
// The connection to a running stream. It listens, never speaks, and comes back by itself: after a lost connection, and
// after the end, in case a new stream begins at the same address.
import type { Message } from "../data/types";

export type LiveState =
  { kind: "connecting" } | { kind: "live" } | { kind: "ended"; reason: string } | { kind: "lost"; seconds: number };

export interface LiveListener {
  state(state: LiveState): void;
  message(message: Exclude<Message, { type: "end" }>): void;
}

const FIRST_WAIT = 500;
const LAST_WAIT = 5000;

export class LiveSocket {
  private wait = FIRST_WAIT;
  private ended = false;

  constructor(
    private readonly address: string,
    private readonly listener: LiveListener,
  ) {
    listener.state({ kind: "connecting" });
    this.connect();
  }

  private connect(): void {
    const socket = new WebSocket(this.address);
    socket.addEventListener("message", (event) => this.hear(String(event.data)));
    socket.addEventListener("close", () => this.closed());
  }

  /** What cannot be understood is dropped: the next message may be whole again. */
  private hear(text: string): void {
    let message: Message;
    try {
      message = JSON.parse(text) as Message;
    } catch {
      return;
    }
    this.wait = FIRST_WAIT;
    if (message?.type === "end") return this.end(message.reason);
    if (message?.type !== "hello" && message?.type !== "frame") return;
    this.ended = false;
    this.listener.state({ kind: "live" });
    this.listener.message(message);
  }

  private end(reason: string): void {
    this.ended = true;
    this.listener.state({ kind: "ended", reason });
  }

  private closed(): void {
    if (this.ended) this.wait = LAST_WAIT;
    else this.listener.state({ kind: "lost", seconds: Math.ceil(this.wait / 1000) });
    setTimeout(() => this.connect(), this.wait);
    this.wait = Math.min(LAST_WAIT, this.wait * 1.7);
  }
}

/** Where the socket of a page is: at `live`, beside it. Null for a page that came from a file. */
export function socketAddress(page: Location): string | null {
  if (page.protocol !== "http:" && page.protocol !== "https:") return null;
  const address = new URL("live", page.href);
  address.protocol = page.protocol === "https:" ? "wss:" : "ws:";
  address.search = address.hash = "";
  return address.href;
}
