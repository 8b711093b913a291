// SPDX-License-Identifier: MIT
//
// Where the page begins: reads the data that the report carries and shows the page of its kind. Whatever is wrong with the
// data is said in one sentence.
import { batchPage } from "./batch/page";
import { chartsPage } from "./charts/page";
import { explorePage } from "./explore/page";
import { readReport } from "./data/read";
import type { Report } from "./data/types";
import { follow } from "./live/follow";
import { StreamPage } from "./stream/page";
import { el } from "./ui/dom";
import { startTheme } from "./ui/theme";

function data(): unknown {
  const element = document.getElementById("asterism-data");
  if (!element) return null;
  try {
    return JSON.parse(element.textContent ?? "");
  } catch {
    throw new Error("The data of this page is damaged: it is not JSON to its end.");
  }
}

function page(report: Report): HTMLElement {
  document.title = `${report.title} · asterism`;
  switch (report.kind) {
    case "batch":
      return batchPage(report);
    case "charts":
      return chartsPage(report);
    case "stream": {
      const stream = new StreamPage(report);
      if (report.live) follow(stream);
      return stream.element;
    }
  }
}

/** The page of explore has no data of its own: the command sends it. */
function explored(value: unknown): HTMLElement | null {
  const report = value as { kind?: string; title?: string; version?: string } | null;
  if (report?.kind !== "explore") return null;
  document.title = `explore ${report.title ?? ""} · asterism`;
  return explorePage(report.title ?? "", report.version ?? "");
}

function start(app: HTMLElement): void {
  startTheme();
  try {
    app.replaceChildren(explored(data()) ?? page(readReport(data())));
  } catch (error) {
    const why = error instanceof Error ? error.message : String(error);
    app.replaceChildren(
      el("main", { class: "page" }, el("h1", {}, "This report cannot be shown"), el("p", { role: "alert" }, why)),
    );
  }
}

const app = document.getElementById("app");
if (app) start(app);
