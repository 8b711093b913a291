// SPDX-License-Identifier: MIT
//
// `asterism stream --view` as people use it: the page follows while frames come out of a pipe, and outlives the stream, a
// second viewer, and another stream on the same port.
import assert from "node:assert/strict";
import { execFileSync, spawn } from "node:child_process";
import { readFileSync } from "node:fs";
import { join } from "node:path";
import { after, before, test } from "node:test";
import { launch, needBrowser } from "./browser.mjs";

needBrowser();
const asterism = process.env.ASTERISM ?? "asterism";

let browser, frame;
const running = new Set();
before(async () => {
  browser = await launch();
  const words =
    "sample --points 500 --dimension 3 --clusters 3 --kappa 200 --separation 60 --seed 4 --output frame.npy";
  execFileSync(asterism, words.split(" "), { cwd: browser.folder, stdio: "ignore" });
  frame = readFileSync(join(browser.folder, "frame.npy"));
});
after(async () => {
  for (const stream of running) stream.kill();
  await browser.close();
});

/** A stream out of a pipe, and its address. */
async function start(...options) {
  const stream = spawn(asterism, ["stream", "-", "--angle", "30", "--view", ...options], {
    stdio: ["pipe", "ignore", "pipe"],
  });
  running.add(stream);
  const ended = new Promise((done) => stream.on("exit", done));
  const address = await new Promise((done, fail) => {
    let said = "";
    stream.stderr.on("data", (text) => {
      said += text;
      const found = /http:\S+/.exec(said);
      if (found) done(found[0]);
    });
    stream.on("exit", () => fail(new Error(`the stream ended: ${said}`)));
  });
  return {
    address,
    push: () => stream.stdin.write(frame),
    finish: () => stream.stdin.end(),
    interrupt: () => stream.kill("SIGINT"),
    ended,
  };
}

const shows = (page, words) => page.waitForFunction((text) => document.body.innerText.includes(text), words);
const state = (page, kind) => page.locator(`.state[data-kind="${kind}"]`).waitFor();
// Chromium itself says so when a socket cannot be opened.
const expected = [/WebSocket connection to .* failed/];

test("the page follows a running stream, and outlives it", async () => {
  const stream = await start("--view-end", "stay");
  stream.push();
  const first = await browser.visit(stream.address, { expected });
  await shows(first.page, "1 of 1");
  await state(first.page, "live");
  stream.push();
  stream.push();
  await shows(first.page, "3 of 3");
  const late = await browser.visit(stream.address, { expected });
  await shows(late.page, "3 of 3");
  stream.push();
  for (const { page } of [first, late]) await shows(page, "4 of 4");
  await first.page.reload();
  await shows(first.page, "4 of 4");
  stream.finish();
  for (const { page } of [first, late]) await state(page, "ended");
  await first.page.keyboard.press("ArrowLeft");
  await shows(first.page, "3 of 4");
  stream.interrupt();
  assert.equal(await stream.ended, 0);
  await late.close();
  await first.page.keyboard.press("Home");
  await shows(first.page, "1 of 4");
  await first.close();
});

test("another stream on the same port", async () => {
  const one = await start(),
    port = new URL(one.address).port;
  one.push();
  const old = await browser.visit(one.address, { expected });
  await shows(old.page, "1 of 1");
  one.finish();
  await state(old.page, "ended");
  assert.equal(await one.ended, 0);
  const two = await start(port);
  assert.notEqual(two.address, one.address, "another token");
  two.push();
  two.push();
  const now = await browser.visit(two.address, { expected });
  await shows(now.page, "2 of 2");
  await shows(old.page, "1 of 1");
  two.finish();
  assert.equal(await two.ended, 0);
  await state(now.page, "ended");
  await now.close();
  await old.close();
});
