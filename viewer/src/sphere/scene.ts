// SPDX-License-Identifier: MIT
//
// What there is to see on the sphere, for the sphere itself and for the nets.
import type { Colours } from "../data/colours";
import type { Points } from "../data/points";
import type { Vec3 } from "../data/types";
import type { Inks } from "../ui/theme";

/** The mean of a cluster and how far its points spread around it. */
export interface Marker {
  id: number;
  xyz: Vec3;
  /** Degrees, or null. */
  spread: number | null;
  share: number;
  /** The 95% cone of a mean measured in the field: degrees, or null. */
  cone?: number | null;
  /** Of a girdle: it is the pole of a great circle. */
  girdle?: boolean;
  /** A cluster without points now: drawn hollow. */
  faint: boolean;
}

/** Where a mean has been, oldest first. */
export interface Trail {
  id: number;
  places: Vec3[];
}

export interface Scene {
  points: Points;
  colours: Colours;
  /** Largest first. */
  markers: Marker[];
  trails: Trail[];
}

/** How the reader wants to see it. */
export interface Look {
  ink: Inks;
  /** The cluster that is lit up. */
  active: number | null;
  /** Whether what is behind shows through. */
  through: boolean;
}

/** Means, circles and names of more clusters than this would hide what they mark. */
export const MOST_MEANS = 200;
export const MOST_CIRCLES = 60;
export const MOST_NAMES = 40;
