// SPDX-License-Identifier: MIT
//
// What the reader takes along: the exact command, the labels (in the file that the command line named), the report.
import { card } from "../ui/card";
import { copyText } from "../ui/copy";
import { el, isTyping } from "../ui/dom";
import { unbroken } from "../ui/frame";

export interface Takes {
  save(): void;
  report(): void;
}

export class CommandCard {
  readonly element: HTMLElement;
  private readonly text = el("code");
  private readonly note = el("p", { class: "hint", role: "status" });
  private readonly copyButton = el("button", { type: "button", class: "export copy" }, "Copy command");
  private command = "";

  constructor(labels: string | null, takes: Takes) {
    const view = card("Take it with you", "command-card");
    const save = el("button", { type: "button", onclick: () => takes.save() }, "Save labels"),
      report = el("button", { type: "button", onclick: () => takes.report() }, "Save report");
    save.disabled = labels === null;
    save.title = labels === null ? "Start explore with --labels FILE to save labels" : `Write the labels to ${labels}`;
    report.title = "Save this result as a page that works offline";
    this.copyButton.addEventListener("click", () => this.copy());
    view.tools.append(save, report);
    view.body.append(
      el("div", { class: "command" }, el("pre", { tabindex: 0, "aria-label": "Command" }, this.text), this.copyButton),
      this.note,
    );
    this.element = view.element;
    document.addEventListener("keydown", (event) => {
      if (event.key === "c" && !isTyping(event) && !event.ctrlKey && !event.metaKey) this.copy();
    });
  }

  show(command: string): void {
    this.command = command;
    this.text.replaceChildren(...unbroken(command));
  }

  say(text: string): void {
    this.note.textContent = text;
  }

  private copy(): void {
    void copyText(this.command, this.text).then((done) => {
      this.copyButton.textContent = done ? "Copied" : "Press Ctrl+C";
      setTimeout(() => (this.copyButton.textContent = "Copy command"), 1600);
    });
  }
}
