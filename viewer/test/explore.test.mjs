// SPDX-License-Identifier: MIT
//
// `asterism explore` as people use it: what is shown at every step is what the copied command gives, bit for bit; the
// newest request wins; pages do not disturb each other; nobody else gets in.
import assert from "node:assert/strict";
import { existsSync, readFileSync, readdirSync, writeFileSync } from "node:fs";
import { connect } from "node:net";
import { join } from "node:path";
import { after, before, test } from "node:test";
import { launch, needBrowser, pixels, saved, settled } from "./browser.mjs";
import { answered, endAll, explore, open, readLabels, run, same, sample, type } from "./explorer.mjs";

needBrowser();
let browser, folder;
before(async () => {
  browser = await launch();
  folder = browser.folder;
  sample(folder, "points.npy", "--points 20000 --dimension 3 --clusters 6 --kappa 60 --separation 35 --seed 3");
  sample(folder, "words.npy", "--points 3000 --dimension 24 --clusters 8 --kappa 60 --separation 40 --seed 4");
  writeFileSync(join(folder, "cone.csv"), coneOfTopics());
  // As many clusters as points, nearly: a run that nobody waits for.
  sample(folder, "hard.npy", "--points 40000 --dimension 96 --clusters 1 --kappa 0.1 --seed 5");
});
after(async () => {
  endAll();
  await browser.close();
});

/** 400 rows in four long clusters that share a direction: a text, 20 columns. */
function coneOfTopics() {
  let state = 7;
  const random = () => (state = (state * 48271) % 2147483647) / 2147483647 - 0.5,
    draw = () => Array.from({ length: 20 }, (_, i) => (random() + random() + random()) / (i + 1) ** 0.6),
    centers = Array.from({ length: 4 }, draw);
  const rows = Array.from({ length: 400 }, (_, n) => draw().map((x, i) => 0.4 * x + 1.5 * centers[n % 4][i] + 0.8));
  return rows.map((row) => row.map((x) => x.toFixed(6)).join(",") + "\n").join("");
}

/** Clicks a row of a table that is drawn anew between press and release. */
async function clickWhileDrawn(page, row) {
  await row.hover();
  await page.mouse.down();
  await page.evaluate(
    () =>
      new Promise((drawn) => {
        document.querySelector(".table-card .table").dispatchEvent(new Event("scroll"));
        requestAnimationFrame(() => requestAnimationFrame(drawn));
      }),
  );
  await page.mouse.up();
}

// Chromium itself says so when a socket cannot be opened.
const expected = [/WebSocket connection to .* failed/];

test("dragging the slider shows what cluster gives at that angle", async () => {
  const served = await explore(folder, "points.npy", "--angle", "40");
  const { page, close } = await open(browser, served.address);
  const first = await answered(page);
  assert.equal(first.command, "asterism cluster points.npy --angle 40");
  same(folder, first);
  const box = await page.locator(".angle-slider").boundingBox(),
    y = box.y + box.height / 2,
    x = (angle) => box.x + 9 + (angle / 120) * (box.width - 18);
  await page.mouse.move(x(40), y);
  await page.mouse.down();
  for (const angle of [38, 33, 27, 22, 18]) await page.mouse.move(x(angle), y);
  await page.mouse.up();
  const dragged = await answered(page, (result) => Math.abs(Number(result.command.split(" ")[4]) - 18) < 0.5);
  assert.notEqual(dragged.clusters, first.clusters);
  same(folder, dragged);
  assert.equal(await page.locator(".facts dd").first().innerText(), String(dragged.clusters));
  assert.match(await page.locator(".run-state").innerText(), new RegExp(`^${dragged.clusters} clusters`));
  assert.equal(await page.locator(".command code").innerText(), dragged.command);
  assert.ok((await pixels(page, ".sphere", "#e69f00", 72)).count > 200, "points are drawn");
  await page.locator(".angle-slider").press("ArrowRight");
  await page.keyboard.press(".");
  const stepped = `--angle ${Math.round(10 * Number(dragged.command.split(" ")[4]) + 6) / 10}`;
  same(folder, await answered(page, (result) => result.command.endsWith(stepped)));
  await close();
  assert.equal(await served.end(), 0);
});

