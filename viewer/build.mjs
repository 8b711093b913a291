// SPDX-License-Identifier: MIT
//
// node build.mjs OUTPUT.html [OUTPUT.c]: bundles the page into one file that asks the network for nothing, and writes it
// a second time as a C string for the command. The one idea: scripts and styles are inlined and named by their hash in the
// page's content security policy, so that nothing else can run, whatever the data says.
import { createHash } from "node:crypto";
import { mkdirSync, readFileSync, renameSync, writeFileSync } from "node:fs";
import { dirname, join } from "node:path";
import { fileURLToPath } from "node:url";
import { build } from "esbuild";

const here = dirname(fileURLToPath(import.meta.url));
const marker = "<!--asterism:data-->";

async function bundle(entry) {
  const result = await build({
    entryPoints: [join(here, "src", entry)],
    bundle: true,
    minify: true,
    write: false,
    format: "iife",
    target: ["chrome90", "firefox90", "safari15"],
    charset: "utf8",
    legalComments: "none",
  });
  return result.outputFiles[0].text;
}

// Inside a script or style element only its own end tag, and what looks like the start of a comment, have to be hidden.
function inlined(code) {
  return code.trim().replaceAll("</script", "<\\/script").replaceAll("<!--", "<\\u0021--");
}

function hash(text) {
  return `'sha256-${createHash("sha256").update(text).digest("base64")}'`;
}

function policy(script, style) {
  return [
    "default-src 'none'",
    `script-src ${hash(script)}`,
    // Hashes for what the page ships; charts bring their own styles as images, which are documents of their own.
    `style-src ${hash(style)}`,
    "img-src data: blob:",
    "connect-src 'self'", // the live view's socket
    "base-uri 'none'",
    "form-action 'none'",
  ].join("; ");
}

function fill(template, parts) {
  return Object.entries(parts).reduce((page, [name, text]) => page.replace(`{{${name}}}`, () => text), template);
}

// Short pieces: a string literal of a megabyte is legal, a line of a megabyte is no joy to any tool.
function asC(page) {
  const bytes = Buffer.from(page, "utf8");
  const lines = [];
  for (let start = 0; start < bytes.length; start += 100)
    lines.push(`    "${escaped(bytes.subarray(start, start + 100))}"`);
  return `/* Made by viewer/build.mjs. */
#include "viewer.h"

static const char page[] =
${lines.join("\n")};

const char *ast_viewer_page(size_t *length) {
    *length = sizeof page - 1;
    return page;
}
`;
}

// Three octal digits always, so that a digit behind an escape is not taken for a part of it; ? because of trigraphs.
function escaped(bytes) {
  let text = "";
  for (const byte of bytes) {
    const plain = byte >= 32 && byte < 127 && byte !== 34 && byte !== 92 && byte !== 63;
    text += plain ? String.fromCharCode(byte) : `\\${byte.toString(8).padStart(3, "0")}`;
  }
  return text;
}

function write(path, text) {
  mkdirSync(dirname(path), { recursive: true });
  writeFileSync(`${path}.part`, text);
  renameSync(`${path}.part`, path);
}

const [output, outputC] = process.argv.slice(2);
const script = inlined(await bundle("main.ts"));
const style = inlined(await bundle("style.css"));
const template = readFileSync(join(here, "src", "index.html"), "utf8");
const page = fill(template, { policy: policy(script, style), style, script });
if (page.split(marker).length !== 2) throw new Error(`The page must contain ${marker} exactly once.`);
write(output, page);
if (outputC) write(outputC, asC(page));
