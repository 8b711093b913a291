// SPDX-License-Identifier: MIT
//
// The tree of joins as a dendrogram. Its cut can be dragged: what is above it stays apart, and the run is merged to so many
// clusters. At most 200 branches are drawn; below them parts of the tree are folded into one.
import type { Selection } from "../data/selection";
import { Canvas } from "../draw/canvas";
import type { Pen } from "../draw/pen";
import { card } from "../ui/card";
import { el, onceAFrame } from "../ui/dom";
import { count, plural } from "../ui/format";
import { inks, onInks } from "../ui/theme";
import type { Join, Tree } from "./messages";
import type { Palette } from "./palette";

const HEIGHT = 250;
const LEFT = 8;
const TOP = 12;
const BOTTOM = 26;

interface Node {
  x: number;
  height: number;
  cluster: number;
  size: number;
}

export class TreeCard {
  readonly element: HTMLElement;
  private readonly canvas = new Canvas("tree-canvas");
  private readonly area = el("div", {
    class: "tree",
    tabindex: 0,
    role: "slider",
    "aria-label": "Cut of the tree: number of clusters that are left",
    "aria-valuemin": 1,
  });
  private readonly hint = el("p", { class: "hint" });
  private readonly say: (text: string) => void;
  private tree: Tree | null = null;
  private nodes = new Map<number, Node>();
  private heights: number[] = [];
  private left = 0;
  private readonly redraw = onceAFrame(() => this.draw());

  constructor(
    private readonly colours: Palette,
    private readonly selection: Selection,
    private readonly cut: (clusters: number) => void,
  ) {
    const view = card("Tree of joins", "tree-card");
    this.area.append(this.canvas.element);
    view.body.append(this.area, this.hint);
    this.element = view.element;
    this.say = view.say;
    this.area.addEventListener("pointerdown", (event) => this.drag(event));
    this.area.addEventListener("keydown", (event) => this.key(event));
    new ResizeObserver(this.redraw).observe(this.area);
    onInks(this.redraw);
    selection.listen(this.redraw);
    this.element.hidden = true;
  }

  /** The tree of a run, of whose leaves so many clusters are left. */
  show(tree: Tree | null, left: number): void {
    this.element.hidden = !tree;
    if (!tree) return;
    this.tree = tree;
    this.left = left;
    this.lay(tree);
    const drawn = tree.ends.length;
    this.say(plural(tree.leaves, "leaf", "leaves"));
    this.area.setAttribute("aria-valuemax", String(tree.leaves));
    this.hint.textContent = `Drag the line, or press up and down: what it cuts stays apart (--merge-to). ${drawn < tree.leaves ? `${count(drawn)} branches are drawn; ${count(tree.leaves - drawn)} more leaves are folded into them.` : ""}`;
    this.redraw();
  }

  /** From left to right as the joins go; a join is as high as what it loses, and never below its parts. */
  private lay(tree: Tree): void {
    const joins = new Map(tree.joins.map((join) => [join[2], join])),
      top = tree.joins[tree.joins.length - 1] as Join;
    this.nodes = new Map(tree.ends.map(([node, size, cluster]) => [node, { x: 0, height: 0, cluster, size }]));
    let place = 0;
    const walk = (id: number): void => {
      const stack: [number, boolean][] = [[id, false]];
      while (stack.length) {
        const [node, seen] = stack.pop() as [number, boolean],
          join = joins.get(node);
        if (!join) (this.nodes.get(node) as Node).x = place++;
        else if (!seen) stack.push([node, true], [join[1], false], [join[0], false]);
      }
    };
    walk(top[2]);
    let least = 0;
    this.heights = tree.joins.map(([a, b, into, loss, , size]) => {
      const one = this.nodes.get(a) as Node,
        other = this.nodes.get(b) as Node,
        height = (least = Math.max(least, Math.sqrt(Math.max(0, loss)), one.height, other.height));
      this.nodes.set(into, {
        x: (one.x + other.x) / 2,
        height,
        cluster: one.size >= other.size ? one.cluster : other.cluster,
        size,
      });
      return height;
    });
  }

