// Clients with one open connection: broken WebSocket frames, valid frames with broken messages, broken messages over HTTP+SSE. In
// this process, so that no uncaught error is missed. Each input is answered or its connection closed, and the hub keeps working.

import { Agent, request } from "node:http";
import { connect } from "node:net";
import { afterAll, beforeAll, expect, it } from "vitest";
import { fixture } from "../support/hub.ts";
import { openInProcess, type InProcess } from "../support/in-process.ts";
import { cutUp, Mutator, type Random } from "../support/mutator.ts";
import { connect as connectMcp, http } from "../support/rpc.ts";
import { closed } from "../support/streams.ts";
import { FUZZ_MS } from "./fuzz.ts";
import { fuzzWire } from "./wire.ts";

/** Each input opens a connection, and many wait until the other side closes it. */
const MAX_RUNS = 50_000;

let inProcess: InProcess;
let url: string;
const agent = new Agent({ keepAlive: true });

beforeAll(async () => {
  inProcess = await openInProcess({ echo: fixture("echo") });
  url = await inProcess.hub.listen({ host: "127.0.0.1", port: 0 });
  await inProcess.hub.start();
});

afterAll(async () => {
  agent.destroy();
  expect(await inProcess.end()).toEqual([]);
});

async function requireHealthy(): Promise<void> {
  const session = await connectMcp(`${url}/mcp`);
  const { result } = await session.request("tools/call", { name: "echo", arguments: { text: "ok" } });
  expect(result.content).toEqual([{ type: "text", text: "ok" }]);
}

const rpc = (id: unknown, method: string, params: object = {}) => ({ jsonrpc: "2.0", id, method, params });
const ENVELOPE = {
  "io.modelcontextprotocol/protocolVersion": "2026-07-28",
  "io.modelcontextprotocol/clientCapabilities": {},
};
const HELLO = rpc(0, "initialize", { protocolVersion: "2025-03-26", capabilities: { roots: {} } });
const MESSAGES = [
  HELLO,
  { jsonrpc: "2.0", method: "notifications/initialized" },
  rpc(1, "tools/call", { name: "echo", arguments: { text: "ä\\" }, _meta: { progressToken: 1 } }),
  rpc("2", "tools/list", { _meta: ENVELOPE }),
  rpc(3, "resources/subscribe", { uri: "test://static" }),
  rpc(4, "subscriptions/listen", { _meta: ENVELOPE, notifications: { toolsListChanged: true } }),
  rpc(5, "logging/setLevel", { level: "debug" }),
  { jsonrpc: "2.0", method: "notifications/cancelled", params: { requestId: 1 } },
  { jsonrpc: "2.0", id: 1, result: { roots: [] } },
  [rpc(6, "ping"), { jsonrpc: "2.0", method: "x" }],
].map((message) => JSON.stringify(message));

const UPGRADE = [
  "GET /mcp HTTP/1.1",
  "Host: localhost",
  "Upgrade: websocket",
  "Connection: Upgrade",
  "Sec-WebSocket-Version: 13",
  "Sec-WebSocket-Key: dGhlIHNhbXBsZSBub25jZQ==",
  "Sec-WebSocket-Protocol: mcp",
  "\r\n",
].join("\r\n");

/** A masked frame, as clients send it; a mask of zeros leaves the text readable. */
function frame(payload: Buffer, opcode = 1): Buffer {
  const size = payload.length;
  const head = size < 126 ? [0x80 | size] : [0x80 | 126, size >> 8, size & 0xff];
  return Buffer.concat([Buffer.from([0x80 | opcode, ...head, 0, 0, 0, 0]), payload]);
}

/** Sends everything on one WebSocket. Returns the status of the upgrade. */
async function converse(said: Buffer, random: Random): Promise<string> {
  const socket = connect(Number(new URL(url).port), "127.0.0.1");
  let head = "";
  socket.setEncoding("latin1").on("data", (text: string) => {
    if (head.length < 100) head += text;
  });
  const end = closed(socket);
  socket.write(UPGRADE);
  for (const piece of random(3) === 0 ? cutUp(said, random) : [said]) socket.write(piece);
  socket.end();
  await end;
  return /^HTTP\/1\.1 (\d{3}) /.exec(head)?.[1] ?? "closed";
}

it("SE-5 T20 CL-9 malformed WebSocket frames end that connection at most", { timeout: FUZZ_MS }, async () => {
  const first = frame(Buffer.from(JSON.stringify(HELLO)));
  const corpus = [
    ...MESSAGES.map((text) => Buffer.concat([first, frame(Buffer.from(text))])),
    Buffer.concat([frame(Buffer.from("ping"), 9), frame(Buffer.from([0x03, 0xe8]), 8)]),
    frame(Buffer.from("binary"), 2),
    frame(Buffer.from("x".repeat(65_535))),
  ];
  const missing = await fuzzWire({
    name: "websocket frames",
    quickRuns: 500,
    maxRuns: MAX_RUNS,
    expected: ["101"],
    inputs: (random) => new Mutator(corpus, random),
    send: converse,
  });
  await requireHealthy();
  expect(missing).toEqual([]);
});

it("SE-5 T20 CL-9 malformed messages in valid frames are answered or ignored", { timeout: FUZZ_MS }, async () => {
  const missing = await fuzzWire({
    name: "websocket messages",
    quickRuns: 500,
    maxRuns: MAX_RUNS,
    expected: ["101"],
    inputs: (random) => {
      const mutator = new Mutator(MESSAGES, random);
      return {
        next: () => {
          const texts = Array.from({ length: 1 + random(4) }, () => frame(mutator.next().subarray(0, 60_000)));
          return Buffer.concat(random(3) === 0 ? texts : [frame(Buffer.from(JSON.stringify(HELLO))), ...texts]);
        },
      };
    },
    send: converse,
  });
  await requireHealthy();
  expect(missing).toEqual([]);
});

/** Opens an HTTP+SSE stream and returns the address for messages. The events are discarded. */
function openSse(): Promise<{ address: string; close: () => void }> {
  return new Promise((resolve, reject) => {
    const outgoing = request(`${url}/sse`, { headers: { accept: "text/event-stream" } }, (response) => {
      let text = "";
      response.setEncoding("utf8").on("data", (piece: string) => {
        if (text.length < 1000) text += piece;
        const address = /^data: (\/messages\S+)/m.exec(text)?.[1];
        if (address !== undefined) resolve({ address, close: () => outgoing.destroy() });
      });
      response.on("error", () => undefined); // closed by the test
    });
    outgoing.on("error", reject).end();
  });
}

it("SE-5 T20 CL-9 malformed messages over HTTP+SSE are refused", { timeout: FUZZ_MS }, async () => {
  let stream: Awaited<ReturnType<typeof openSse>> | undefined;
  const missing = await fuzzWire({
    name: "sse messages",
    quickRuns: 1000,
    maxRuns: MAX_RUNS,
    expected: ["202", "400", "404"],
    inputs: (random) => new Mutator(MESSAGES, random),
    freshen: async () => {
      stream?.close();
      stream = await openSse();
    },
    send: async (body, random) => {
      const address = random(50) === 0 ? "/messages?sessionId=gone" : (stream?.address ?? "/messages");
      const { status } = await http(url + address, { body, agent, headers: { "content-type": "application/json" } });
      return String(status);
    },
  });
  stream?.close();
  await requireHealthy();
  expect(missing).toEqual([]);
});
