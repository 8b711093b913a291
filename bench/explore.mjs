// SPDX-License-Identifier: MIT
//
// node bench/explore.mjs: how long the page of `asterism explore` takes, from the event of the slider to the painted frame,
// in Chromium, as a distribution over drag steps; and from opening the page to its first result. Needs a release build with
// the page (ASTERISM=PATH: another command) and Chromium. It is no test: the times are those of this machine. Numbers as
// arguments choose workloads, from 0: node bench/explore.mjs 0 1. At small angles a step does not wait for the whole result,
// as in a drag, since that takes seconds.
import { existsSync, mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";

process.env.ASTERISM ??= new URL("../build/release/cli/asterism", import.meta.url).pathname;
const { launch } = await import("../viewer/test/browser.mjs");
const { explore, run } = await import("../viewer/test/explorer.mjs");

const folder = mkdtempSync(join(tmpdir(), "asterism-bench-"));
const sample = (name, options) => run(folder, "sample", ...options.split(" "), "--output", name);
const WORDS = "--points 10000 --dimension 100 --clusters 40 --kappa 60 --seed 7";
const workloads = [
  [
    "300,000 x 3, 30 clusters",
    "p300k.npy",
    "--points 300000 --dimension 3 --clusters 30 --kappa 400 --separation 30 --seed 7",
    15,
    60,
  ],
  [
    "1,000,000 x 3, 30 clusters",
    "p1m.npy",
    "--points 1000000 --dimension 3 --clusters 30 --kappa 400 --separation 30 --seed 7",
    15,
    60,
  ],
  [
    "10,000 x 100, 40 clusters",
    "words.npy",
    WORDS,
    60,
    100,
  ],
  ["10,000 x 100, 40 clusters, small angles", "words.npy", WORDS, 25, 55, "first"],
];

/** Sets the slider, and resolves when the frame with an answer to it is painted: the first, or the whole one. */
function step({ angle, until }) {
  return new Promise((done) => {
    const slider = document.querySelector(".angle-slider"),
      times = {};
    const painted = (then) => requestAnimationFrame(() => setTimeout(then));
    const hear = ({ detail }) => {
      if (detail.id !== detail.newest || !detail.command.includes(`--angle ${angle}`)) return;
      const parts = { ...window.marks, shown: performance.now(), elapsed: 1000 * detail.elapsed };
      requestAnimationFrame(() => (parts.frame = performance.now()));
      painted(() => {
        times.first ??= performance.now() - start;
        times.parts ??= split(start, parts);
        times.run = detail.seconds;
        if (detail.unfinished && until !== "first") return;
        document.removeEventListener("asterism-drawn", hear);
        done({ ...times, whole: performance.now() - start, clusters: detail.clusters });
      });
    };
    /** Where the time went, in ms. */
    const split = (start, { sent, came, shown, frame, elapsed }) => ({
      "event to request": sent - start,
      "server": elapsed,
      "on the way": came - sent - elapsed,
      "message to drawn": shown - came,
      "drawn to frame": frame - shown,
      "frame to painted": performance.now() - frame,
    });
    document.addEventListener("asterism-drawn", hear);
    slider.value = angle;
    const start = performance.now();
    slider.dispatchEvent(new Event("input"));
  });
}

/** Notes when the first result was painted, since the page was opened. */
function watch() {
  const note = () => requestAnimationFrame(() => setTimeout(() => (window.opened ??= performance.now())));
  document.addEventListener("asterism-drawn", note, { once: true });
  const { WebSocket: Plain } = window;
  window.marks = {};
  window.WebSocket = class extends Plain {
    constructor(...words) {
      super(...words);
      this.addEventListener("message", () => (window.marks.came = performance.now()));
    }
    send(data) {
      window.marks.sent = performance.now();
      super.send(data);
    }
  };
}

function distribution(values) {
  const sorted = [...values].sort((a, b) => a - b),
    at = (share) => sorted[Math.min(sorted.length - 1, Math.floor(share * sorted.length))].toFixed(1).padStart(7);
  return `least ${at(0)}  median ${at(0.5)}  90% ${at(0.9)}  99% ${at(0.99)}  most ${at(1)} ms`;
}

const browser = await launch();
const chosen = process.argv.slice(2).map(Number);
for (const [number, [title, name, options, from, to, until]] of workloads.entries()) {
  if (chosen.length && !chosen.includes(number)) continue;
  if (!existsSync(join(folder, name))) sample(name, options);
  const served = await explore(folder, name, "--angle", String(to));
  const { page, close } = await browser.visit(served.address, { prepare: (page) => page.addInitScript(watch) });
  await page.waitForFunction(() => window.opened);
  const opened = await page.evaluate(() => window.opened);
  const steps = [];
  for (let i = 0; i < 30; i++) {
    const angle = Math.round(10 * (to - ((to - from) * (i + 0.5)) / 30)) / 10;
    steps.push(await page.evaluate(step, { angle, until }));
    await page.waitForTimeout(30);
  }
  console.log(
    `${title}: ${from} to ${to} degrees, ${Math.min(...steps.map((s) => s.clusters))} to ${Math.max(...steps.map((s) => s.clusters))} clusters`,
  );
  console.log(`  first result after opening  ${opened.toFixed(0)} ms`);
  console.log(`  run alone      ${distribution(steps.map((s) => 1000 * s.run))}`);
  console.log(`  event to frame ${distribution(steps.map((s) => s.first))}`);
  if (until !== "first") console.log(`  whole result   ${distribution(steps.map((s) => s.whole))}`);
  for (const part of Object.keys(steps[0].parts))
    console.log(`    ${part.padEnd(17)} ${distribution(steps.map((s) => s.parts[part]))}`);
  await close();
  await served.end();
}
await browser.close();
rmSync(folder, { recursive: true });
