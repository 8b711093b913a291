// SPDX-License-Identifier: MIT
//
// `asterism explore` for the tests: starts it, opens its page, and hears what the page was answered.
import assert from "node:assert/strict";
import { execFileSync, spawn } from "node:child_process";
import { readFileSync } from "node:fs";
import { join } from "node:path";

export const asterism = process.env.ASTERISM ?? "asterism";

/** Runs the command; returns what it printed. */
export function run(folder, ...words) {
  return execFileSync(asterism, words, {
    cwd: folder,
    encoding: "utf8",
    stdio: ["ignore", "pipe", "pipe"],
    maxBuffer: 1 << 28,
  });
}

export function sample(folder, name, options) {
  run(folder, "sample", ...options.split(" "), "--output", name);
}

const running = new Set();

/** Ends what a failed test has left. */
export function endAll() {
  for (const child of running) child.kill();
}

/** Starts explore; its address, and how to end it. */
export async function explore(folder, ...words) {
  const child = spawn(asterism, ["explore", ...words], { cwd: folder, stdio: ["ignore", "ignore", "pipe"] });
  running.add(child);
  const ended = new Promise((done) => child.on("exit", (code) => running.delete(child) && done(code)));
  let said = "";
  const address = await new Promise((done, fail) => {
    child.stderr.on("data", (text) => {
      said += text;
      const found = /http:\S+/.exec(said);
      if (found) done(found[0]);
    });
    child.on("exit", () => fail(new Error(`explore ended: ${said}`)));
  });
  return {
    address,
    end: async () => {
      child.kill("SIGINT");
      return ended;
    },
  };
}

// The page keeps what it was answered.
const listen = (page) =>
  page.addInitScript(() => {
    window.results = [];
    window.firstResult = null;
    document.addEventListener("asterism-result", ({ detail }) => {
      window.firstResult ??= performance.now(); // since the page was opened
      const { labels, drawn, ...rest } = detail;
      window.results.push({ ...rest, labels: Array.from(labels), drawn: Array.from(drawn) });
      if (window.results.length > 20) window.results.shift();
    });
  });

/** Opens the page and waits for the first result. */
export async function open(browser, address, options = {}) {
  const visit = await browser.visit(address, { ...options, prepare: listen });
  visit.page.setDefaultTimeout(240_000); // machines that do other things too
  await answered(visit.page);
  return visit;
}

const seldom = { polling: 50 }; // milliseconds; otherwise as often as the page can be painted, which keeps it busy

/** Waits until the newest request has a finished result that passes the test; returns it. */
export async function answered(page, test = () => true) {
  for (;;) {
    // In one step: a later one could see what is unfinished and wait for another request than the one it belongs to.
    // As text, because playwright takes long for thousands of numbers.
    const found = await page.waitForFunction(
      () => {
        const last = window.results.at(-1);
        return last && last.id === last.newest && !last.unfinished && JSON.stringify(last);
      },
      null,
      seldom,
    );
    const last = JSON.parse(await found.jsonValue());
    await found.dispose();
    if (test(last)) return last;
    await page.waitForFunction((id) => window.results.at(-1).id !== id, last.id, seldom);
  }
}

/** Types a number into one of the inputs. */
export async function type(page, label, value) {
  const input = page.getByRole("spinbutton", { name: label, exact: true });
  await input.fill(String(value));
  await input.press("Enter");
}

/** Labels that a command wrote. */
export function readLabels(path) {
  const bytes = readFileSync(path),
    start = 10 + bytes.readUInt16LE(8);
  assert.match(bytes.subarray(10, start).toString("latin1"), /'descr': '<i4'/);
  return new Int32Array(bytes.buffer.slice(bytes.byteOffset + start, bytes.byteOffset + bytes.length));
}

/** Runs the command that the page shows, and compares the labels of the points that are drawn. */
export function same(folder, result, extra = []) {
  const words = result.command.split(" "),
    file = join(folder, "cold.npy");
  assert.equal(words[0], "asterism");
  const named = words.includes("--labels") ? [] : ["--labels", file];
  const path = named.length ? file : join(folder, words[words.indexOf("--labels") + 1]);
  const cold = JSON.parse(run(folder, ...words.slice(1), ...named, ...extra, "--json"));
  const labels = readLabels(path);
  assert.equal(result.clusters, cold.clusters, result.command);
  assert.equal(result.objective, cold.objective, result.command);
  assert.equal(result.iterations, cold.iterations, result.command);
  assert.deepEqual(
    result.labels,
    result.drawn.map((row) => labels[row]),
    result.command,
  );
  return cold;
}
