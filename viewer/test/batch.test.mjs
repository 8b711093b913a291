// SPDX-License-Identifier: MIT
//
// The report of one clustering, in a browser: what is drawn, what lights up, what is saved, and odd data.
import assert from "node:assert/strict";
import { after, before, test } from "node:test";
import { isSvg, launch, needBrowser, pixels, saved, settled } from "./browser.mjs";
import { batch, colour, mapOf, plane } from "./fixtures.mjs";

needBrowser();
let browser, shared;
before(async () => {
  browser = await launch();
  const allow = (_, context) => context.grantPermissions(["clipboard-read", "clipboard-write"]);
  shared = await browser.open(batch(), { prepare: allow });
});
after(async () => {
  try {
    await shared.close();
  } finally {
    await browser.close();
  }
});

// The page that most tests look at, as it was when it was opened: nothing picked, the sphere where it begins.
async function samePage() {
  const { page } = shared;
  await page.keyboard.press("Escape");
  await page.locator(".sphere").focus();
  await page.keyboard.press("0");
  await page.evaluate(() => document.activeElement.blur());
  await page.mouse.move(5, 5);
  await settled(page);
  return page;
}

// Points are lighter towards the edge of the sphere.
const SHADED = 72;
const selectedRow = (page) =>
  page.locator('.table-card tr[aria-selected="true"]').getAttribute("data-key", { timeout: 5000 });

test("points, nets and table are drawn", async () => {
  const page = await samePage();
  for (const id of [0, 1])
    assert.ok((await pixels(page, ".sphere", colour(id), SHADED)).count > 900, `points of cluster ${id}`);
  assert.ok((await pixels(page, ".net-stage >> nth=0", colour(0), SHADED)).count > 300);
  assert.equal(await page.locator(".table-card tbody tr[data-key]").count(), 6);
  assert.match(await page.locator(".facts").innerText(), /6\s+clusters\s+3,000\s+points/);
  assert.match(await page.locator(".command code").innerText(), /--report 'my report.html'$/);
});

test("a graphics card draws the same points", async () => {
  const card = (page) =>
    page.addInitScript(() => {
      const get = WebGL2RenderingContext.prototype.getParameter;
      WebGL2RenderingContext.prototype.getParameter = function (name) {
        return name === 0x9246 ? "A graphics card" : get.call(this, name);
      };
      const context = HTMLCanvasElement.prototype.getContext;
      HTMLCanvasElement.prototype.getContext = function (kind, options) {
        return context.call(this, kind, { ...options, failIfMajorPerformanceCaveat: false });
      };
    });
  const plain = await samePage(),
    fast = await browser.open(batch(), { prepare: card });
  assert.equal(await fast.page.locator("canvas.points[data-engine^=three]").count(), 1);
  const [a, b] = await Promise.all([plain, fast.page].map((page) => pixels(page, ".sphere", colour(0), SHADED)));
  assert.ok(Math.abs(a.count - b.count) < 0.25 * a.count, `${a.count} and ${b.count} pixels`);
  assert.ok(Math.hypot(a.x - b.x, a.y - b.y) < 3, "at the same place");
  await fast.close();
});

test("picking a cluster lights up its row, and Escape lets it go", async () => {
  const page = await samePage();
  const blob = await pixels(page, ".sphere", colour(0)),
    before = (await pixels(page, ".sphere", colour(1))).count;
  await page.locator(".sphere").click({ position: { x: blob.x, y: blob.y } });
  await page.mouse.move(5, 5);
  assert.equal(await selectedRow(page), "0");
  assert.ok((await pixels(page, ".sphere", colour(1))).count < 0.2 * before, "the others are dimmed");
  await page.keyboard.press("Escape");
  assert.equal(await page.locator('tr[aria-selected="true"]').count(), 0);
});

test("a row lights up its points, and one on the far side is turned to the front", async () => {
  const page = await samePage();
  assert.ok((await pixels(page, ".sphere", colour(4))).count < 50, "cluster 4 is on the far side");
  await page.locator('.table-card tr[data-key="4"]').click();
  await page.mouse.move(5, 5);
  await page.waitForTimeout(500);
  assert.ok((await pixels(page, ".sphere", colour(4))).count > 400);
  assert.equal(await selectedRow(page), "4");
});

