// SPDX-License-Identifier: MIT
//
// Reports with made-up data, as DATA.md has them, for the tests of the page alone. The numbers are drawn from a small
// generator with a seed, so that every run sees the same points.
import { readFileSync, writeFileSync } from "node:fs";
import { deflateSync } from "node:zlib";

const hues = ["#e69f00", "#0072b2", "#f0e442", "#cc79a7", "#009e73", "#56b4e9", "#d55e00"];

export function random(seed) {
  let state = seed >>> 0;
  return () => {
    state = (Math.imul(state, 1664525) + 1013904223) >>> 0;
    return (state + 0.5) / 4294967296;
  };
}

function gaussian(draw) {
  return Math.sqrt(-2 * Math.log(draw())) * Math.cos(2 * Math.PI * draw());
}

function unit(v) {
  const length = Math.hypot(...v) || 1;
  return v.map((x) => x / length);
}

/** A point near a mean: noise on every coordinate, then back to the sphere. */
function near(mean, spread, draw) {
  return unit(mean.map((x) => x + spread * gaussian(draw)));
}

/** Means far from each other: the first of a golden spiral. */
export function spiral(count) {
  return Array.from({ length: count }, (_, i) => {
    const z = 1 - (2 * i + 1) / count,
      r = Math.sqrt(1 - z * z),
      turn = i * Math.PI * (3 - Math.sqrt(5));
    return [r * Math.cos(turn), r * Math.sin(turn), z];
  });
}

function base64(array) {
  return Buffer.from(array.buffer, array.byteOffset, array.byteLength).toString("base64");
}

export function encode(points, labels) {
  const xyz = Int16Array.from(points.flat().map((x) => Math.round(32767 * Math.max(-1, Math.min(1, x)))));
  return { xyz: base64(xyz), labels: base64(Int32Array.from(labels)) };
}

export function colour(id) {
  return hues[id % hues.length];
}

function dips([x, y, z]) {
  const up = z < 0 ? -1 : 1,
    degrees = 180 / Math.PI;
  return {
    dip: Math.acos(Math.min(1, up * z)) * degrees,
    dip_direction: (Math.atan2(up * x, up * y) * degrees + 360) % 360,
  };
}

const common = {
  format: 1,
  run: "fixture",
  version: "0.1.0",
  notes: [],
  dimension: 3,
  axial: false,
  projection: null,
};

/** A batch with `clusters` clusters of sizes that fall, `points` points in all, and a hundredth of them without a label. */
export function batch({ points = 3000, clusters = 6, dimension = 3, spread = 0.12, ...more } = {}) {
  const draw = random(7),
    means = clusters === 1 ? [[0.6, 0, 0.8]] : spiral(clusters),
    labels = [],
    places = [];
  for (let i = 0; i < points; i++) {
    const label = i % 101 === 100 ? -1 : Math.min(clusters - 1, Math.floor(clusters * draw() * Math.sqrt(draw())));
    labels.push(label);
    places.push(
      flat(
        label < 0 ? unit([gaussian(draw), gaussian(draw), gaussian(draw)]) : near(means[label], spread, draw),
        dimension,
      ),
    );
  }
  const sizes = new Array(clusters).fill(0);
  for (const label of labels) if (label >= 0) sizes[label]++;
  const list = means.map((mean, id) => ({
    id,
    size: sizes[id],
    share: sizes[id] / points,
    kappa: 1 / spread ** 2,
    spread: ((spread * 180) / Math.PI) * Math.SQRT2,
    mean: flat(mean, dimension).slice(0, dimension),
    xyz: flat(mean, dimension),
    ...(dimension === 3 ? dips(mean) : {}),
    color: colour(id),
  }));
  return {
    ...common,
    kind: "batch",
    title: "cluster points.npy",
    command: "asterism cluster points.npy --angle 25 --report 'my report.html'",
    parameters: { method: "dp", angle: 25, max_iterations: 100, axial: false },
    measures: { objective: 1234.5678, iterations: 4, converged: null, seconds: 0.0071 },
    dimension,
    points: { total: points, shown: points, ...encode(places, labels) },
    clusters: list,
    ...more,
  };
}

