// SPDX-License-Identifier: MIT
//
// Feeds a page from a running stream and says how things stand.
import { readFrame, readReport } from "../data/read";
import type { StreamPage } from "../stream/page";
import { LiveSocket, socketAddress } from "./socket";
import type { LiveState } from "./socket";

export function follow(page: StreamPage): void {
  const { state } = page.head,
    address = socketAddress(location);
  if (!address) {
    show(state, "ended", "A copy of a live view: nothing more will come");
    return;
  }
  new LiveSocket(address, {
    state: (now) => show(state, now.kind, words(now)),
    message: (message) => {
      if (message.type === "frame") return page.push(readFrame(message.data), message.colors ?? {});
      const report = readReport(message.data);
      if (report.kind === "stream") page.restart({ ...report, live: true });
    },
  });
}

function words(state: LiveState): string {
  switch (state.kind) {
    case "connecting":
      return "Connecting";
    case "live":
      return "Live";
    case "ended":
      return state.reason || "The stream has ended.";
    case "lost":
      return `No connection; trying again in ${state.seconds} s`;
  }
}

function show(element: HTMLElement, kind: string, text: string): void {
  if (element.dataset["kind"] === kind && element.textContent === text) return;
  element.dataset["kind"] = kind;
  element.textContent = text;
}
