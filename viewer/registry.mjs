// SPDX-License-Identifier: MIT
//
// node registry.mjs NPM: exits with 0 if the registry that npm uses, or the proxy before it, accepts a connection within
// three seconds. Otherwise it prints the host and the reason. npm itself waits for more than a minute.
import { execFileSync } from "node:child_process";
import { connect } from "node:net";

const PATIENCE = 3000;
const setting = (name) =>
  execFileSync(process.argv[2], ["config", "get", name], { encoding: "utf8", stdio: ["ignore", "pipe", "ignore"] }).trim();
const given = (value) => (value && value !== "null" && value !== "undefined" ? value : null);

function end(host, why) {
  if (why) console.log(`${host} does not answer (${why})`);
  process.exit(why ? 1 : 0);
}

let host = "the registry of npm";
try {
  const registry = setting("registry"),
    secure = registry.startsWith("https:"),
    proxy = given(setting(secure ? "https-proxy" : "proxy"));
  const { hostname, port, protocol } = new URL(proxy ?? registry);
  host = hostname.replace(/^\[|\]$/g, "");
  const socket = connect({ host, port: Number(port) || (protocol === "https:" ? 443 : 80) });
  socket.setTimeout(PATIENCE, () => end(host, "no answer in time"));
  socket.on("connect", () => end(host));
  socket.on("error", (error) => end(host, error.code ?? error.message));
  setTimeout(() => end(host, "no answer in time"), PATIENCE);
} catch (error) {
  end(host, String(error.message).split("\n")[0]);
}
