// SPDX-License-Identifier: MIT

/** How large a point is drawn: many points are small, few are large; they grow a little when the reader comes closer. */
export function dotRadius(count: number, zoom: number): number {
  const size = 3.6 * Math.pow(Math.max(count, 200) / 200, -0.19);
  return Math.max(0.9, size) * Math.sqrt(Math.max(zoom, 1));
}