test("the sphere turns by hand and by key, and comes back", async () => {
  const page = await samePage();
  const sphere = page.locator(".sphere"),
    box = await sphere.boundingBox(),
    home = await sphere.screenshot();
  await page.mouse.move(box.x + 300, box.y + 250);
  await page.mouse.down();
  await page.mouse.move(box.x + 420, box.y + 300, { steps: 4 });
  await page.mouse.up();
  await page.mouse.move(5, 5);
  await settled(page);
  const dragged = await sphere.screenshot();
  assert.ok(!dragged.equals(home), "dragging turns");
  await sphere.focus();
  await page.keyboard.press("ArrowLeft");
  await settled(page);
  const pressed = await sphere.screenshot();
  assert.ok(!pressed.equals(dragged), "an arrow turns");
  await page.keyboard.press("0");
  await page.evaluate(() => document.activeElement.blur());
  await settled(page);
  assert.ok((await sphere.screenshot()).equals(home), "0 resets");
});

test("the table sorts, and works by keyboard", async () => {
  const { page, close } = await browser.open(batch());
  const first = () => page.locator(".table-card tbody tr[data-key]").first().getAttribute("data-key");
  assert.equal(await first(), "0");
  await page.getByRole("button", { name: "size" }).click();
  await settled(page);
  assert.equal(await first(), "5", "smallest first");
  assert.equal(await page.locator('th[aria-sort="ascending"]').innerText(), "size ↑".slice(0, 4));
  await page.locator(".table-card .table").focus();
  await page.keyboard.press("ArrowDown");
  await page.keyboard.press("Enter");
  assert.equal(await selectedRow(page), "4");
  await close();
});

test("every view is saved as SVG and CSV", async () => {
  const page = await samePage();
  const files = {};
  for (const button of await page.locator(".exports button").all()) {
    const file = await saved(page, button);
    files[file.name] = file.text;
  }
  assert.deepEqual(Object.keys(files).sort(), [
    "angles.csv",
    "angles.svg",
    "clusters.csv",
    "nets.csv",
    "nets.svg",
    "points.csv",
    "sphere.svg",
  ]);
  for (const [name, text] of Object.entries(files)) if (name.endsWith(".svg")) assert.ok(await isSvg(page, text), name);
  assert.equal(files["points.csv"].trim().split("\r\n").length, 3001);
  assert.equal(files["nets.csv"].trim().split("\r\n").length, 3001);
  assert.match(files["clusters.csv"], /^id,size,share,spread,kappa,dip,dip_direction,mean_1,mean_2,mean_3\r\n0,/);
  assert.match(files["sphere.svg"], new RegExp(colour(0)));
});

test("the stability of clusters is a column where it is known", async () => {
  const known = batch();
  for (const cluster of known.clusters) cluster.stability = cluster.id ? 1 - cluster.id / 8 : null;
  const { page, close } = await browser.open(known);
  const titles = await page.locator(".table-card thead th").allInnerTexts();
  const column = titles.findIndex((title) => title.startsWith("stability"));
  assert.ok(column > 0, titles.join());
  const cell = (id) => page.locator(`.table-card tr[data-key="${id}"] td`).nth(column).innerText();
  assert.equal(await cell(2), "0.75");
  assert.equal(await cell(0), "–");
  const file = await saved(page, page.locator(".table-card .exports button").first());
  assert.match(file.text, /^id,size,share,spread,kappa,stability,dip,dip_direction,mean_1/);
  await close();
  assert.ok(!(await shared.page.locator(".table-card thead").innerText()).includes("stability"));
});

test("representatives are a column, in the tooltip and in the saved table where there are some", async () => {
  const known = batch();
  for (const cluster of known.clusters) cluster.representatives = [`name, ${cluster.id}`, "<b>bold</b>"];
  const { page, close } = await browser.open(known);
  const titles = await page.locator(".table-card thead th").allInnerTexts();
  const column = titles.findIndex((title) => title.startsWith("representatives"));
  assert.equal(column, 3, titles.join());
  assert.equal(await page.locator('.table-card tr[data-key="2"] td').nth(column).innerText(), "name, 2 | <b>bold</b>");
  const file = await saved(page, page.locator(".table-card .exports button").first());
  assert.match(file.text, /^id,size,share,spread,kappa,representatives,dip,dip_direction,mean_1/);
  assert.ok(file.text.includes('"name, 0 | <b>bold</b>"'));
  await close();
});