test("every control", async () => {
  const served = await explore(folder, "points.npy", "--angle", "30");
  const { page, close } = await open(browser, served.address);
  const steps = [
    [() => type(page, "Angle in degrees", 25.5), /--angle 25.5$/],
    [() => type(page, "The same as a cosine", 0.8), /--angle 36\.\d+$/],
    [() => page.getByLabel("Order").selectOption("content"), /--order content/],
    [() => page.getByLabel("Merge", { exact: true }).selectOption("evidence"), /--merge evidence/],
    [() => page.getByLabel("Merge", { exact: true }).selectOption("angle"), /--merge 10/],
    [() => type(page, "Dissolve clusters with fewer points", 30), /--min-size 30/],
    [() => page.getByRole("button", { name: "Axial" }).click(), /--axial/],
    [() => page.getByRole("button", { name: "Center" }).click(), /--center/],
    [() => page.getByLabel("Method").selectOption("spkm"), /--method spkm --clusters 8/],
    [() => type(page, "Number of clusters", 5), /--clusters 5/],
  ];
  let last = await answered(page);
  for (const [change, command] of steps) {
    await change();
    last = await answered(page, (result) => result.id > last.id);
    assert.match(last.command, command);
    same(folder, last);
  }
  assert.doesNotMatch(last.command, /--axial|--order|--angle/, "the one excludes the other");
  await close();
  await served.end();
});

test("the curves, the recommendation, and --once are those of tune", async () => {
  const tuned = JSON.parse(run(folder, "tune", "points.npy", "--json"));
  run(folder, "explore", "points.npy", "--once", "once.json");
  assert.deepEqual(JSON.parse(readFileSync(join(folder, "once.json"), "utf8")), tuned);
  const served = await explore(folder, "points.npy");
  const { page, close } = await open(browser, served.address);
  const before = await answered(page);
  await page.getByRole("button", { name: "Take it" }).click();
  const taken = await answered(page, (result) => result.id > before.id);
  assert.equal(taken.command, tuned.command);
  assert.equal(taken.clusters, tuned.clusters);
  same(folder, taken);
  const words = await page.locator(".facts").innerText();
  await page.waitForFunction((text) => document.body.innerText.includes(text), tuned.silhouette.toFixed(3));
  assert.match(words, /clusters/);
  await close();
  await served.end();
});

test("the metric: tune's, local and plain", async () => {
  const tuned = JSON.parse(run(folder, "tune", "cone.csv", "--json"));
  assert.equal(tuned.metric, "local");
  const served = await explore(folder, "cone.csv");
  const { page, close } = await open(browser, served.address);
  const began = await answered(page, (result) => result.command === tuned.command); // by itself
  assert.equal(began.clusters, tuned.clusters);
  assert.match(began.command, /--metric local/);
  same(folder, began);
  const facts = page.locator(".facts");
  await page.waitForFunction((text) => document.querySelector(".facts").innerText.includes(text), tuned.silhouette.toFixed(3));
  await page.getByLabel("Metric").selectOption("plain");
  const plain = await answered(page, (result) => result.id > began.id);
  assert.doesNotMatch(plain.command, /--metric/);
  same(folder, plain);
  await page.getByLabel("Metric").selectOption("local");
  const local = await answered(page, (result) => result.id > plain.id);
  assert.equal(local.command, tuned.command);
  await clickWhileDrawn(page, page.locator(".table-card tr[data-key]").first());
  await page.locator(".members-card").waitFor();
  const cold = JSON.parse(run(folder, ...local.command.split(" ").slice(1), ..."--representatives 8 --json".split(" ")));
  const near = await page.locator(".members-card dl").first().locator("dt").allInnerTexts();
  assert.deepEqual(
    near,
    cold.cluster[local.cluster[0].id].representatives.map((row) => `row ${row}`),
  );
  await page.getByRole("button", { name: "Center" }).click();
  const centred = await answered(page, (result) => result.id > local.id);
  assert.match(centred.command, /--center/);
  assert.doesNotMatch(centred.command, /--metric/, "the one excludes the other");
  same(folder, centred);
  assert.match(await facts.innerText(), /clusters/);
  await close();
  await served.end();
});

