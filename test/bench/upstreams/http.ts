// The raw server over Streamable HTTP, at any path. `--sse` answers with event streams. Prints its address as a line, and exits
// at the end of stdin.

import { randomUUID } from "node:crypto";
import { createServer, type IncomingMessage, type ServerResponse } from "node:http";
import type { AddressInfo } from "node:net";
import { parseServerArgs, RawServer } from "./server.ts";

const { port, sse, ...options } = parseServerArgs();
const server = new RawServer(options);
const sessions = new Set<string>();

const front = createServer((request, response) => {
  // It has no GET stream.
  if (request.method !== "POST") return void response.writeHead(request.method === "DELETE" ? 204 : 405).end();
  const pieces: Buffer[] = [];
  request.on("data", (piece: Buffer) => pieces.push(piece));
  request.on("end", () => answer(request, response, Buffer.concat(pieces).toString()));
});
// Longer than any pause of the measurement.
front.keepAliveTimeout = 120_000;
front.listen(port, "127.0.0.1", () => {
  process.stdout.write(`http://127.0.0.1:${(front.address() as AddressInfo).port}/mcp\n`);
});
process.stdin.resume().on("end", () => process.exit(0));

function answer(request: IncomingMessage, response: ServerResponse, text: string): void {
  const message = JSON.parse(text);
  const headers: Record<string, string | number> = {};
  if (options.era === "legacy" && !isKnown(request, message.method, headers)) return void response.writeHead(400).end();
  const body = server.answer(message);
  if (body === undefined) return void response.writeHead(202).end();
  if (sse) {
    response.writeHead(200, { ...headers, "content-type": "text/event-stream" });
    return void response.end(`event: message\ndata: ${body}\n\n`);
  }
  headers["content-type"] = "application/json";
  headers["content-length"] = Buffer.byteLength(body);
  response.writeHead(200, headers).end(body);
}

/** Legacy clients have a session, which the first request creates. */
function isKnown(request: IncomingMessage, method: unknown, headers: Record<string, string | number>): boolean {
  if (method !== "initialize") return sessions.has(String(request.headers["mcp-session-id"]));
  const id = randomUUID();
  sessions.add(id);
  headers["mcp-session-id"] = id;
  return true;
}
