// The lower bound: the minimal proxy between clients and servers on Node. It parses the envelope, finds the server by the tool's
// name, forwards, and restores the caller's id. No groups, tokens, timeouts, limits, log or metrics.
// Usage: node floor/proxy.js --config FILE --port N [--era modern]

import { randomUUID } from "node:crypto";
import { readFileSync } from "node:fs";
import { createServer, type ServerResponse } from "node:http";
import { parseArgs } from "node:util";
import type { Era } from "../upstreams/server.ts";
import { membersOf, textAt } from "./envelope.ts";
import { openUpstream, type Entry, type FloorUpstream } from "./upstream.ts";

const { values: options } = parseArgs({
  options: {
    config: { type: "string", default: "" },
    port: { type: "string", default: "0" },
    era: { type: "string", default: "legacy" },
  },
});
const era: Era = options.era === "modern" ? "modern" : "legacy";
const MODERN_LIST = { resultType: "complete", ttlMs: 0, cacheScope: "private" };
const INITIALIZED = JSON.stringify({
  protocolVersion: "2025-06-18",
  capabilities: { tools: {} },
  serverInfo: { name: "floor", version: "1.0.0" },
});
const DISCOVERED = JSON.stringify({ ...MODERN_LIST, supportedVersions: ["2026-07-28"], capabilities: { tools: {} } });

const entries = Object.entries(JSON.parse(readFileSync(options.config, "utf8")) as Record<string, Entry>);

interface Route {
  readonly upstream: FloorUpstream;
  readonly name: string;
}

const routes = new Map<string, Route>();
const list = await openAll();

async function openAll(): Promise<string> {
  const offers = await Promise.all(
    entries.map(async ([server, entry]) => {
      const upstream = await openUpstream(entry, era);
      return { server, upstream, tools: await upstream.tools() };
    }),
  );
  const tools = offers.flatMap(({ server, upstream, tools: own }) =>
    own.map((tool) => {
      const exposed = entries.length === 1 ? tool.name : `${server}__${tool.name}`;
      routes.set(exposed, { upstream, name: tool.name });
      return { ...tool, name: exposed };
    }),
  );
  return JSON.stringify({ ...(era === "modern" ? MODERN_LIST : {}), tools });
}

const front = createServer((request, response) => {
  if (request.method !== "POST") return void response.writeHead(405).end();
  const pieces: Buffer[] = [];
  request.on("data", (piece: Buffer) => pieces.push(piece));
  request.on("end", () => {
    const [only] = pieces;
    handle(pieces.length === 1 && only !== undefined ? only : Buffer.concat(pieces), response);
  });
});
front.keepAliveTimeout = 120_000;
front.listen(Number(options.port), "127.0.0.1");

function handle(body: Buffer, response: ServerResponse): void {
  const members = membersOf(body);
  const idSpan = members.get("id");
  const methodSpan = members.get("method");
  if (idSpan === undefined || methodSpan === undefined) return void response.writeHead(202).end();
  const id = textAt(body, idSpan);
  const method = body.toString("latin1", methodSpan.from + 1, methodSpan.to - 1);
  const paramsSpan = members.get("params");
  if (method === "tools/call" && paramsSpan !== undefined) return call(body, paramsSpan, id, response);
  const [result, headers] = answerTo(method);
  if (result !== undefined) return send(response, `{"jsonrpc":"2.0","id":${id},"result":${result}}`, headers);
  send(response, `{"jsonrpc":"2.0","id":${id},"error":{"code":-32601,"message":"Method not found"}}`);
}

function call(body: Buffer, params: { from: number; to: number }, id: string, response: ServerResponse): void {
  const span = membersOf(body, params.from).get("name");
  const route = span === undefined ? undefined : routes.get(body.toString("utf8", span.from + 1, span.to - 1));
  if (span === undefined || route === undefined)
    return send(response, `{"jsonrpc":"2.0","id":${id},"error":{"code":-32602,"message":"Unknown tool"}}`);
  const own =
    body.toString("utf8", params.from, span.from) +
    JSON.stringify(route.name) +
    body.toString("utf8", span.to, params.to);
  route.upstream.call(own, { id, name: route.name }, (answer) => send(response, answer));
}

function answerTo(method: string): [string | undefined, Record<string, string>?] {
  if (method === "tools/list") return [list];
  if (method === "initialize" && era === "legacy") return [INITIALIZED, { "mcp-session-id": randomUUID() }];
  if (method === "server/discover" && era === "modern") return [DISCOVERED];
  return [undefined];
}

function send(response: ServerResponse, body: string | Buffer, headers: Record<string, string> = {}): void {
  const length = Buffer.byteLength(body);
  response.writeHead(200, { ...headers, "content-type": "application/json", "content-length": length }).end(body);
}
