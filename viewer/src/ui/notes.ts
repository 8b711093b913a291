// SPDX-License-Identifier: MIT
//
// What the page itself has to say to the reader, after what the command said.
import type { Report } from "../data/types";
import { percent } from "./format";

export function notesOf(report: Report): string[] {
  const notes = [...report.notes];
  if (report.projection) {
    const whole = report.projection.explained.reduce((sum, share) => sum + share, 0);
    notes.push(`The three leading principal directions, drawn here, hold ${percent(whole)} of the whole.`);
  }
  if (report.axial) notes.push("x and −x are the same: every point is drawn at the end on which its mean is.");
  return notes;
}
