// SPDX-License-Identifier: MIT
//
// node shot.mjs PICTURE.png [--width=N] [--height=N] [--dark] [--pick] INPUT [options of explore]: a picture of the page of
// explore when everything has been computed; --pick: with the largest cluster picked. For tools/pictures.
import { launch } from "./browser.mjs";
import { explore, open } from "./explorer.mjs";

const [path, ...rest] = process.argv.slice(2),
  own = (word) => /^--(width|height)=|^--(dark|pick)$/.test(word);
const options = Object.fromEntries(rest.filter(own).map((word) => word.slice(2).split("="))),
  words = rest.filter((word) => !own(word));
const browser = await launch(),
  served = await explore(process.cwd(), ...words);
const { page, close } = await open(browser, served.address, {
  scheme: "dark" in options ? "dark" : "light",
  width: Number(options.width ?? 1280),
  height: Number(options.height ?? 1000),
});
await page.getByRole("button", { name: "Take it" }).waitFor();
if ("pick" in options) await page.locator(".table-card tr[data-key]").first().click();
await page.waitForFunction(() => /\d\.\d\d/.test(document.querySelector(".table-card tr[data-key]")?.innerText ?? ""));
await page.waitForTimeout(1500);
await page.screenshot({ path });
await close();
await served.end();
await browser.close();
