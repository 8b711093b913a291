// SPDX-License-Identifier: MIT
//
// The angles between means: as the report gives them, or from the means where those are three-dimensional.
import type { BatchReport } from "../data/types";
import { MOST_ANGLES } from "../matrix/matrix";
import { angle } from "../math/vector";

/** Null where there are too many means, or where only the command knows. */
export function anglesOf(report: BatchReport): number[][] | null {
  const { clusters } = report;
  if (report.angles) return report.angles;
  if (report.dimension > 3 || clusters.length > MOST_ANGLES) return null;
  return clusters.map((a) => clusters.map((b) => between(angle(a.xyz, b.xyz), report.axial)));
}

function between(degrees: number, axial: boolean): number {
  return axial && degrees > 90 ? 180 - degrees : degrees;
}