test("clusters, members, the tree and its cut", async () => {
  const served = await explore(folder, "points.npy", "--angle", "12");
  const { page, close } = await open(browser, served.address);
  const first = await answered(page);
  await page.locator(".table-card tr[data-key]").first().click();
  await page.locator(".members-card").waitFor();
  const largest = first.cluster[0];
  assert.match(await page.locator(".members-card .remark").innerText(), new RegExp(`^${largest.id}$`));
  const cold = JSON.parse(run(folder, "cluster", "points.npy", ..."--angle 12 --representatives 8 --json".split(" ")));
  const near = await page.locator(".members-card dl").first().locator("dt").allInnerTexts();
  assert.deepEqual(
    near,
    cold.cluster[largest.id].representatives.map((row) => `row ${row}`),
  );
  const tree = page.locator(".tree");
  await tree.waitFor();
  await tree.scrollIntoViewIfNeeded();
  const box = await tree.boundingBox();
  await page.mouse.move(box.x + box.width / 2, box.y + box.height - 30);
  await page.mouse.down();
  await page.mouse.move(box.x + box.width / 2, box.y + box.height / 2, { steps: 4 });
  await page.mouse.up();
  // Steps of the drag have results too: the last one has as many clusters as the line says.
  await page.waitForFunction(() => {
    const last = window.results.at(-1),
      tree = document.querySelector(".tree");
    return /--merge-to/.test(last.command) && tree.checkVisibility() && tree.ariaValueNow === String(last.clusters);
  });
  const cut = await answered(page);
  assert.ok(cut.clusters < first.clusters);
  same(folder, cut);
  await tree.press("ArrowUp");
  const fewer = await answered(page, (result) => result.clusters < cut.clusters);
  same(folder, fewer);
  await close();
  await served.end();
});

test("labels and report are taken along, and written nowhere else", async () => {
  const served = await explore(folder, "points.npy", "--angle", "30", "--labels", "kept.npy");
  const before = readdirSync(folder);
  const { page, close } = await open(browser, served.address);
  const result = await answered(page);
  assert.match(result.command, /--labels kept.npy$/);
  await page.getByRole("button", { name: "Save labels" }).click();
  await page.waitForFunction(() => document.body.innerText.includes("20,000 labels are in kept.npy."));
  const labels = readLabels(join(folder, "kept.npy"));
  assert.equal(labels.length, 20000);
  assert.deepEqual(
    result.labels,
    result.drawn.map((row) => labels[row]),
  );
  assert.deepEqual(
    readdirSync(folder).filter((name) => !before.includes(name)),
    ["kept.npy"],
  );
  const report = await saved(page, page.getByRole("button", { name: "Save report" }));
  assert.equal(report.name, "asterism.html");
  await close();
  await served.end();
  writeFileSync(join(folder, "report.html"), report.text);
  const offline = await browser.visit(new URL(`file://${join(folder, "report.html")}`).href);
  assert.equal(await offline.page.locator(".table-card tbody tr[data-key]").count(), result.clusters);
  await offline.close();
  const none = await explore(folder, "points.npy");
  const other = await open(browser, none.address);
  assert.ok(await other.page.getByRole("button", { name: "Save labels" }).isDisabled());
  await other.close();
  await none.end();
});

test("a run that takes long is shown unfinished, and the newest request cancels it", async () => {
  const served = await explore(folder, "hard.npy", "--angle", "100");
  const { page, close } = await open(browser, served.address);
  await answered(page);
  await type(page, "Angle in degrees", 20);
  await page.locator('.run-state[data-kind="unfinished"]').waitFor();
  assert.match(
    await page.locator(".run-state").innerText(),
    /Unfinished: .* over the first .* rows. The whole run goes on/,
  );
  await page.waitForFunction(() => window.results.at(-1).unfinished);
  const unfinished = await page.evaluate(() => window.results.at(-1));
  assert.ok(unfinished.rows < 40000 && unfinished.labels.length === unfinished.drawn.length);
  assert.ok(unfinished.drawn.every((row, i) => row < unfinished.rows || unfinished.labels[i] === -1));
  await type(page, "Angle in degrees", 110);
  const result = await answered(page, (result) => /--angle 110/.test(result.command));
  same(folder, result);
  await close();
  await served.end();
});

