// SPDX-License-Identifier: MIT
//
// The report of a stream and the report of a comparison, in a browser.
import assert from "node:assert/strict";
import { after, before, test } from "node:test";
import { isSvg, launch, needBrowser, pixels, saved, settled } from "./browser.mjs";
import { charts, colour, plane, stream } from "./fixtures.mjs";

needBrowser();
let browser;
before(async () => (browser = await launch()));
after(() => browser.close());

const label = (page) => page.locator(".frame-label").innerText();

test("sphere, picture and shares of the first frame", async () => {
  const { page, close } = await browser.open(stream());
  assert.equal(await label(page), "frame 100 · 1 of 30");
  assert.ok((await pixels(page, ".sphere", colour(4), 72)).count > 200, "what faces the camera");
  assert.ok((await pixels(page, ".stage", colour(0), 90)).count > 2000);
  for (const id of [0, 1, 2, 3, 4]) assert.ok((await pixels(page, ".shares", colour(id))).count > 1500, `band ${id}`);
  assert.match(await page.locator(".facts").innerText(), /30\s+frames\s+5\s+clusters seen\s+1\s+revivals/);
  assert.match(await page.locator(".frame-facts").innerText(), /source\s+000100.png/);
  await close();
});

test("the scrubber moves through time", async () => {
  const { page, close } = await browser.open(stream());
  const image = () => page.locator(".stage img").getAttribute("src"),
    first = await image();
  const sphere = await page.locator(".sphere").screenshot();
  await page.locator(".scrubber").fill("12");
  await settled(page);
  assert.equal(await label(page), "frame 112 · 13 of 30");
  assert.notEqual(await image(), first);
  assert.ok(!(await page.locator(".sphere").screenshot()).equals(sphere));
  assert.equal(await page.locator('.table-card tr[data-key="2"] .event').first().innerText(), "unseen");
  await close();
});

test("the rotation of the camera, and where it is not known", async () => {
  const turned = stream();
  turned.frames.forEach((frame, t) => {
    const half = (t * 4 * Math.PI) / 360; // 4 degrees a frame about y
    frame.rotation = [0, Math.sin(half), 0, Math.cos(half)];
    frame.rotation_rank = 3;
    frame.rotation_deviation = [0.3, 0.5, 0.3];
  });
  const { page, close } = await browser.open(turned);
  assert.ok((await pixels(page, ".rotations", "#2f8f4e", 40)).count > 300, "the curve of y");
  const text = (await saved(page, page.getByTitle("Save the rotations as CSV"))).text;
  assert.match(text, /frame,qx,qy,qz,qw,rank,sd x,sd y,sd z/);
  assert.ok(await isSvg(page, (await saved(page, page.getByTitle("Save the rotations as SVG"))).text));
  await page.locator(".rotations").click({ position: { x: 70, y: 100 } });
  await settled(page);
  assert.equal(await label(page), "frame 100 · 1 of 30");
  await close();
  const plain = await browser.open(stream());
  assert.equal(await plain.page.locator(".rotations-card").isVisible(), false);
  await plain.close();
});

test("keys: left, right, space, Home, End", async () => {
  const { page, close } = await browser.open(stream());
  const press = async (key) => {
    await page.keyboard.press(key);
    await settled(page);
    return label(page);
  };
  assert.match(await press("ArrowRight"), /^frame 101 /);
  assert.match(await press("Shift+ArrowRight"), /^frame 111 /);
  assert.match(await press("ArrowLeft"), /^frame 110 /);
  assert.match(await press("End"), /^frame 129 /);
  assert.match(await press("ArrowRight"), /^frame 129 /);
  assert.match(await press("Home"), /^frame 100 /);
  await page.locator(".scrubber").focus();
  assert.match(await press("ArrowRight"), /^frame 101 /, "once, not twice");
  await press("Space");
  await page.waitForFunction(() => !/^frame 10[01] /.test(document.querySelector(".frame-label").textContent));
  assert.equal(await page.locator(".play").getAttribute("aria-label"), "Pause (space)");
  await press("Space");
  assert.equal(await page.locator(".play").getAttribute("aria-label"), "Play (space)");
  await close();
});

test("playing ends at the last frame", async () => {
  const { page, close } = await browser.open(stream({ frames: 4 }));
  await page.locator(".transport select").selectOption("30");
  await page.locator(".play").click();
  await page.getByText("frame 103 · 4 of 4").waitFor();
  await page.getByRole("button", { name: "Play (space)" }).waitFor();
  await close();
});

test("an event is a way to its frame", async () => {
  const { page, close } = await browser.open(stream());
  await page.locator(".events-card tr", { hasText: "revived" }).click();
  await settled(page);
  assert.match(await label(page), /^frame 118 /);
  assert.equal(await page.locator('.table-card tr[aria-selected="true"]').first().getAttribute("data-key"), "2");
  await page.locator(".shares .u-over").click({ position: { x: 4, y: 100 } });
  await settled(page);
  assert.match(await label(page), /^frame 100 /, "so is the chart");
  await close();
});

