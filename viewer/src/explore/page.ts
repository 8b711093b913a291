// SPDX-License-Identifier: MIT
//
// The page of explore: the slider and its curves, the sphere, the table, the tree, the command. It shows what the command
// answers and computes nothing about clusters itself.
import { Points } from "../data/points";
import { Selection } from "../data/selection";
import { socketAddress } from "../live/socket";
import { el } from "../ui/dom";
import { count, fixed, plural } from "../ui/format";
import { head, notesCard } from "../ui/frame";
import type { Head } from "../ui/frame";
import { saveText } from "../ui/save";
import { Channel } from "./channel";
import { CommandCard } from "./command";
import { Controls } from "./controls";
import { MapView } from "./map";
import { MembersCard } from "./members";
import { labelsOf } from "./messages";
import type { Details, Hello, Message, Places, Result } from "./messages";
import { Palette } from "./palette";
import { PictureCard } from "./picture";
import { ClusterTable } from "./table";
import { TreeCard } from "./tree";
import { Views } from "./views";
import { WishBox } from "./wish";

/** Milliseconds without a result after which the table follows, the latest that it does, and what takes longer still. */
const HALT = 80;
const LATEST = 250;
const REST = 350;

export function explorePage(title: string, version: string): HTMLElement {
  const page = el("main", { class: "page explore" }),
    top = head({ title, version }),
    address = socketAddress(location);
  page.append(top.element);
  if (!address) {
    page.append(el("p", { role: "alert" }, "This page works only while asterism explore serves it."));
    return page;
  }
  new Explorer(page, top, address);
  return page;
}

class Explorer {
  private readonly channel: Channel;
  private hello: Hello | null = null;
  private shown: Shown | null = null;

  constructor(
    private readonly page: HTMLElement,
    private readonly top: Head,
    address: string,
  ) {
    this.state("connecting", "Connecting");
    this.channel = new Channel(address, {
      connected: () => this.state("live", "Connected"),
      lost: (seconds) => this.state("lost", `No connection; trying again in ${seconds} s`),
      message: (message) => this.hear(message),
    });
  }

  private state(kind: string, text: string): void {
    this.top.state.dataset["kind"] = kind;
    this.top.state.textContent = text;
  }

  private hear(message: Message): void {
    if (message.type === "hello") this.greet(message);
    else this.shown?.hear(message);
  }

  /** After a lost connection the page goes on where it was. */
  private greet(hello: Hello): void {
    if (this.hello && this.shown && this.hello.input === hello.input && this.hello.points === hello.points) {
      this.shown.again();
      return;
    }
    this.hello = hello;
    this.shown = new Shown(hello, this.channel, this.top);
    this.page.replaceChildren(this.top.element, ...this.shown.elements);
    this.shown.again();
  }
}

/** Everything that is on the page once it is known what is explored. */
class Shown {
  readonly elements: HTMLElement[];
  private readonly box: WishBox;
  private readonly controls: Controls;
  private readonly views: Views;
  private readonly map: MapView | null;
  private readonly table: ClusterTable;
  private readonly tree: TreeCard;
  private readonly members: MembersCard;
  private readonly command: CommandCard;
  private readonly picture: PictureCard | null;
  private readonly selection = new Selection();
  private readonly notes = el("div");
  private places: Places | null = null;
  private result: Result | null = null;
  private undescribed: { result: Result; labels: Int32Array; since: number } | null = null;
  private describing = 0;
  private described = -1;
  private picked: number | null = null;
  private resting = 0;

  constructor(
    private readonly hello: Hello,
    private readonly channel: Channel,
    private readonly top: Head,
  ) {
    const colours = new Palette(hello.palette);
    this.box = new WishBox(hello);
    this.controls = new Controls(this.box, hello);
    this.table = new ClusterTable(hello, colours, this.selection);
    this.views = new Views(hello, colours, this.selection, (id) => this.table.aboutOf(id));
    this.map = hello.mapped ? new MapView(hello, colours, this.selection, this.table) : null;
    this.tree = new TreeCard(colours, this.selection, (clusters) =>
      this.box.change({ merge: "count", merge_to: clusters }),
    );
    this.members = new MembersCard(colours, this.selection);
    this.picture = hello.width > 0 ? new PictureCard(hello, colours, this.selection) : null;
    this.command = new CommandCard(hello.labels, {
      save: () => channel.say("save", this.box.value),
      report: () => channel.say("report", this.box.value),
    });
    this.box.listen((wish) => {
      if (wish.metric === "local") this.controls.say("The rows are mapped, and clustered then.", "unfinished");
      channel.ask(wish);
    });
    this.selection.listen(() => this.selected());
    document.addEventListener("keydown", (event) => event.key === "Escape" && this.selection.clear());
    const left = el(
      "div",
      { class: "column" },
      this.map?.element ?? null,
      this.views.sphere,
      this.picture?.element ?? null,
      this.views.cloud,
      this.views.flat,
    );
    const right = el(
      "div",
      { class: "column" },
      this.table.element,
      this.members.element,
      this.tree.element,
      this.command.element,
    );
    this.elements = [this.controls.element, this.notes, el("div", { class: "columns" }, left, right)];
  }

  /** Asks for what the controls say. */
  again(): void {
    this.channel.ask(this.box.value);
  }

  hear(message: Message): void {
    if (message.type !== "result" && message.type !== "points") this.describe();
    switch (message.type) {
      case "points":
        this.places = message;
        return;
      case "result":
        return this.show(message);
      case "details":
        return this.detail(message);
      case "stability":
        if (message.id === this.result?.id) this.table.stability(message);
        return;
      case "members":
        if (message.id === this.channel.newest && message.cluster === this.selection.picked) this.members.show(message);
        return;
      case "map":
        return this.map?.place(message);
      case "sweep":
        return this.controls.showSweep(message);
      case "problem":
        return this.controls.say(sentence(message.text), "bad");
      case "saved":
        return this.command.say(sentence(message.text));
      case "report":
        return saveText("asterism.html", "text/html", new TextDecoder().decode(message.arrays.html));
    }
  }