  private get most(): number {
    return Math.max(1e-12, this.heights[this.heights.length - 1] ?? 1);
  }

  private y(height: number): number {
    return HEIGHT - BOTTOM - (height / this.most) * (HEIGHT - BOTTOM - TOP);
  }

  /** Where the line is if so many clusters are left: between the joins that are made and those that are not. */
  private cutHeight(left: number): number {
    const made = this.heights.length + 1 - left;
    if (made < 0) return 0;
    const below = this.heights[made - 1] ?? 0,
      above = this.heights[made] ?? this.most * 1.04;
    return (below + above) / 2;
  }

  private drag(event: PointerEvent): void {
    const move = (at: PointerEvent): void => {
      const y = at.clientY - this.area.getBoundingClientRect().top,
        height = ((HEIGHT - BOTTOM - y) / (HEIGHT - BOTTOM - TOP)) * this.most;
      this.choose(this.heights.filter((join) => join > height).length + 1);
    };
    if (event.button !== 0 || !this.tree) return;
    this.area.setPointerCapture(event.pointerId);
    this.area.addEventListener("pointermove", move);
    this.area.addEventListener("pointerup", () => this.area.removeEventListener("pointermove", move), { once: true });
    move(event);
  }

  private key(event: KeyboardEvent): void {
    const step = event.key === "ArrowUp" ? -1 : event.key === "ArrowDown" ? 1 : 0;
    if (step === 0 || !this.tree) return;
    event.preventDefault();
    this.choose(this.left + step);
  }

  private choose(left: number): void {
    const chosen = Math.max(1, Math.min(this.tree?.leaves ?? 1, left));
    if (chosen === this.left) return;
    this.left = chosen;
    this.cut(chosen);
    this.redraw();
  }

  private draw(): void {
    const width = this.area.clientWidth,
      { tree } = this;
    if (!tree || width < 80) return;
    const pen = this.canvas.fresh(width, HEIGHT),
      ink = inks(),
      step = (width - 2 * LEFT) / tree.ends.length,
      x = (node: Node): number => LEFT + (node.x + 0.5) * step;
    this.area.setAttribute("aria-valuenow", String(this.left));
    const line = this.cutHeight(this.left);
    for (const [a, b, into] of tree.joins) {
      const one = this.nodes.get(a) as Node,
        other = this.nodes.get(b) as Node,
        node = this.nodes.get(into) as Node,
        joined = node.height <= line;
      const style = { stroke: joined ? this.colours.css(node.cluster) : ink.muted, width: joined ? 2 : 1.2 };
      pen.line(
        [
          x(one),
          this.y(one.height),
          x(one),
          this.y(node.height),
          x(other),
          this.y(node.height),
          x(other),
          this.y(other.height),
        ],
        false,
        style,
      );
    }
    this.drawEnds(pen, tree, step, x);
    const y = this.y(line);
    pen.line([0, y, width, y], false, { stroke: ink.accent, width: 2, dash: [6, 4] });
    pen.text(width - 4, y - 5, `${plural(this.left, "cluster")}`, {
      colour: ink.accent,
      size: 12,
      weight: 600,
      anchor: "end",
      halo: ink.card,
    });
  }

  private drawEnds(pen: Pen, tree: Tree, step: number, x: (node: Node) => number): void {
    const ink = inks(),
      { active } = this.selection;
    for (const [id] of tree.ends) {
      const node = this.nodes.get(id) as Node,
        lit = node.cluster === active;
      pen.circle(x(node), this.y(0) + 6, Math.max(1.5, Math.min(lit ? 6 : 4, step / 2)), {
        fill: this.colours.css(node.cluster),
        ...(lit ? { stroke: ink.ink, width: 1.5 } : {}),
      });
      if (step > 16)
        pen.text(x(node), HEIGHT - 4, String(node.cluster < 0 ? "" : node.cluster), {
          colour: ink.muted,
          size: 10,
          anchor: "middle",
        });
    }
  }
}
