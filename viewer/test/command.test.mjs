// SPDX-License-Identifier: MIT
//
// The reports that the command itself writes, opened in a browser and compared with what the command said.
import assert from "node:assert/strict";
import { execFileSync } from "node:child_process";
import { readFileSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { pathToFileURL } from "node:url";
import { after, before, test } from "node:test";
import { launch, needBrowser, pixels, settled } from "./browser.mjs";

needBrowser();
const asterism = process.env.ASTERISM ?? "asterism";
let browser;
before(async () => (browser = await launch()));
after(() => browser.close());

const run = (...words) =>
  execFileSync(asterism, words, { cwd: browser.folder, encoding: "utf8", stdio: ["ignore", "pipe", "pipe"] });
const open = (name) => browser.visit(pathToFileURL(join(browser.folder, name)).href);

function sample(name, dimension, clusters) {
  run(
    "sample",
    ...`--points 4000 --dimension ${dimension} --clusters ${clusters} --kappa 200 --separation 50`.split(" "),
    ...`--seed 5 --output ${name}`.split(" "),
  );
}

test("cluster --report", async () => {
  sample("points.npy", 3, 5);
  const result = JSON.parse(run("cluster", "points.npy", "--angle", "30", "--json", "--report", "my report.html"));
  const { page, close } = await open("my report.html");
  assert.equal(await page.locator(".table-card tbody tr[data-key]").count(), result.clusters);
  for (const { id, size } of result.cluster) {
    const row = await page.locator(`.table-card tr[data-key="${id}"]`).innerText();
    assert.ok(row.includes(size.toLocaleString("en-US")), `cluster ${id} has ${size} points: ${row}`);
  }
  const drawn = await Promise.all(
    ["#e69f00", "#0072b2", "#f0e442"].map((colour) => pixels(page, ".sphere", colour, 72)),
  );
  assert.ok(
    drawn.some(({ count }) => count > 500),
    "points are drawn",
  );
  const command = await page.locator(".command code").innerText();
  assert.match(command, /asterism cluster points.npy --angle 30 --json --report 'my report.html'$/);
  await close();
});

test("more dimensions than three", async () => {
  sample("words.npy", 20, 6);
  const result = JSON.parse(run("cluster", "words.npy", "--angle", "40", "--json", "--report", "words.html"));
  const { page, close } = await open("words.html");
  assert.match(await page.locator(".notes").innerText(), /principal directions/);
  assert.ok(await page.locator(".matrix canvas").isVisible());
  assert.equal(await page.locator(".table-card tbody tr[data-key]").count(), result.clusters);
  await close();
});

/** The report of measurements of the field, and its net or rose as SVG. */
async function field(header, rows, ...words) {
  writeFileSync(join(browser.folder, "notebook.csv"), [header, ...rows].join("\n"));
  const result = JSON.parse(run("cluster", "notebook.csv", ...words, "--json", "--report", "field.html"));
  const { page, close } = await open("field.html");
  const button = page.locator(".nets-card, .rose-card").getByRole("button", { name: "SVG" });
  const [download] = await Promise.all([page.waitForEvent("download"), button.click()]);
  const svg = readFileSync(await download.path(), "utf8");
  for (const name of ["N", "E", "S", "W"]) assert.ok(svg.includes(`>${name}</text>`), `no ${name}: ${words}`);
  return { result, page, close, svg };
}

test("nets of the field have a compass, planes and cones", async () => {
  const sets = ["40,80", "130,60", "280,8"].flatMap((set) =>
    [-3, -1, 0, 2, 3].map((off) => set.replace(/\d+/g, (word) => String(Number(word) + off))),
  );
  const planes = await field("dipdir,dip", sets, "--dip-direction", "--axial", "--angle", "30");
  assert.equal(planes.result.clusters, 3);
  assert.equal(planes.svg.match(/stroke-width="2.2"/g)?.length, 3, "a plane for each mean");
  assert.equal(await planes.page.locator(".net").count(), 1);
  assert.match(await planes.page.locator(".nets-card").innerText(), /Kamb[^]*95% confidence[^]*planes of the means/);
  for (const { id, precision, alpha95, dip_direction } of planes.result.cluster) {
    const row = await planes.page.locator(`.table-card tr[data-key="${id}"]`).innerText();
    for (const words of [`${Math.round(dip_direction)}°`, precision.toFixed(1), `${alpha95.toFixed(1)}°`])
      assert.ok(row.includes(words), `cluster ${id}, ${words}: ${row}`);
  }
  await planes.close();
  const strikes = await field("strike,dip", sets, "--strike-dip", "--axial", "--angle", "30");
  assert.match(await strikes.page.locator(".table-card thead").innerText(), /dip\s+strike/);
  await strikes.close();
  const lines = await field("dec,inc", ["10,30", "12,33", "11,-31", "190,-30", "188,-32"], "--trend-plunge", "--angle", "30");
  assert.match(await lines.page.locator(".net figcaption").innerText(), /rings point up/);
  assert.doesNotMatch(lines.svg, /stroke-width="2.2"/);
  await lines.close();
});

test("a rose of the field", async () => {
  const petals = (svg) => svg.match(/<path [^>]*fill="#e69f00"/g)?.length;
  const azimuths = ["azimuth", [42, 44, 46], "--azimuth", "--angle", "20"];
  const rose = await field(...azimuths);
  assert.equal(petals(rose.svg), 1);
  assert.match(await rose.page.locator(".table-card").innerText(), /azimuth[^]*44°/);
  await rose.close();
  const axes = await field(...azimuths, "--axial");
  assert.equal(petals(axes.svg), 2, "an axis has two ends");
  await axes.close();
});

test("stream --report of a depth camera", async () => {
  run("sample", ..."--scene hallway --frames 12 --size 160x120 --output hallway".split(" "));
  const camera = "--intrinsics 131.25,131.25,79.5,59.5 --angle 75 --report hall.html".split(" ");
  const lines = run("stream", "hallway/depth", ...camera)
    .trim()
    .split("\n")
    .map((line) => JSON.parse(line));
  const { page, close } = await open("hall.html");
  await page.keyboard.press("End");
  await settled(page);
  assert.match(await page.locator(".frame-label").innerText(), /12 of 12$/);
  const births = lines.flatMap((line) => line.clusters).filter((cluster) => cluster.event === "born").length;
  assert.equal(await page.locator(".events-card tr[data-key]", { hasText: "born" }).count(), births);
  for (const { id, count } of lines[11].clusters.filter((cluster) => cluster.count > 0)) {
    const row = await page.locator(`.table-card tr[data-key="${id}"]`).first().innerText();
    assert.ok(row.includes(count.toLocaleString("en-US")), `cluster ${id} has ${count} points: ${row}`);
  }
  assert.ok(await page.locator(".stage img").evaluate((image) => image.complete && image.naturalWidth > 100));
  await close();
});

test("segment --report and tune --report", async () => {
  run("sample", ..."--scene hallway --frames 3 --size 160x120 --output walk".split(" "));
  run(
    "segment",
    "walk",
    ..."--intrinsics 131.25,131.25,79.5,59.5 --angle 75 --output segments --report segment.html".split(" "),
  );
  const segment = await open("segment.html");
  assert.match(await segment.page.locator(".frame-label").innerText(), /1 of 3$/);
  await segment.close();
  sample("tune.npy", 3, 4);
  run("tune", "tune.npy", ..."--from 60 --to 20 --step 10 --report tune.html".split(" "));
  const tune = await open("tune.html");
  assert.match(await tune.page.locator(".recommended").innerText(), /--angle/);
  assert.ok(
    await tune.page
      .locator(".chart-card img")
      .first()
      .evaluate((image) => image.complete && image.naturalWidth > 100),
  );
  assert.equal(await tune.page.locator(".table-card tbody tr[data-key]").count(), 5);
  await tune.close();
});
