// SPDX-License-Identifier: MIT
//
// Files that the reader takes along: CSV, SVG, PNG. They are made here and never leave the page by another way.
import type { Value } from "../data/types";
import { el } from "./dom";

export function saveText(name: string, type: string, text: string): void {
  const address = URL.createObjectURL(new Blob([text], { type: `${type};charset=utf-8` }));
  saveAddress(name, address);
  setTimeout(() => URL.revokeObjectURL(address), 10_000);
}

/** Saves what an address (data: or blob:) holds. */
export function saveAddress(name: string, address: string): void {
  const link = el("a", { href: address, download: name });
  document.body.append(link);
  link.click();
  link.remove();
}

export function saveCsv(name: string, header: string[], rows: Iterable<readonly Value[]>): void {
  const lines = [csvLine(header)];
  for (const row of rows) lines.push(csvLine(row));
  saveText(`${name}.csv`, "text/csv", lines.join("\r\n") + "\r\n");
}

export function saveSvg(name: string, text: string): void {
  saveText(`${name}.svg`, "image/svg+xml", text);
}

function csvLine(values: readonly Value[]): string {
  return values.map(csvField).join(",");
}

/** As RFC 4180 has it; empty where there is no value. */
function csvField(value: Value): string {
  if (value === null) return "";
  const text = String(value);
  return /[",\r\n]/.test(text) ? `"${text.replaceAll('"', '""')}"` : text;
}
