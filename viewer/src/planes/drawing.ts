// SPDX-License-Identifier: MIT
//
// Outlines of planes as one drawing: the plane under the pointer is filled, and pointing at an outline lights up its row
// in the list.
import type { Selection } from "../data/selection";
import type { Plane } from "../data/types";
import { svg } from "../ui/dom";

/** Where a vertex is drawn. */
export type Place = (vertex: readonly number[]) => readonly [number, number];

export class PlanesDrawing {
  readonly element: SVGElement;
  private readonly shapes = new Map<number, SVGElement>();

  constructor(
    private readonly selection: Selection,
    label: string,
    attributes: Record<string, string | number> = {},
  ) {
    this.element = svg("svg", { class: "planes-drawing", role: "img", "aria-label": label, ...attributes });
    this.element.addEventListener("pointerleave", () => selection.hover(null));
    selection.listen(() => this.light());
  }

  show(planes: readonly Plane[], place: Place): void {
    this.shapes.clear();
    const bySize = [...planes].sort((a, b) => b.area - a.area); // small ones stay within reach of the pointer
    for (const plane of bySize) this.shapes.set(plane.id, this.shape(plane, place));
    this.element.replaceChildren(...this.shapes.values());
    this.light();
  }

  private shape(plane: Plane, place: Place): SVGElement {
    const outline = plane.polygons
      .filter((polygon) => polygon.length > 2)
      .map((polygon) => `M${polygon.map((vertex) => place(vertex).map((x) => x.toFixed(2)).join(" ")).join("L")}Z`)
      .join("");
    const title = svg("title", {}, `plane ${plane.id}`);
    const shape = svg(
      "path",
      { d: outline, stroke: plane.color, fill: plane.color, "fill-rule": "evenodd", "data-plane": plane.id },
      title,
    );
    shape.addEventListener("pointerenter", () => this.selection.hover(plane.id));
    shape.addEventListener("click", () => this.selection.pick(plane.id));
    return shape;
  }

  private light(): void {
    const { active } = this.selection;
    for (const [id, shape] of this.shapes) shape.classList.toggle("lit", id === active);
    const lit = active === null ? undefined : this.shapes.get(active);
    if (lit && lit !== this.element.lastChild && this.selection.hovered === null) this.element.append(lit);
  }
}

/** Seen from a corner: x to the lower right, y to the upper right, z up; all outlines fill a box of this size. */
export function fromCorner(planes: readonly Plane[], width: number, height: number): Place {
  const flat = (v: readonly number[]): [number, number] => {
    const [x, y, z] = [v[0] ?? 0, v[1] ?? 0, v[2] ?? 0];
    return [0.866 * (x + y), 0.5 * (x - y) - z];
  };
  const places = planes.flatMap((plane) => plane.polygons.flatMap((polygon) => polygon.map(flat)));
  const side = (axis: 0 | 1): [number, number] => {
    const values = places.map((place) => place[axis]);
    return [values.reduce((a, b) => Math.min(a, b), Infinity), values.reduce((a, b) => Math.max(a, b), -Infinity)];
  };
  const [left, right] = side(0),
    [top, bottom] = side(1);
  const scale = Math.min((width - 8) / (right - left || 1), (height - 8) / (bottom - top || 1));
  return (vertex) => {
    const [x, y] = flat(vertex);
    return [width / 2 + scale * (x - (left + right) / 2), height / 2 + scale * (y - (top + bottom) / 2)];
  };
}