  private show(result: Result): void {
    const { places } = this;
    if (!places) return;
    const labels = labelsOf(result);
    this.result = result;
    this.views.show(
      new Points(this.views.turned(places.arrays.xyz, labels, result, this.box.value.axial), labels),
      result,
      places,
    );
    this.picture?.show(labels);
    this.map?.show(labels);
    this.controls.say(stateOf(result, this.hello.points), result.unfinished ? "unfinished" : "good");
    this.announce("asterism-drawn", result);
    this.describeSoon(result, labels);
  }

  /** The table and the other words follow when a drag halts, and a few times per second while it goes on: laying them
   * out takes longer than drawing the points, and would take the processor from the next step. */
  private describeSoon(result: Result, labels: Int32Array): void {
    const now = performance.now(),
      since = this.undescribed?.since ?? now;
    this.undescribed = { result, labels, since };
    clearTimeout(this.describing);
    this.describing = window.setTimeout(() => this.describe(), Math.max(0, Math.min(HALT, since + LATEST - now)));
  }

  private describe(): void {
    const { undescribed, places } = this;
    if (!undescribed || !places) return;
    this.undescribed = null;
    const { result, labels } = undescribed;
    this.table.show(result);
    this.map?.caption();
    this.command.show(result.command);
    this.facts(result, null);
    this.remark(result, places);
    if (result.id !== this.described) this.forget();
    this.described = result.id;
    clearTimeout(this.resting);
    this.resting = window.setTimeout(() => this.rest(), REST);
    this.announce("asterism-result", { ...result, labels, drawn: this.hello.arrays.rows });
  }

  private announce(name: string, result: object): void {
    document.dispatchEvent(new CustomEvent(name, { detail: { ...result, newest: this.channel.newest } }));
  }

  /** What belonged to the result before. */
  private forget(): void {
    this.command.say("");
    this.members.hide();
    this.picked = null;
    const { picked } = this.selection;
    if (picked !== null && picked >= (this.result?.clusters ?? 0)) this.selection.clear();
  }

  /** The reader has stopped: what takes longer to draw follows. */
  private rest(): void {
    this.views.rest(this.box.value.axial);
    this.selected();
  }

  private detail(details: Details): void {
    if (details.id !== this.result?.id) return;
    this.table.detail(details);
    this.map?.caption();
    this.facts(this.result, details.silhouette);
    this.tree.show(
      details.tree ?? null,
      this.result.merged === this.result.clusters ? (details.tree?.leaves ?? 0) : this.result.clusters,
    );
    this.members.branches(details.tree ?? null);
  }

  private selected(): void {
    const { picked } = this.selection;
    if (picked === this.picked) return;
    this.picked = picked;
    if (picked === null) this.members.hide();
    else this.channel.say("members", this.box.value, { cluster: picked });
  }

  private facts(result: Result, silhouette: number | null): void {
    const facts = [
      { value: count(result.clusters), label: result.clusters === 1 ? "cluster" : "clusters" },
      { value: count(this.hello.points), label: "points" },
      { value: String(this.hello.dimension), label: "dimensions" },
    ];
    if (silhouette !== null) facts.push({ value: fixed(silhouette, 3), label: "silhouette" });
    this.top.facts(facts);
  }

  private remark(result: Result, places: Places): void {
    const notes: string[] = [],
      drawn = this.hello.arrays.rows.length;
    if (drawn < this.hello.points - result.missing)
      notes.push(`All ${count(this.hello.points)} points are clustered; ${count(drawn)} of them are drawn.`);
    if (result.missing) notes.push(`${plural(result.missing, "row has", "rows have")} no direction.`);
    if (result.outliers) notes.push(`${plural(result.outliers, "point is an outlier", "points are outliers")}: grey.`);
    if (places.projected) {
      const whole = (places.explained ?? []).reduce((sum, share) => sum + share, 0);
      notes.push(
        `${count(this.hello.dimension)} dimensions: the cloud shows the three leading principal axes of the means when these rows were first shown. They hold ${(100 * whole).toFixed(0)} % of those means and ${(100 * (places.shown ?? 0)).toFixed(0)} % of the points.`,
      );
    }
    const text = notes.join("\n");
    if (this.notes.dataset["text"] === text) return;
    this.notes.dataset["text"] = text;
    this.notes.replaceChildren(...[notesCard(notes)].filter((card) => card !== null));
  }
}

function stateOf(result: Result, points: number): string {
  const { clusters, seconds, iterations, converged, unfinished, rows, merged } = result,
    time = seconds < 1 ? `${(1000 * seconds).toFixed(seconds < 0.01 ? 1 : 0)} ms` : `${seconds.toFixed(1)} s`;
  if (unfinished)
    return `Unfinished: ${plural(clusters, "cluster")} after ${plural(iterations, "pass", "passes")} over ${rows < points ? `the first ${count(rows)}` : "all"} rows. The whole run goes on.`;
  const from = merged > clusters ? ` from ${count(merged)}` : "";
  return `${plural(clusters, "cluster")}${from} in ${time}, ${converged ? `converged after ${plural(iterations, "pass", "passes")}` : `not converged after ${plural(iterations, "pass", "passes")}`}.`;
}

function sentence(text: string): string {
  return text.charAt(0).toUpperCase() + text.slice(1) + (/[.!?]$/.test(text) ? "" : ".");
}