/** A map of rows in heaps around a circle, one per cluster, with names. */
export function mapOf(clusters, each) {
  const draw = random(11),
    xy = [],
    labels = [],
    names = [];
  for (let id = 0; id < clusters; id++)
    for (let i = 0; i < each; i++) {
      const turn = (2 * Math.PI * id) / clusters;
      xy.push(0.7 * Math.cos(turn) + 0.05 * gaussian(draw), 0.7 * Math.sin(turn) + 0.05 * gaussian(draw));
      labels.push(id);
      names.push(`row ${i} of <b>heap</b> ${"abcdefgh"[id]}`);
    }
  const places = Int16Array.from(xy.map((x) => Math.round(32767 * Math.max(-1, Math.min(1, x)))));
  return { shown: labels.length, xy: base64(places), labels: base64(Int32Array.from(labels)), names };
}

function flat(v, dimension) {
  return dimension === 2 ? [...unit([v[0], v[1]]), 0] : v;
}

/** A stream in which directions drift, one vanishes and comes back, and one dies. */
/** A plane of a frame, or of a cloud: a square at a height that is its id. */
export function plane(id, direction, side = 0.25) {
  const corners = [[0, 0], [side, 0], [side, side], [0, side]];
  return {
    id,
    direction,
    area: 1 + id / 10,
    offset: id,
    rms: 0.004,
    count: 900,
    normal: [0, 0, 1],
    dip: 12,
    dip_direction: 34,
    polygons: [corners.map(([x, y]) => [x + direction / 2, y, id])],
    color: colour(direction),
  };
}

export function stream({ frames = 30, points = 600, image = true, ...more } = {}) {
  const draw = random(11),
    list = [];
  for (let t = 0; t < frames; t++) list.push(frame(t, frames, points, image, draw));
  return {
    ...common,
    kind: "stream",
    title: "stream depth/",
    command: "asterism stream depth/ --angle 75 --report hall.html",
    parameters: { method: "ddp", angle: 75, drift: 0.02 },
    measures: {},
    frames: list,
    colors: Object.fromEntries([0, 1, 2, 3, 4].map((id) => [id, colour(id)])),
    ...more,
  };
}

export function frame(t, frames, points, image, draw) {
  const clusters = [0, 1, 2, 3, 4].map((id) => trackAt(id, t, frames)).filter(Boolean);
  const total = clusters.reduce((sum, cluster) => sum + cluster.weight, 0),
    labels = [],
    places = [];
  for (const cluster of clusters) {
    cluster.count = Math.round((points * cluster.weight) / total);
    for (let i = 0; i < cluster.count; i++) (labels.push(cluster.id), places.push(near(cluster.xyz, 0.08, draw)));
  }
  const shares = clusters.map(({ id, xyz, count, event, age }) => ({
    id,
    count,
    share: count / labels.length,
    xyz,
    age,
    spread: count ? 6.5 : null,
    event,
  }));
  return {
    frame: 100 + t,
    source: `${String(100 + t).padStart(6, "0")}.png`,
    points: 40000,
    missing: 1200,
    milliseconds: 4 + (t % 5) / 3,
    objective: 39000 + t,
    clusters: shares,
    sample: encode(places, labels),
    image: image ? picture(t, frames) : null,
  };
}