test("a merged cluster says where it went", async () => {
  const data = stream();
  Object.assign(data.frames[12].clusters[1], { event: "merged", into: 0 });
  const { page, close } = await browser.open(data);
  const row = page.locator(".events-card tr", { hasText: "merged into 0" });
  assert.equal(await row.count(), 1);
  await row.click();
  await settled(page);
  assert.match(await label(page), /^frame 112 /);
  assert.equal(await page.locator(".table-card:not(.events-card) tr", { hasText: "merged into 0" }).count(), 1);
  await close();
});

test("every view of a stream is saved", async () => {
  const { page, close } = await browser.open(stream({ frames: 3 }));
  const files = {};
  for (const button of await page.locator(".exports button:visible").all()) {
    const file = await saved(page, button);
    files[file.name] = file.text;
  }
  const names = [
    "clusters.csv",
    "events.csv",
    "frame-100.png",
    "nets.csv",
    "nets.svg",
    "shares.csv",
    "shares.svg",
    "sphere.svg",
  ];
  assert.deepEqual(Object.keys(files).sort(), names);
  for (const name of names.filter((name) => name.endsWith(".svg"))) assert.ok(await isSvg(page, files[name]), name);
  assert.match(files["events.csv"], /^frame,event,id,share,into\r\n100,born,0,/);
  await close();
});

test("the planes of a frame: outlines, list, file", async () => {
  const data = stream({ frames: 3 });
  data.frames[1].planes = [plane(7, 0), plane(9, 1)];
  const { page, close } = await browser.open(data);
  const rows = page.locator(".planes-card tbody tr[data-key]"),
    outlines = page.locator(".planes-drawing path");
  assert.equal(await rows.count(), 0);
  await page.keyboard.press("ArrowRight");
  await settled(page);
  assert.equal(await rows.count(), 2);
  assert.equal(await outlines.count(), 2);
  await rows.filter({ hasText: "9" }).first().hover();
  assert.equal(await page.locator(".planes-drawing path.lit").getAttribute("data-plane"), "9");
  const file = await saved(page, page.locator(".planes-card .exports button"));
  assert.match(file.text, /^id,direction,area,[^\n]*\r\n9,1,1.9,9,/);
  await close();
});

test("the nets of a frame", async () => {
  const { page, close } = await browser.open(stream({ frames: 2 }));
  await page.getByText("Show the nets").click();
  await settled(page);
  assert.ok((await pixels(page, ".net-stage >> nth=0", colour(0))).count > 100);
  await close();
});

test("one frame, no picture, no points", async () => {
  const bare = stream({ frames: 1, image: false });
  bare.frames[0].sample = null;
  const { page, close } = await browser.open(bare);
  assert.equal(await label(page), "frame 100 · 1 of 1");
  assert.ok(await page.locator(".play").isDisabled());
  assert.ok(await page.getByText("This frame has no picture.").isVisible());
  assert.ok(await page.getByText("No points of this frame were kept").isVisible());
  assert.ok((await pixels(page, ".shares", colour(0))).count > 1500, "its bar fills the chart");
  await close();
});

test("many clusters and an empty stream", async () => {
  const many = stream({ frames: 3, points: 50 }),
    clusters = Array.from({ length: 3000 }, (_, id) => ({
      id,
      count: 1,
      share: 1 / 3000,
      xyz: [0, 0, 1],
      age: 0,
      spread: null,
      event: "seen",
    }));
  for (const frame of many.frames) frame.clusters = clusters;
  const full = await browser.open(many);
  assert.ok((await full.page.locator("tbody tr").count()) < 120);
  await full.page.keyboard.press("ArrowRight");
  await settled(full.page);
  assert.match(await label(full.page), /^frame 101 /);
  await full.close();
  const empty = await browser.open(stream({ frames: 0 }));
  assert.ok(await empty.page.getByText("Waiting for the first frame.").isVisible());
  await empty.close();
});

test("charts and tables of a comparison", async () => {
  const { page, close } = await browser.open(charts(), { scheme: "dark" });
  assert.match(await page.locator(".recommended").innerText(), /25 degrees/);
  assert.ok((await pixels(page, ".chart-card img", colour(1))).count > 2000, "the figure is drawn");
  const svg = await saved(page, page.locator(".chart-card .exports button").first());
  assert.equal(svg.name, "clusters-by-angle.svg");
  const csv = await saved(page, page.locator(".table-card .exports button"));
  assert.match(csv.text, /^angle,clusters,silhouette,recommended\r\n5,100,0.5,false\r\n/);
  await close();
});