test("the command is copied", async () => {
  const page = await samePage();
  await page.locator(".copy").click();
  await page.getByText("Copied").waitFor();
  assert.match(await page.evaluate(() => navigator.clipboard.readText()), /^asterism cluster points.npy --angle 25/);
});

test("light and dark", async () => {
  const { page, close } = await browser.open(batch({ points: 50 }), { scheme: "dark" });
  const background = () => page.evaluate(() => getComputedStyle(document.body).backgroundColor);
  assert.equal(await background(), "rgb(13, 16, 22)");
  await page.locator("button.theme").click();
  assert.equal(await background(), "rgb(243, 244, 247)", "the reader's choice wins");
  await close();
});

test("ten thousand clusters do not freeze the page", async () => {
  const { page, close } = await browser.open(batch({ points: 20000, clusters: 10000, spread: 0.01 }));
  assert.ok((await page.locator(".table-card tbody tr").count()) < 60, "only rows in sight are there");
  await page.locator(".table-card .table").evaluate((table) => (table.scrollTop = table.scrollHeight));
  await settled(page);
  await page.locator('.table-card tr[aria-rowindex="10001"]').waitFor();
  assert.match(await page.locator(".notes").innerText(), /Of 10,000 clusters the 60 largest have their circles drawn/);
  assert.equal(await page.locator(".matrix").count(), 0);
  await close();
});

test("many dimensions: principal directions, and the matrix of angles", async () => {
  const angles = [
    [0, 80, 90],
    [80, 0, 70],
    [90, 70, 0],
  ];
  const { page, close } = await browser.open(
    batch({ clusters: 3, dimension: 100, projection: { explained: [0.3, 0.2, 0.1] }, angles }),
  );
  assert.match(await page.locator(".notes").innerText(), /three leading principal directions, drawn here, hold 60.0 %/);
  assert.ok(await page.locator(".matrix canvas").isVisible());
  assert.equal(await page.getByRole("button", { name: "pc1" }).count(), 1);
  await page.locator(".matrix canvas").hover({ position: { x: 34 + 46 * 1.5, y: 34 + 20 } });
  assert.match(await page.locator(".tooltip").innerText(), /clusters 0 and 1: 80.00°/);
  await close();
});

test("the plane has a rose, axes have one net", async () => {
  const plane = await browser.open(batch({ dimension: 2 }));
  assert.ok((await pixels(plane.page, ".rose", colour(0))).count > 300);
  assert.equal(await plane.page.locator(".net").count(), 0);
  await plane.close();
  const axes = await browser.open(batch({ axial: true }));
  assert.equal(await axes.page.locator(".net").count(), 1);
  await axes.close();
});

test("one point, no point, an image", async () => {
  const one = await browser.open(batch({ points: 1, clusters: 1 }));
  assert.match(await one.page.locator(".facts").innerText(), /1\s+cluster\s+1/);
  await one.close();
  const none = await browser.open(
    batch({ points: 0, clusters: 1, image: "data:image/gif;base64,R0lGODlhAQABAAAAACwAAAAAAQABAAA=" }),
  );
  assert.equal(await none.page.locator("img.overlay").count(), 1);
  await none.close();
});

test("damaged data is said in one sentence", async () => {
  for (const [report, words] of [
    [null, /carries no data/],
    [{ format: 2 }, /format 2/],
    [{ format: 1, kind: "pie" }, /of kind pie/],
    [{ ...batch(), points: { total: 1, shown: 1, xyz: "AAAAAAAA", labels: "%%%" } }, /not base64/],
    [{ ...batch(), points: { total: 2, shown: 2, xyz: "AAAAAAAA", labels: "AAAAAAAAAAA=" } }, /2 labels for 1/],
  ]) {
    const { page, close } = await browser.open(report);
    assert.match(await page.getByRole("alert").innerText(), words);
    await close();
  }
});

test("names are text, whatever they look like", async () => {
  const title = '</script><script>document.title="taken"</script><img src=x onerror="document.title=1"><!--';
  const { page, close } = await browser.open(batch({ title, notes: ["<b>bold</b>"] }));
  assert.equal(await page.locator("h1").innerText(), title);
  assert.match(await page.locator(".notes").innerText(), /<b>bold<\/b>/);
  assert.ok((await page.title()).startsWith("</script>"));
  await close();
});