function trackAt(id, t, frames) {
  const turn = (t / Math.max(frames, 2)) * 1.4 + id * 1.3,
    xyz = unit([Math.cos(turn), Math.sin(turn), 0.9 - 0.45 * id]),
    part = t / frames;
  const gone = id === 2 && part > 0.3 && part < 0.6,
    born = id === 3 ? Math.floor(frames * 0.2) : 0;
  if (t < born || (id === 4 && part > 0.8)) return null;
  const back = id === 2 && t === Math.ceil(frames * 0.6),
    died = id === 4 && part <= 0.8 && (t + 1) / frames > 0.8;
  const event = died ? "died" : t === born ? "born" : gone ? "unseen" : back ? "revived" : "seen";
  return {
    id,
    xyz,
    event,
    age: gone ? t - Math.floor(frames * 0.3) : 0,
    weight: gone || died ? 0 : 1 + Math.sin(t / 9 + id) * 0.6 + (id === 0 ? 1 : 0),
  };
}

export function charts() {
  const bars = [3, 8, 5, 9, 2]
    .map((h, i) => `<rect x="${40 + i * 60}" y="${200 - h * 18}" width="40" height="${h * 18}" fill="${hues[i]}"/>`)
    .join("");
  const svg = `<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 380 220"><rect width="380" height="220" fill="#fff"/>${bars}<text x="20" y="20" font-size="14">clusters by angle</text></svg>`;
  const rows = Array.from({ length: 40 }, (_, i) => [5 + i, Math.round(200 / (i + 2)), 0.5 + i / 100, i === 20]);
  return {
    ...common,
    kind: "charts",
    title: "tune points.npy",
    command: "asterism tune points.npy --report tune.html",
    parameters: { angles: "5-45" },
    measures: {},
    recommended: "Take an angle of 25 degrees: 30 clusters, stable from 21 to 29.",
    charts: [
      { title: "Clusters by angle", svg },
      { title: "Silhouette", svg },
    ],
    tables: [{ title: "Angles", columns: ["angle", "clusters", "silhouette", "recommended"], rows }],
  };
}

/** A small PNG with stripes that move: 8-bit RGB, no filter. */
export function picture(t, frames) {
  const width = 160,
    height = 120,
    rows = Buffer.alloc(height * (1 + 3 * width));
  for (let y = 0; y < height; y++)
    for (let x = 0; x < width; x++) {
      const stripe = Math.floor((x + (t / frames) * 160) / 32) % 5,
        rgb = parseInt(colour(stripe).slice(1), 16),
        shade = 0.5 + y / 240,
        at = y * (1 + 3 * width) + 1 + 3 * x;
      rows[at] = ((rgb >> 16) & 255) * shade;
      rows[at + 1] = ((rgb >> 8) & 255) * shade;
      rows[at + 2] = (rgb & 255) * shade;
    }
  const header = Buffer.alloc(13);
  header.writeUInt32BE(width, 0);
  header.writeUInt32BE(height, 4);
  header.set([8, 2, 0, 0, 0], 8);
  const file = Buffer.concat([
    Buffer.from("89504e470d0a1a0a", "hex"),
    chunk("IHDR", header),
    chunk("IDAT", deflateSync(rows)),
    chunk("IEND", Buffer.alloc(0)),
  ]);
  return `data:image/png;base64,${file.toString("base64")}`;
}

function chunk(name, data) {
  const body = Buffer.concat([Buffer.from(name, "latin1"), data]),
    result = Buffer.alloc(body.length + 8);
  result.writeUInt32BE(data.length, 0);
  body.copy(result, 4);
  result.writeUInt32BE(crc(body), body.length + 4);
  return result;
}

function crc(bytes) {
  let value = ~0;
  for (const byte of bytes) {
    value ^= byte;
    for (let bit = 0; bit < 8; bit++) value = (value >>> 1) ^ (value & 1 ? 0xedb88320 : 0);
  }
  return ~value >>> 0;
}

/** The page with the data in it, exactly as the command writes it. */
export function filled(page, report) {
  const json = JSON.stringify(report).replaceAll("</", "<\\/").replaceAll("<!--", "<\\u0021--");
  return page.replace(
    "<!--asterism:data-->",
    () => `<script type="application/json" id="asterism-data">${json}</script>`,
  );
}

export function writeReport(page, path, report) {
  writeFileSync(path, filled(readFileSync(page, "utf8"), report));
}
