// SPDX-License-Identifier: MIT
import { bytes } from "../data/points";
import type { EncodedMap } from "../data/types";
import type { MapData } from "./map";

export function decodeMap(encoded: EncodedMap): MapData {
  const xy = new Int16Array(bytes(encoded.xy, 2)),
    labels = new Int32Array(bytes(encoded.labels, 4));
  if (xy.length !== 2 * labels.length)
    throw new Error(`The map has ${labels.length} labels for ${xy.length / 2} rows.`);
  return { xy, labels, names: encoded.names?.length === labels.length ? encoded.names : null };
}
