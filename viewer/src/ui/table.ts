// SPDX-License-Identifier: MIT
//
// A table that sorts, lights up rows with the other views, works by keyboard, and draws only the rows that are on the
// screen: ten thousand rows cost as much as thirty.
import type { Value } from "../data/types";
import { el, onceAFrame } from "./dom";
import { saveCsv } from "./save";

export interface Column<Row> {
  title: string;
  /** Longer words for the heading's tooltip. */
  help?: string;
  /** What sorts and what is exported. */
  value: (row: Row) => Value;
  /** What is shown, if it is not the value itself. */
  cell?: (row: Row) => Node | string;
  numeric?: boolean;
  width?: string;
}

export interface TableOptions<Row> {
  label: string;
  columns: Column<Row>[];
  /** What makes a row that row, for lighting up. */
  key: (row: Row) => number;
  hover?: (key: number | null) => void;
  pick?: (key: number) => void;
  sort?: { column: number; descending: boolean };
}

const ROW = 30;
const SPARE = 8;

export class DataTable<Row> {
  readonly element: HTMLElement;
  private readonly body = el("tbody");
  private readonly heads: HTMLTableCellElement[];
  private readonly table: HTMLTableElement;
  private rows: Row[] = [];
  private sorted: Row[] = [];
  private sort: { column: number; descending: boolean } | null;
  private lit: number | null = null;
  private picked: number | null = null;
  private cursor = 0;
  private pressed: HTMLTableRowElement | null = null;
  private readonly redraw = onceAFrame(() => this.draw());

  constructor(private readonly options: TableOptions<Row>) {
    this.sort = options.sort ?? null;
    this.heads = options.columns.map((column, i) => this.head(column, i));
    const widths = el("colgroup", {}, ...options.columns.map((column) => sized(el("col"), column.width)));
    this.table = el(
      "table",
      { "aria-label": options.label, role: "grid" },
      widths,
      el("thead", {}, el("tr", {}, ...this.heads)),
      this.body,
    );
    this.table.style.minWidth = `${totalWidth(options.columns)}em`;
    this.element = el(
      "div",
      { class: "table", tabindex: 0, role: "group", "aria-label": `${options.label}: arrows move, Enter picks` },
      this.table,
    );
    this.element.addEventListener("scroll", this.redraw, { passive: true });
    this.element.addEventListener("keydown", (event) => this.key(event));
    this.element.addEventListener("pointerleave", () => options.hover?.(null));
    this.body.addEventListener("pointerdown", (event) => (this.pressed = rowUnder(event)));
    this.body.addEventListener("pointerup", (event) => this.release(event));
    new ResizeObserver(this.redraw).observe(this.element);
    this.markSort();
  }

  show(rows: Row[]): void {
    this.rows = rows;
    this.order();
  }

  light(lit: number | null, picked: number | null): void {
    if (lit === this.lit && picked === this.picked) return;
    this.lit = lit;
    this.picked = picked;
    for (const row of this.body.rows) this.mark(row);
  }

  /** Scrolls to a row, if it is not in sight, and puts the keyboard's cursor there. */
  reveal(key: number): void {
    const index = this.sorted.findIndex((row) => this.options.key(row) === key);
    if (index < 0) return;
    this.cursor = index;
    const top = index * ROW,
      { scrollTop, clientHeight } = this.element,
      head = this.heads[0]?.offsetHeight ?? ROW;
    if (top < scrollTop || top + ROW + head > scrollTop + clientHeight)
      this.element.scrollTop = top - (clientHeight - head) / 2;
    this.redraw();
  }

  save(name: string): void {
    const { columns } = this.options;
    saveCsv(
      name,
      columns.map((column) => column.title),
      this.sorted.map((row) => columns.map((column) => column.value(row))),
    );
  }

  private head(column: Column<Row>, index: number): HTMLTableCellElement {
    const button = el(
      "button",
      { type: "button", title: column.help ?? `Sort by ${column.title}`, onclick: () => this.sortBy(index) },
      column.title,
    );
    return el("th", { scope: "col", class: column.numeric ? "numeric" : null }, button);
  }

  private sortBy(column: number): void {
    const numeric = this.options.columns[column]?.numeric === true;
    const same = this.sort?.column === column;
    this.sort = { column, descending: same ? !this.sort?.descending : numeric };
    this.markSort();
    this.order();
  }

  private markSort(): void {
    this.heads.forEach((head, i) => {
      if (this.sort?.column === i) head.setAttribute("aria-sort", this.sort.descending ? "descending" : "ascending");
      else head.removeAttribute("aria-sort");
    });
  }

  private order(): void {
    const { sort } = this,
      column = sort && this.options.columns[sort.column];
    this.sorted = column ? sortedBy(this.rows, column.value, sort.descending) : this.rows;
    this.table.setAttribute("aria-rowcount", String(this.sorted.length + 1));
    this.cursor = Math.min(this.cursor, Math.max(0, this.sorted.length - 1));
    this.redraw();
  }

