// SPDX-License-Identifier: MIT
//
// Directions as a notebook has them: x is east, y north, z up.
import type { Field, Vec3 } from "../data/types";
import { DEGREES } from "./vector";

/** The names of x, y and z. */
export const EAST_NORTH_UP = ["E", "N", "up"];
/** Clockwise from the top of a net. */
export const COMPASS = ["N", "E", "S", "W"] as const;

export function azimuthOf(xyz: Vec3): number {
  return (Math.atan2(xyz[0], xyz[1]) * DEGREES + 360) % 360;
}

/** Whether the points are poles of planes. */
export function hasPlanes(field: Field | null): boolean {
  return field === "dip_direction" || field === "strike";
}

/** The dip direction or strike and the dip of the plane whose pole it is, the trend and plunge of a line, an azimuth. */
export function fieldWords(xyz: Vec3, field: Field, axial: boolean): string {
  if (field === "azimuth") return `azimuth ${whole(axial ? azimuthOf(xyz) % 180 : azimuthOf(xyz), 3)}°`;
  const turned = hasPlanes(field) ? xyz[2] < 0 : axial && xyz[2] > 0,
    end: Vec3 = turned ? [-xyz[0], -xyz[1], -xyz[2]] : xyz;
  const down = -Math.atan2(end[2], Math.hypot(end[0], end[1])) * DEGREES,
    azimuth = azimuthOf(end);
  if (field === "trend") return `trend/plunge ${whole(azimuth, 3)}/${whole(down, 2)}`;
  return field === "strike"
    ? `strike/dip ${whole((azimuth + 270) % 360, 3)}/${whole(90 + down, 2)}`
    : `dip direction/dip ${whole(azimuth, 3)}/${whole(90 + down, 2)}`;
}

function whole(degrees: number, digits: number): string {
  const text = String(Math.abs(Math.round(degrees))).padStart(digits, "0");
  return Math.round(degrees) < 0 ? `−${text}` : digits === 3 && text === "360" ? "000" : text;
}
