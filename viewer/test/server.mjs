// SPDX-License-Identifier: MIT
//
// Stands in for the command's server in tests of the page alone: one page and one WebSocket that only speaks. As little of
// RFC 6455 as that takes.
import { createHash } from "node:crypto";
import { createServer } from "node:http";

export async function serve(html) {
  const sockets = new Set();
  const state = { greeting: [], refuse: false };
  const server = createServer((request, response) => {
    response.writeHead(request.url === "/token/" ? 200 : 404, { "Content-Type": "text/html; charset=utf-8" });
    response.end(request.url === "/token/" ? html : "");
  });
  server.on("upgrade", (request, socket) => {
    socket.on("error", () => sockets.delete(socket));
    socket.on("close", () => sockets.delete(socket));
    if (state.refuse || request.url !== "/token/live") return socket.destroy();
    socket.write(accepted(request.headers["sec-websocket-key"]));
    sockets.add(socket);
    for (const message of state.greeting) socket.write(frame(JSON.stringify(message)));
  });
  await new Promise((done) => server.listen(0, "127.0.0.1", done));
  return {
    address: `http://127.0.0.1:${server.address().port}/token/`,
    /** What everybody who connects hears first. */
    greet: (...messages) => (state.greeting = messages),
    say: (message) =>
      sockets.forEach((socket) => socket.write(frame(typeof message === "string" ? message : JSON.stringify(message)))),
    refuse: (on) => (state.refuse = on),
    drop: () => sockets.forEach((socket) => socket.destroy()),
    listeners: () => sockets.size,
    close: () => {
      sockets.forEach((socket) => socket.destroy());
      server.closeAllConnections?.();
      return new Promise((done) => server.close(done));
    },
  };
}

function accepted(key) {
  const accept = createHash("sha1").update(`${key}258EAFA5-E914-47DA-95CA-C5AB0DC85B11`).digest("base64");
  return `HTTP/1.1 101 Switching Protocols\r\nUpgrade: websocket\r\nConnection: Upgrade\r\nSec-WebSocket-Accept: ${accept}\r\n\r\n`;
}

function frame(text) {
  const body = Buffer.from(text, "utf8"),
    head = Buffer.alloc(body.length < 126 ? 2 : body.length < 65536 ? 4 : 10);
  head[0] = 0x81;
  if (head.length === 2) head[1] = body.length;
  else if (head.length === 4) ((head[1] = 126), head.writeUInt16BE(body.length, 2));
  else ((head[1] = 127), head.writeBigUInt64BE(BigInt(body.length), 2));
  return Buffer.concat([head, body]);
}
