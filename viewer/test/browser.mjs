// SPDX-License-Identifier: MIT
//
// A real browser for the tests: Debian's Chromium, driven by playwright-core. Every page that is opened here is watched:
// an error on its console, an exception, or a request for anything but itself fails the test that opened it.
import assert from "node:assert/strict";
import { existsSync, mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { pathToFileURL } from "node:url";
import { chromium } from "playwright-core";
import { writeReport } from "./fixtures.mjs";

export const template = process.env.ASTERISM_PAGE ?? new URL("../dist/report.html", import.meta.url).pathname;
const candidates = [process.env.CHROMIUM, "/usr/bin/chromium", "/usr/bin/chromium-browser", "/usr/bin/google-chrome"];
const executablePath = candidates.find((path) => path && existsSync(path));

// The page is composited by the processor: these machines have no graphics card to imitate one faster.
const flags = [
  "--no-sandbox --no-first-run --disable-quic --disable-background-networking --disable-component-update --disable-sync",
  "--disable-gpu-compositing --use-angle=swiftshader --enable-unsafe-swiftshader",
];

/** Says why and ends with the code that ctest takes for a skipped test, where there is no browser. */
export function needBrowser() {
  if (executablePath) return;
  console.log("Skipped: there is no Chromium (on Debian: apt install chromium).");
  process.exit(77);
}

export async function launch() {
  needBrowser();
  const browser = await chromium.launch({ executablePath, args: flags.join(" ").split(" ") });
  const folder = mkdtempSync(join(tmpdir(), "asterism-page-"));
  const idle = [];
  let files = 0;
  return {
    folder,
    /** Writes the report and opens it as a file. */
    async open(report, options = {}) {
      const path = join(folder, `report-${files++}.html`);
      writeReport(template, path, report);
      return visit(browser, idle, pathToFileURL(path).href, options);
    },
    visit: (address, options = {}) => visit(browser, idle, address, options),
    async close() {
      await browser.close();
      rmSync(folder, { recursive: true });
    },
  };
}

// A tab that was closed is emptied and used again for the next visit with the same preparation, in one third of the time
// that a new one takes.
async function visit(browser, idle, address, options) {
  const { scheme = "light", prepare, expected = [], width = 1280, height = 900 } = options;
  const found = idle.findIndex((tab) => tab.prepare === prepare),
    tab = found < 0 ? await newTab(browser, prepare) : idle.splice(found, 1)[0],
    { page } = tab;
  await page.setViewportSize({ width, height });
  await page.emulateMedia({ colorScheme: scheme });
  page.setDefaultTimeout(20_000);
  const noted = watch(page, address, expected);
  await page.goto(address);
  await settled(page);
  const close = async () => {
    await page.mouse.move(0, 0);
    await page.evaluate(() => localStorage.clear());
    await page.goto("about:blank");
    idle.push(tab);
    assert.deepEqual(noted.end(), []);
  };
  return { page, close };
}

async function newTab(browser, prepare) {
  const context = await browser.newContext({ acceptDownloads: true });
  const page = await context.newPage();
  if (prepare) await prepare(page, context);
  return { page, prepare };
}

/** Notes what goes wrong on a page until its end() is called, which returns it. */
function watch(page, address, expected) {
  const problems = [],
    origin = new URL(address).origin;
  const note = (text) => expected.some((pattern) => pattern.test(text)) || problems.push(text);
  const listeners = {
    console: (message) => message.type() === "error" && note(`console: ${message.text()}`),
    pageerror: (error) => note(`exception: ${error.message}`),
    request: (request) => {
      const url = request.url(),
        own = url === address || /^(data|blob):/.test(url) || (origin !== "null" && url.startsWith(origin));
      if (!own) note(`request: ${url}`);
    },
  };
  for (const [event, listener] of Object.entries(listeners)) page.on(event, listener);
  return {
    end() {
      for (const [event, listener] of Object.entries(listeners)) page.off(event, listener);
      return problems;
    },
  };
}

/** Two repaints later everything that was asked for has been drawn. */
export async function settled(page) {
  await page.evaluate(
    () => new Promise((done) => requestAnimationFrame(() => requestAnimationFrame(() => requestAnimationFrame(done)))),
  );
}

/** How many pixels of an element are close to a colour, and where their middle is, in the element. */
export async function pixels(page, selector, colour, tolerance = 24) {
  const shot = (await page.locator(selector).first().screenshot()).toString("base64");
  return page.evaluate(countPixels, { shot, colour, tolerance });
}

async function countPixels({ shot, colour, tolerance }) {
  const image = new Image();
  image.src = `data:image/png;base64,${shot}`;
  await image.decode();
  const canvas = Object.assign(document.createElement("canvas"), { width: image.width, height: image.height });
  const context = canvas.getContext("2d");
  context.drawImage(image, 0, 0);
  const { data } = context.getImageData(0, 0, image.width, image.height),
    want = parseInt(colour.slice(1), 16);
  let count = 0,
    x = 0,
    y = 0;
  for (let i = 0; i < data.length; i += 4) {
    const far = Math.max(
      Math.abs(data[i] - (want >> 16)),
      Math.abs(data[i + 1] - ((want >> 8) & 255)),
      Math.abs(data[i + 2] - (want & 255)),
    );
    if (far > tolerance) continue;
    count++;
    x += (i / 4) % image.width;
    y += Math.floor(i / 4 / image.width);
  }
  return { count, x: x / count, y: y / count };
}

/** What a click saves: the name and the text of the file. */
export async function saved(page, button) {
  const [download] = await Promise.all([page.waitForEvent("download"), button.click()]);
  const chunks = [];
  for await (const chunk of await download.createReadStream()) chunks.push(chunk);
  return { name: download.suggestedFilename(), text: Buffer.concat(chunks).toString("utf8") };
}

/** Whether a text is a well-formed SVG document. */
export function isSvg(page, text) {
  return page.evaluate((source) => {
    const document = new DOMParser().parseFromString(source, "image/svg+xml");
    return document.documentElement.nodeName === "svg" && !document.querySelector("parsererror");
  }, text);
}