test("two pages at once, and a page that is closed frees its work", async () => {
  const served = await explore(folder, "hard.npy", "--angle", "100", "--threads", "1");
  const one = await open(browser, served.address),
    other = await open(browser, served.address);
  await type(one.page, "Angle in degrees", 15);
  await one.page.locator('.run-state[data-kind="unfinished"]').waitFor();
  await type(other.page, "Angle in degrees", 110);
  const result = await answered(other.page, (result) => /--angle 110/.test(result.command));
  assert.match(await one.page.locator(".run-state").innerText(), /Unfinished/, "the other page goes on");
  await one.close();
  same(folder, result);
  // Every page that is closed makes room for another, although its run would take minutes: more than may be open.
  const heard = await other.page.evaluate(async (many) => {
    const wish = { type: "cluster", id: 1, method: "dp", angle: 14, merge: "none", min_size: 0, order: "given" };
    const visit = () =>
      new Promise((done) => {
        const socket = new WebSocket(new URL("live", location.href.replace("http", "ws")));
        let messages = 0;
        socket.onopen = () => socket.send(JSON.stringify(wish));
        socket.onmessage = () => ++messages >= 3 && socket.close(); // hello, points, unfinished
        socket.onclose = () => done(messages);
      });
    let all = 0;
    for (let i = 0; i < many; i++) all += (await visit()) >= 3 ? 1 : 0;
    return all;
  }, 9);
  assert.equal(heard, 9);
  await other.close();
  assert.equal(await served.end(), 0);
});

/** The first line of the answer to bytes that no browser would send. */
async function ask(address, path, lines) {
  const { hostname, port } = new URL(address);
  return new Promise((done, fail) => {
    const socket = connect(Number(port), hostname, () =>
      socket.write(`GET ${path} HTTP/1.1\r\nHost: ${hostname}:${port}\r\n${lines}\r\n`),
    );
    socket.on("data", (bytes) => {
      done(bytes.toString("latin1").split("\r\n")[0]);
      socket.destroy();
    });
    socket.on("error", fail);
  });
}

test("nobody else gets in", async () => {
  const served = await explore(folder, "points.npy");
  const { pathname } = new URL(served.address),
    upgrade =
      "Upgrade: websocket\r\nConnection: Upgrade\r\nSec-WebSocket-Key: dGhlIHNhbXBsZSBub25jZQ==\r\nSec-WebSocket-Version: 13\r\n";
  const origin = new URL(served.address).origin;
  assert.match(await ask(served.address, `${pathname}live`, `${upgrade}Origin: ${origin}\r\n`), /^HTTP\/1.1 101/);
  assert.match(await ask(served.address, `${pathname}live`, `${upgrade}Origin: http://evil.example\r\n`), / 403 /);
  assert.match(await ask(served.address, `${pathname}live`, `${upgrade}Origin: null\r\n`), / 403 /);
  assert.match(await ask(served.address, `/${"0".repeat(32)}/live`, upgrade), / 404 /);
  assert.match(await ask(served.address, `/${"0".repeat(32)}/`, ""), / 404 /);
  assert.match(await ask(served.address, "/", ""), / 404 /);
  assert.match(await ask(served.address, pathname, "Host: evil.example\r\n"), / 400 /);
  assert.match(await ask(served.address, pathname, ""), / 200 /);
  await served.end();
});

test("odd inputs", async () => {
  writeFileSync(join(folder, "one.txt"), "0 0 1\n");
  writeFileSync(join(folder, "equal.txt"), "1 2 3\n".repeat(50));
  const plane = Array.from({ length: 400 }, (_, i) => `${Math.cos(i % 7)} ${Math.sin(i % 7)}`).join("\n");
  writeFileSync(join(folder, "plane.txt"), `${plane}\n`);
  sample(folder, "wide.npy", "--points 60 --dimension 4096 --clusters 3 --kappa 3000 --seed 6");
  for (const [name, dimension] of [
    ["one.txt", 3],
    ["equal.txt", 3],
    ["plane.txt", 2],
    ["wide.npy", 4096],
  ]) {
    const served = await explore(folder, name, "--angle", "20");
    const { page, close } = await open(browser, served.address);
    const result = await answered(page);
    same(folder, result);
    assert.match(await page.locator(".facts").innerText(), new RegExp(`${dimension}\\s+dimensions`));
    if (dimension > 3) assert.match(await page.locator(".notes").innerText(), /principal axes of the means/);
    await close();
    await served.end();
  }
});