  private draw(): void {
    const { scrollTop, clientHeight } = this.element;
    const first = Math.max(0, Math.floor(scrollTop / ROW) - SPARE);
    const last = Math.min(this.sorted.length, Math.ceil((scrollTop + clientHeight) / ROW) + SPARE);
    const rows = this.sorted.slice(first, last).map((row, i) => this.row(row, first + i));
    this.body.replaceChildren(spacer(first), ...rows, spacer(this.sorted.length - last));
  }

  private row(row: Row, index: number): HTMLTableRowElement {
    const key = this.options.key(row);
    const cells = this.options.columns.map((column) =>
      el("td", { class: column.numeric ? "numeric" : null }, shown(column, row)),
    );
    const element = el("tr", { "data-key": key, "data-index": index, "aria-rowindex": index + 2 }, ...cells);
    element.addEventListener("pointerenter", () => this.options.hover?.(key));
    element.addEventListener("click", () => this.choose(index));
    this.mark(element);
    return element;
  }

  private mark(row: HTMLTableRowElement): void {
    const key = Number(row.dataset["key"]);
    if (row.dataset["key"] === undefined) return;
    row.classList.toggle("lit", key === this.lit);
    row.classList.toggle("cursor", Number(row.dataset["index"]) === this.cursor);
    row.setAttribute("aria-selected", String(key === this.picked));
  }

  /** A row that is drawn anew between press and release gets no click: the browser has lost the row that was pressed. */
  private release(event: PointerEvent): void {
    const { pressed } = this,
      row = rowUnder(event);
    this.pressed = null;
    if (pressed && !pressed.isConnected && row && row.dataset["key"] === pressed.dataset["key"])
      this.choose(Number(row.dataset["index"]));
  }

  private choose(index: number): void {
    const row = this.sorted[index];
    this.cursor = index;
    if (row !== undefined) this.options.pick?.(this.options.key(row));
    this.redraw();
  }

  private key(event: KeyboardEvent): void {
    if (event.target !== this.element || event.ctrlKey || event.metaKey || event.altKey) return;
    const page = Math.max(1, Math.floor(this.element.clientHeight / ROW) - 2);
    const steps: Record<string, number> = {
      ArrowDown: 1,
      ArrowUp: -1,
      PageDown: page,
      PageUp: -page,
      Home: -Infinity,
      End: Infinity,
    };
    const step = steps[event.key];
    if (step !== undefined) this.moveCursor(step);
    else if (event.key === "Enter" && this.options.pick) this.choose(this.cursor);
    else return;
    event.preventDefault();
    event.stopPropagation();
  }

  private moveCursor(step: number): void {
    this.cursor = Math.max(0, Math.min(this.sorted.length - 1, this.cursor + step));
    const row = this.sorted[this.cursor];
    if (row === undefined) return;
    const key = this.options.key(row),
      top = this.cursor * ROW,
      head = this.heads[0]?.offsetHeight ?? ROW;
    if (top < this.element.scrollTop) this.element.scrollTop = top;
    if (top + ROW + head > this.element.scrollTop + this.element.clientHeight)
      this.element.scrollTop = top + ROW + head - this.element.clientHeight;
    this.options.hover?.(key);
    this.redraw();
  }
}

function rowUnder(event: PointerEvent): HTMLTableRowElement | null {
  if (event.button !== 0 || !(event.target instanceof Element)) return null;
  return event.target.closest<HTMLTableRowElement>("tr[data-key]");
}

function shown<Row>(column: Column<Row>, row: Row): Node | string {
  if (column.cell) return column.cell(row);
  const value = column.value(row);
  return value === null ? "–" : String(value);
}

/** Numbers by size, words by the alphabet, what is missing at the end; equal ones stay in order. */
function sortedBy<Row>(rows: Row[], value: (row: Row) => Value, descending: boolean): Row[] {
  const way = descending ? -1 : 1;
  return [...rows].sort((a, b) => {
    const x = value(a),
      y = value(b);
    if (x === null || y === null) return Number(x === null) - Number(y === null);
    if (typeof x === "number" && typeof y === "number") return way * (x - y);
    return way * String(x).localeCompare(String(y), "en", { numeric: true });
  });
}

function spacer(rows: number): HTMLTableRowElement {
  const row = el("tr", { class: "spacer", "aria-hidden": "true" });
  row.style.height = `${rows * ROW}px`;
  return row;
}

function sized(column: HTMLElement, width: string | undefined): HTMLElement {
  if (width) column.style.width = width;
  return column;
}

/** What all columns take, in em: a narrower page scrolls the table. */
function totalWidth<Row>(columns: readonly Column<Row>[]): number {
  return columns.reduce((sum, column) => sum + (parseFloat(column.width ?? "") || 5), 0);
}
