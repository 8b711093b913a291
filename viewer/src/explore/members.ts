// SPDX-License-Identifier: MIT
//
// The picked cluster: its members nearest to the mean and farthest from it, its neighbours, and what it joins next.
import type { Selection } from "../data/selection";
import { card } from "../ui/card";
import { el } from "../ui/dom";
import { degrees } from "../ui/format";
import { swatch } from "../ui/swatch";
import type { Member, Members, Tree } from "./messages";
import type { Palette } from "./palette";

export class MembersCard {
  readonly element: HTMLElement;
  private readonly body: HTMLElement;
  private readonly say: (text: string) => void;
  private tree: Tree | null = null;
  private shown: Members | null = null;

  constructor(
    private readonly colours: Palette,
    private readonly selection: Selection,
  ) {
    const view = card("Cluster", "members-card");
    this.element = view.element;
    this.body = view.body;
    this.say = view.say;
    this.hide();
  }

  hide(): void {
    this.element.hidden = true;
    this.shown = null;
  }

  branches(tree: Tree | null): void {
    this.tree = tree;
    if (this.shown) this.show(this.shown);
  }

  show(members: Members): void {
    const { cluster, nearest, farthest, neighbours } = members;
    this.shown = members;
    this.element.hidden = false;
    this.say(`${cluster}`);
    const near = neighbours.map(({ id, angle }) => el("li", {}, this.button(id), ` ${degrees(angle)}`));
    this.body.replaceChildren(
      el(
        "div",
        { class: "lists members" },
        el("div", {}, el("h3", {}, "Nearest to the mean"), list(nearest)),
        el("div", {}, el("h3", {}, "Farthest from it"), list(farthest)),
        el("div", {}, el("h3", {}, "Nearest means"), el("ul", {}, ...near), ...this.joinOf(cluster)),
      ),
    );
  }

  private button(id: number): HTMLElement {
    return el(
      "button",
      { type: "button", class: "plain", onclick: () => this.selection.pick(id), "aria-label": `Cluster ${id}` },
      swatch(id, this.colours.css(id)),
    );
  }

  /** What the cluster is joined with first, as far as the tree is drawn. */
  private joinOf(cluster: number): HTMLElement[] {
    // A merged cluster has several leaves, whose joins with each other are in the past: the cluster of a node, or null
    // if it has several.
    const of = new Map<number, number | null>((this.tree?.ends ?? []).map(([node, , id]) => [node, id]));
    const join = this.tree?.joins.find(([a, b, into]) => {
      const [one = null, other = null] = [of.get(a), of.get(b)];
      of.set(into, one === other ? one : null);
      return one !== other && (one === cluster || other === cluster);
    });
    if (!join) return [];
    const partner = of.get(join[0]) === cluster ? join[1] : join[0],
      id = of.get(partner) ?? undefined;
    return [
      el("h3", {}, "Joins first"),
      el(
        "p",
        {},
        id === undefined ? `a branch of several clusters, ${degrees(join[4])} away` : this.button(id),
        id === undefined ? "" : ` ${degrees(join[4])} away`,
      ),
    ];
  }
}

function list(members: Member[]): HTMLElement {
  return el(
    "dl",
    {},
    ...members.map(({ row, name, angle }) =>
      el("div", {}, el("dt", { title: `row ${row}` }, name ?? `row ${row}`), el("dd", {}, degrees(angle))),
    ),
  );
}
