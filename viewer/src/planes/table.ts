// SPDX-License-Identifier: MIT
//
// The list of planes. Planes have ids of their own, so they have a selection of their own; the direction of the plane
// under the pointer lights up in the views of clusters.
import type { Selection } from "../data/selection";
import type { Plane } from "../data/types";
import { count, degrees, fixed, number } from "../ui/format";
import { swatch } from "../ui/swatch";
import { DataTable } from "../ui/table";
import type { Column } from "../ui/table";

export interface PlanesOptions {
  /** What a plane consists of: points, faces or pixels. */
  unit: string;
  /** The selection of planes, and that of their directions. */
  planes: Selection;
  directions: Selection;
  directionColour: (id: number) => string;
  dip: boolean;
}

export function planesTable(options: PlanesOptions): DataTable<Plane> {
  const { planes, directions } = options,
    known = new Map<number, Plane>();
  const table = new DataTable<Plane>({
    label: "Planes",
    key: (plane) => {
      known.set(plane.id, plane);
      return plane.id;
    },
    hover: (id) => {
      planes.hover(id);
      directions.hover(id === null ? null : (known.get(id)?.direction ?? null));
    },
    pick: (id) => planes.pick(id),
    sort: { column: 2, descending: true },
    columns: columnsOf(options),
  });
  planes.listen(() => table.light(planes.active, planes.picked));
  return table;
}

function columnsOf({ unit, directionColour, dip }: PlanesOptions): Column<Plane>[] {
  const angles: Column<Plane>[] = [
    numeric("dip dir", (p) => p.dip_direction ?? null, (p) => degrees(p.dip_direction), "4.6em"),
    numeric("dip", (p) => p.dip ?? null, (p) => degrees(p.dip), "4em"),
  ];
  const axes = ["x", "y", "z"].map((axis, i) =>
    numeric(
      axis,
      (p) => p.normal[i] ?? null,
      (p) => fixed(p.normal[i], 3),
      "4.2em",
    ),
  );
  return [
    numeric("id", (p) => p.id, (p) => swatch(p.id, p.color), "3.9em"),
    {
      ...numeric("direction", (p) => p.direction, (p) => swatch(p.direction, directionColour(p.direction)), "5em"),
      help: "The cluster of its normals",
    },
    numeric("area", (p) => p.area, (p) => number(p.area), "4.8em"),
    { ...numeric("offset", (p) => p.offset, (p) => fixed(p.offset, 3), "5em"), help: "normal . p = offset" },
    { ...numeric("rms", (p) => p.rms, (p) => number(p.rms), "5em"), help: `Distance of its ${unit} from it` },
    numeric(unit, (p) => p.count, (p) => count(p.count), "5em"),
    ...(dip ? angles : axes),
  ];
}

function numeric(
  title: string,
  value: (plane: Plane) => number | null,
  cell: (plane: Plane) => Node | string,
  width: string,
): Column<Plane> {
  return { title, value, cell, numeric: true, width };
}
