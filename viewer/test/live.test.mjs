// SPDX-License-Identifier: MIT
//
// The live view against a server of the test's own: following, looking back, the end, a lost connection, a new stream.
import assert from "node:assert/strict";
import { readFileSync } from "node:fs";
import { after, before, test } from "node:test";
import { launch, needBrowser, template } from "./browser.mjs";
import { filled, frame, random, stream } from "./fixtures.mjs";
import { serve } from "./server.mjs";

needBrowser();
let browser, server;
before(async () => {
  browser = await launch();
  server = await serve(filled(readFileSync(template, "utf8"), stream({ frames: 0, live: true })));
});
after(async () => {
  await browser.close();
  await server.close();
});

const draw = random(3),
  next = (t) => ({ type: "frame", data: frame(t, 30, 200, true, draw), colors: {} });
const hello = (frames, run) => ({ type: "hello", data: stream({ frames, live: true, run, title: `stream ${run}` }) });
const shows = (page, words) => page.waitForFunction((text) => document.body.innerText.includes(text), words);
const state = (page, kind) => page.locator(`.state[data-kind="${kind}"]`).waitFor();
// Chromium itself says so when a socket cannot be opened.
const expected = [/WebSocket connection to .* failed/];

test("follows a running stream, and looks back while it runs", async () => {
  server.greet(hello(3, "one"));
  const { page, close } = await browser.visit(server.address);
  await state(page, "live");
  await shows(page, "frame 102 · 3 of 3");
  server.say(next(3));
  await shows(page, "frame 103 · 4 of 4");
  await page.keyboard.press("ArrowLeft");
  await shows(page, "frame 102 · 3 of 4");
  server.say(next(4));
  await shows(page, "frame 102 · 3 of 5");
  assert.equal(await page.locator(".follow").getAttribute("aria-pressed"), "false");
  await page.keyboard.press("End");
  await shows(page, "frame 104 · 5 of 5");
  server.say("this is no JSON");
  server.say({ type: "weather" });
  server.say(next(5));
  await shows(page, "frame 105 · 6 of 6");
  await close();
});

test("survives the end, a lost connection and another stream", async () => {
  server.greet(hello(3, "one"));
  const { page, close } = await browser.visit(server.address, { expected });
  await shows(page, "frame 102 · 3 of 3");
  server.say({ type: "end", reason: "All 3 frames are done." });
  await shows(page, "All 3 frames are done.");
  await page.keyboard.press("Home");
  await shows(page, "frame 100 · 1 of 3");
  server.greet(hello(5, "two"));
  server.say(hello(5, "two"));
  await state(page, "live");
  await shows(page, "frame 104 · 5 of 5");
  assert.equal(await page.locator("h1").innerText(), "stream two");
  await page.keyboard.press("Home");
  server.refuse(true);
  server.drop();
  await state(page, "lost");
  assert.match(await page.locator(".state").innerText(), /No connection; trying again in \d s/);
  server.greet(hello(6, "two"));
  server.refuse(false);
  await state(page, "live");
  await shows(page, "frame 100 · 1 of 6");
  await close();
});

test("two viewers see the same, one that comes late too", async () => {
  server.greet(hello(4, "three"));
  const first = await browser.visit(server.address),
    second = await browser.visit(server.address);
  for (const { page } of [first, second]) await shows(page, "frame 103 · 4 of 4");
  assert.ok(server.listeners() >= 2);
  await first.close();
  server.say(next(4));
  await shows(second.page, "frame 104 · 5 of 5");
  await second.close();
});

test("a stream that never ends is forgotten from its beginning", async () => {
  const clusters = [{ id: 0, count: 1, share: 1, xyz: [0, 0, 1], age: 0, spread: null, event: "seen" }];
  const long = hello(0, "long");
  long.data.frames = Array.from({ length: 20000 }, (_, number) => ({ frame: number, points: 1, clusters }));
  server.greet(long);
  const { page, close } = await browser.visit(server.address);
  await shows(page, "frame 19999 · 20000 of 20000");
  server.say({ type: "frame", data: { frame: 20000, points: 1, clusters } });
  await shows(page, "frame 20000 · 18000 of 18000");
  await page.keyboard.press("Home");
  await shows(page, "frame 2001 · 1 of 18000");
  await close();
});

test("a saved copy of a live view asks for nothing", async () => {
  const { page, close } = await browser.open(stream({ frames: 2, live: true }));
  assert.match(await page.locator(".state").innerText(), /A copy of a live view/);
  await close();
});
