// SPDX-License-Identifier: MIT
//
// How dense points lie on the sphere, in multiples of the density they would have if they were spread evenly. Points are
// counted in cells of equal area first, so that the cost does not grow with their number; then every node of a grid sums
// a von Mises-Fisher kernel over the cells.
import type { Points } from "../data/points";
import { SCALE } from "../data/points";
import { fromNet, onNet } from "./lambert";
import type { Side } from "./lambert";

const CELLS = 64;
const FINE_CELLS = 256;
const MOST_KAMB = 4000;
export const NODES = 72;
/** The grid reaches a little over the disc, so that contours end outside it. */
export const REACH = 1.06;

interface Cell {
  x: number;
  y: number;
  z: number;
  weight: number;
}

export interface Density {
  side: Side;
  /** NODES x NODES, rows from the bottom up. */
  values: Float64Array;
}

/** Kamb's density, smoothed by an exponential kernel (Vollmer, Computers & Geosciences 21, 1995): standard deviations of
 *  the even density above it, of axes. The kernel narrows with the number of points, up to MOST_KAMB. */
export function kamb(points: Points, side: Side): Density {
  const n = Math.min(points.count, MOST_KAMB),
    kappa = 2 * (1 + n / 9),
    deviation = Math.sqrt(n * (kappa / 2 - 1)) / kappa;
  const values = new Float64Array(NODES * NODES),
    nodes = nodesOf(side);
  for (const cell of count(points, FINE_CELLS))
    for (const end of [1, -1])
      spread(values, nodes, { ...cell, x: end * cell.x, y: end * cell.y, z: end * cell.z }, side, kappa, n / points.count);
  return { side, values: values.map((sum) => (sum - 0.5) / deviation) };
}

export function density(points: Points, sides: readonly Side[], axial: boolean): Density[] {
  const cells = count(points, CELLS),
    kappa = concentration(points.count);
  return sides.map((side) => ({ side, values: smooth(cells, side, kappa, axial, points.count) }));
}

/** Kernel widths of 5 degrees for many points and up to 12 for few: concentration of a Gaussian of that width. */
function concentration(count: number): number {
  const degrees = Math.max(5, Math.min(12, 20 * Math.pow(Math.max(count, 1), -1 / 7)));
  return 1 / Math.pow((degrees * Math.PI) / 180, 2);
}

function count(points: Points, across: number): Cell[] {
  const sums = new Map<number, Cell>();
  for (let i = 0; i < points.count; i++) {
    const x = (points.xyz[3 * i] as number) / SCALE,
      y = (points.xyz[3 * i + 1] as number) / SCALE,
      z = (points.xyz[3 * i + 2] as number) / SCALE;
    const key = cellOf(x, y, z, across),
      cell = sums.get(key);
    if (cell) ((cell.x += x), (cell.y += y), (cell.z += z), cell.weight++);
    else sums.set(key, { x, y, z, weight: 1 });
  }
  return [...sums.values()].map(normalised);
}

function cellOf(x: number, y: number, z: number, cells: number): number {
  const side: Side = z >= 0 ? 1 : -1,
    [across, up] = onNet([x, y, z], side);
  const column = Math.min(cells - 1, Math.max(0, Math.floor(((across + 1) / 2) * cells)));
  const row = Math.min(cells - 1, Math.max(0, Math.floor(((up + 1) / 2) * cells)));
  return (side > 0 ? 0 : cells * cells) + row * cells + column;
}

/** A cell stands where its points are on average. */
function normalised(cell: Cell): Cell {
  const length = Math.hypot(cell.x, cell.y, cell.z) || 1;
  return { x: cell.x / length, y: cell.y / length, z: cell.z / length, weight: cell.weight };
}

function smooth(cells: Cell[], side: Side, kappa: number, axial: boolean, total: number): Float64Array {
  const values = new Float64Array(NODES * NODES),
    nodes = nodesOf(side);
  // The kernel kappa / (2 pi) e^(kappa (t - 1)) against the even density 1 / (4 pi); an axis has half a kernel at each end.
  const height = total > 0 ? (2 * kappa) / total / (axial ? 2 : 1) : 0;
  for (const cell of cells) {
    spread(values, nodes, cell, side, kappa, height);
    if (axial) spread(values, nodes, { x: -cell.x, y: -cell.y, z: -cell.z, weight: cell.weight }, side, kappa, height);
  }
  return values;
}

/** Adds the kernel of one cell to the nodes around it, where it is more than e^-9 of its height. */
function spread(
  values: Float64Array,
  nodes: Float64Array,
  cell: Cell,
  side: Side,
  kappa: number,
  height: number,
): void {
  const least = 1 - 9 / kappa,
    [across, up] = onNet([cell.x, cell.y, cell.z], side);
  // Near the rim the projection stretches, by a quarter at most within what counts here.
  const around = 1.25 * Math.acos(least),
    columns = within(across, around),
    rows = within(up, around);
  for (let row = rows[0]; row <= rows[1]; row++)
    for (let node = row * NODES + columns[0]; node <= row * NODES + columns[1]; node++) {
      const t =
        (nodes[3 * node] as number) * cell.x +
        (nodes[3 * node + 1] as number) * cell.y +
        (nodes[3 * node + 2] as number) * cell.z;
      if (t > least) (values[node] as number) += cell.weight * height * Math.exp(kappa * (t - 1));
    }
}

/** The first and the last node of a row or column that is not farther than `around` from a place. */
function within(place: number, around: number): [number, number] {
  const node = (value: number): number => ((value / REACH + 1) / 2) * (NODES - 1);
  return [Math.max(0, Math.ceil(node(place - around))), Math.min(NODES - 1, Math.floor(node(place + around)))];
}

/** Where on the sphere every node is. */
function nodesOf(side: Side): Float64Array {
  const nodes = new Float64Array(3 * NODES * NODES);
  for (let node = 0; node < NODES * NODES; node++) {
    const across = ((node % NODES) / (NODES - 1)) * 2 - 1,
      up = (Math.floor(node / NODES) / (NODES - 1)) * 2 - 1;
    nodes.set(fromNet(across * REACH, up * REACH, side), 3 * node);
  }
  return nodes;
}