test("names, dark colours, a narrow page, a lost connection", async () => {
  const names = Array.from({ length: 3000 }, (_, i) => `word ${i}`).join("\n");
  writeFileSync(join(folder, "names.txt"), `${names}\n`);
  let served = await explore(folder, "words.npy", "--names", "names.txt", "--angle", "50");
  const port = new URL(served.address).port;
  const { page, close } = await open(browser, served.address, { scheme: "dark", width: 480, expected });
  const result = await answered(page);
  assert.match(result.command, /--representatives 5 --names names.txt/);
  await page.waitForFunction(() => /word \d+ \| word/.test(document.querySelector(".table-card").innerText));
  await settled(page);
  assert.ok(await page.evaluate(() => document.documentElement.scrollWidth <= innerWidth), "nothing sticks out");
  await served.end();
  await page.locator('.state[data-kind="lost"]').waitFor();
  assert.equal(await page.locator(".command code").innerText(), result.command, "what was shown stays");
  await close();
  served = await explore(folder, "words.npy", "--port", port);
  assert.equal(new URL(served.address).port, port);
  await served.end();
  assert.ok(!existsSync(join(folder, "labels.npy")));
});

test("the map of many dimensions: texts, keywords, search, and its labels follow the slider", async () => {
  const fruit = ["apple", "pear", "plum"];
  writeFileSync(join(folder, "texts.txt"), Array.from({ length: 3000 }, (_, i) => `The ${fruit[i % 3]} number\n`).join(""));
  const served = await explore(folder, "words.npy", "--texts", "texts.txt", "--angle", "50");
  const { page, close } = await open(browser, served.address);
  const map = page.locator(".map-card .map");
  await map.waitFor();
  assert.match(await page.locator(".map-card .remark").innerText(), /^3,000 points$/);
  await page.getByLabel("Search the names of the rows").fill("pear");
  assert.match(await page.locator(".found").innerText(), /^1,000 found$/);
  await page.getByLabel("Search the names of the rows").press("Escape");
  await page.waitForFunction(() => /keywords/.test(document.querySelector(".table-card thead").innerText.toLowerCase()));
  await page.waitForFunction(() => /apple|pear|plum/.test(document.querySelector(".table-card tbody").innerText));
  const ink = async () => (await pixels(page, ".map", (await page.evaluate(firstColour)), 60)).count;
  const firstColour = () => {
    const [r, g, b] = getComputedStyle(document.querySelector(".table-card tr[data-key] .swatch")).backgroundColor.match(/\d+/g);
    return `#${[r, g, b].map((x) => Number(x).toString(16).padStart(2, "0")).join("")}`;
  };
  const before = await ink();
  assert.ok(before > 100, `${before} pixels of the largest cluster`);
  await type(page, "Angle in degrees", 179);
  await answered(page, (result) => result.clusters === 1);
  await settled(page);
  assert.ok((await ink()) > 2 * before, "one cluster has one colour");
  const [download] = await Promise.all([
    page.waitForEvent("download"),
    page.getByRole("button", { name: "Save report" }).click(),
  ]);
  assert.match(readFileSync(await download.path(), "utf8"), /"map": *\{"shown": 3000/);
  await close();
  await served.end();
});

test("the page goes on to tune's answer, and its levels are stops", async () => {
  const served = await explore(folder, "words.npy");
  const { page, close } = await open(browser, served.address);
  const verdict = page.locator(".verdict", { hasText: /\d+ clusters/ });
  await verdict.waitFor();
  const found = Number(/(\d+) clusters/.exec(await verdict.innerText())[1]);
  const best = await answered(page, (result) => result.clusters === found);
  const stops = page.locator(".stop-button");
  assert.ok((await stops.count()) >= 1);
  assert.match((await stops.allInnerTexts()).join(" "), new RegExp(`★ ${best.clusters}\\b`));
  for (const stop of await stops.all()) {
    const wanted = Number(/\d+/.exec(await stop.innerText())[0]);
    await stop.click();
    same(folder, await answered(page, (result) => result.clusters === wanted));
  }
  await close();
  await served.end();
});

test("a page whose angle was asked for stays there", async () => {
  const served = await explore(folder, "words.npy", "--angle", "44");
  const { page, close } = await open(browser, served.address);
  await page.getByRole("button", { name: "Take it" }).waitFor();
  assert.match((await answered(page)).command, /--angle 44/);
  await close();
  await served.end();
});
