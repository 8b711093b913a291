// SPDX-License-Identifier: MIT
import { dot } from "../math/vector";
import type { Points } from "./points";
import type { Vec3 } from "./types";

/** x and -x are the same: turns every point to the end on which the mean of its cluster is. */
export function turnToMeans(points: Points, clusters: readonly { id: number; xyz: Vec3 }[]): void {
  const means = new Map(clusters.map((cluster) => [cluster.id, cluster.xyz]));
  for (let i = 0; i < points.count; i++) {
    const mean = means.get(points.labels[i] as number);
    if (!mean || dot(points.at(i), mean) >= 0) continue;
    for (let c = 3 * i; c < 3 * i + 3; c++) points.xyz[c] = -(points.xyz[c] as number);
  }
}