test("the planes of a cloud: pointing at a row fills its outline, and the other way round", async () => {
  const { page, close } = await browser.open(batch({ planes: [plane(0, 0, 0.8), plane(1, 0, 0.8), plane(2, 1, 0.8)] }));
  const rows = page.locator(".planes-card tbody tr[data-key]"),
    lit = page.locator(".planes-drawing path.lit");
  assert.equal(await rows.count(), 3);
  await page.locator('.planes-card tr[data-key="1"]').hover();
  assert.equal(await lit.getAttribute("data-plane"), "1");
  await page.locator('.planes-drawing path[data-plane="2"]').hover();
  assert.equal(await lit.getAttribute("data-plane"), "2");
  assert.ok((await page.locator('.planes-card tr[data-key="2"]').getAttribute("class")).includes("lit"));
  const file = await saved(page, page.locator(".planes-card .exports button"));
  assert.match(file.text, /^id,direction,area,[^\n]*dip/);
  await close();
});

test("the map: rows by cluster, captions, search, picking, and what is saved", async () => {
  const report = batch({ clusters: 3, dimension: 100, projection: { explained: [0.2, 0.1, 0.1] }, map: mapOf(3, 200) });
  report.clusters[0].keywords = ["apple", "pear", "plum"];
  const { page, close } = await browser.open(report);
  const map = page.locator(".map");
  assert.equal(await page.locator(".nets-card").count(), 0, "nets of three axes say nothing beside a map");
  const places = [];
  for (const id of [0, 1, 2]) places.push(await pixels(page, ".map", colour(id), 60));
  for (const { count } of places) assert.ok(count > 300, `${count} pixels`);
  assert.ok(places[0].x > places[1].x + 100 && places[1].y < places[2].y - 100, JSON.stringify(places));
  assert.match(await page.locator(".table-card tbody").innerText(), /apple, pear, plum/);

  await map.hover({ position: { x: places[1].x, y: places[1].y } });
  const tooltip = page.locator(".tooltip");
  assert.match(await tooltip.innerText(), /row \d+ of <b>heap<\/b> b/);
  await map.click({ position: { x: places[1].x, y: places[1].y } });
  assert.equal(await selectedRow(page), "1");
  await page.keyboard.press("Escape");

  const search = page.getByLabel("Search the names of the rows");
  await search.fill("heap</b> C");
  assert.match(await page.locator(".found").innerText(), /200 found/);
  await settled(page);
  await page.mouse.move(5, 5);
  assert.ok((await pixels(page, ".map", colour(0), 30)).count < 20, "what does not match is faded");
  await search.press("Escape");
  assert.equal(await page.locator(".found").innerText(), "");

  await map.focus();
  await page.keyboard.press("+");
  await page.keyboard.press("ArrowRight");
  await page.keyboard.press("0");
  await settled(page);
  await page.mouse.move(5, 5);
  const again = await pixels(page, ".map", colour(0), 60);
  assert.ok(Math.abs(again.x - places[0].x) < 3 && Math.abs(again.y - places[0].y) < 3);
  const svg = await saved(page, page.getByRole("button", { name: "Save the map as SVG" }));
  assert.ok(await isSvg(page, svg.text));
  assert.match(svg.text, /apple, pear/);
  const csv = await saved(page, page.getByRole("button", { name: "Save the places of the rows on the map as CSV" }));
  assert.equal(csv.text.trim().split("\r\n").length, 601);
  await close();
});

test("layers: clusters stand under the one that they lie in, and a click picks", async () => {
  const layers = [
    { clusters: 2, stability: 0.9, excess: 0.2, parents: [], sizes: [100, 200], of: [0, 2] },
    { clusters: 4, stability: null, excess: 0.1, parents: [1, 0, 1, 1], sizes: [50, 100, 90, 60], of: [1, 0, 2, 3] },
  ];
  const { page, close } = await browser.open(batch({ clusters: 4, layers }));
  const boxes = await page.locator(".layer-cluster rect").evaluateAll((list) => list.map((box) => Number(box.getAttribute("x"))));
  assert.deepEqual(boxes.map(Math.round), [0, 400, 0, 180, 300, 400]);
  const titles = await page.locator(".layer-cluster title").allTextContents();
  assert.deepEqual(titles.map((text) => Number(text.split(" ")[0])), [200, 100, 90, 60, 50, 100]);
  assert.match(await page.locator(".layer-words").innerText(), /2 · stability 0\.90\s+4/);
  await page.locator(".layer-cluster").nth(3).click();
  assert.equal(await page.locator('.table-card tr[aria-selected="true"]').getAttribute("data-key"), "3");
  await close();
});
