// The hub's HTTP front, in this process so that no uncaught error is missed: broken requests over raw sockets, and broken bodies
// in valid requests to every kind of endpoint. Each input is answered or its connection closed, and none causes an internal
// error.

import { Agent, request } from "node:http";
import { connect } from "node:net";
import { afterAll, beforeAll, expect, it } from "vitest";
import { tokenOf } from "../support/client.ts";
import { fixture } from "../support/hub.ts";
import { openInProcess, type InProcess } from "../support/in-process.ts";
import { cutUp, Mutator, type Random } from "../support/mutator.ts";
import { connect as connectMcp, http } from "../support/rpc.ts";
import { closed } from "../support/streams.ts";
import { FUZZ_MS } from "./fuzz.ts";
import { fuzzWire } from "./wire.ts";

let inProcess: InProcess;
let url: string;
let token: string;
let session: Awaited<ReturnType<typeof connectMcp>>;
const agent = new Agent({ keepAlive: true });

beforeAll(async () => {
  inProcess = await openInProcess({
    echo: fixture("echo"),
    off: { command: "plugboard-no-such-command", disabled: true },
  });
  const { hub, home } = inProcess;
  url = await hub.listen({ host: "127.0.0.1", port: 0 });
  await hub.start();
  token = await tokenOf(home);
  session = await connectMcp(`${url}/mcp`);
});

afterAll(async () => {
  agent.destroy();
  expect(await inProcess.end()).toEqual([]);
});

/** Requires that the hub still works. */
async function requireHealthy(): Promise<void> {
  expect((await http(`${url}/healthz`, { method: "GET" })).status).toBe(200);
  const again = await connectMcp(`${url}/mcp`);
  const { result } = await again.request("tools/call", { name: "echo__echo", arguments: { text: "ok" } });
  expect(result.content).toEqual([{ type: "text", text: "ok" }]);
}

/** Inputs are the same in every run; values that only this hub knows are inserted when they are sent. */
const SESSION = "00000000-5e55-4000-8000-000000000000";
const TOKEN = `pb_${"t".repeat(43)}`;

function filledIn(input: Buffer): Buffer {
  const text = input.toString("latin1").replaceAll(TOKEN, token).replaceAll(SESSION, session.headers["mcp-session-id"]);
  return Buffer.from(text, "latin1");
}

/** About one input in a thousand ends the session. */
async function renewSession(): Promise<void> {
  session = await connectMcp(`${url}/mcp`);
}

const CALL = {
  jsonrpc: "2.0",
  id: 1,
  method: "tools/call",
  params: { name: "echo__echo", arguments: { text: "ä\\" } },
};
const ENVELOPE = {
  "io.modelcontextprotocol/protocolVersion": "2026-07-28",
  "io.modelcontextprotocol/clientCapabilities": {},
};
const MODERN_CALL = { ...CALL, params: { ...CALL.params, _meta: ENVELOPE } };
const HELLO = { jsonrpc: "2.0", id: 1, method: "initialize", params: { protocolVersion: "2025-11-25" } };
const OFF = { name: "off", command: "plugboard-no-such-command", disabled: true };

/** A request as bytes. */
function rawRequest(line: string, headers: Readonly<Record<string, string>>, body?: unknown): string {
  const text = body === undefined ? "" : JSON.stringify(body);
  const all = { Host: "localhost", ...headers, ...(text === "" ? {} : { "Content-Length": Buffer.byteLength(text) }) };
  const head = Object.entries(all).map(([name, value]) => `${name}: ${value}\r\n`);
  return `${line} HTTP/1.1\r\n${head.join("")}\r\n${text}`;
}

it("SE-5 SE-3 T20 malformed requests are answered or closed", { timeout: FUZZ_MS }, async () => {
  const json = { "Content-Type": "application/json", Accept: "application/json, text/event-stream" };
  const admin = { Authorization: `Bearer ${TOKEN}` };
  const modern = { "Mcp-Protocol-Version": "2026-07-28", "Mcp-Method": "tools/call", "Mcp-Name": "echo__echo" };
  const corpus = [
    rawRequest("POST /mcp", json, HELLO),
    rawRequest("POST /mcp/default", { ...json, "Mcp-Session-Id": SESSION }, CALL),
    rawRequest("POST /mcp", { ...json, ...modern }, MODERN_CALL),
    rawRequest("GET /mcp", { Accept: "text/event-stream", "Mcp-Session-Id": SESSION }),
    rawRequest("DELETE /mcp", { "Mcp-Session-Id": "b1946ac9-2f6e-4a7e-9d0c-1d2f3a4b5c6d" }),
    rawRequest("GET /api/v1/servers?limit=5&q=a%20b", admin),
    rawRequest("POST /api/v1/config/validate", { ...json, ...admin }, { mcpServers: { a: { command: "x" } } }),
    rawRequest("GET /api/v1/events?topics=server.status", { ...admin, "Last-Event-ID": "1" }),
    rawRequest("POST /mcp/%40admin", { ...json, ...admin }, HELLO),
    rawRequest("GET /healthz", {}) + rawRequest("GET /metrics", admin),
    rawRequest("POST /mcp", { ...json, "Mcp-Session-Id": SESSION }, [CALL, { jsonrpc: "2.0", method: "x" }]),
    `POST /mcp HTTP/1.1\r\nHost: localhost\r\nMcp-Session-Id: ${SESSION}\r\nContent-Type: application/json\r\nTransfer-Encoding: chunked\r\n\r\n3\r\n[7]\r\n0\r\n\r\n`,
    `POST /mcp HTTP/1.1\r\nHost: localhost\r\nContent-Type: application/json\r\nTransfer-Encoding: chunked\r\n\r\n5\r\n{"a":\r\n2\r\n1}\r\n0\r\n\r\n`,
    rawRequest("POST /mcp", { ...json, Expect: "100-continue", Origin: "http://localhost" }, HELLO),
    rawRequest("OPTIONS *", { Upgrade: "websocket", Connection: "Upgrade" }),
  ];
  const port = Number(new URL(url).port);
  const missing = await fuzzWire({
    name: "http front",
    quickRuns: 2000,
    expected: ["200", "400", "401", "403", "404"],
    inputs: (random) => new Mutator(corpus, random),
    freshen: renewSession,
    send: async (input, random) => {
      const bytes = filledIn(input);
      const socket = connect(port, "127.0.0.1");
      let head = "";
      socket.setEncoding("latin1").on("data", (text: string) => {
        if (head.length < 100) head += text;
      });
      const end = closed(socket);
      for (const piece of random(3) === 0 ? cutUp(bytes, random) : [bytes]) socket.write(piece);
      socket.end();
      await end;
      if (head === "") return "closed";
      const status = /^HTTP\/1\.1 (\d{3}) /.exec(head)?.[1] ?? `5xx: ${head.slice(0, 80)}`;
      // Every request is complete, so the hub must not wait for more of it.
      return status === "408" ? "5xx: the hub waited for more" : status;
    },
  });
  await requireHealthy();
  expect(missing).toEqual([]);
});

type Endpoint = readonly [method: string, path: string, body: unknown];

const EDITS: readonly Endpoint[] = [
  ["POST", "/api/v1/servers", { ...OFF, name: "another" }],
  ["PUT", "/api/v1/servers/off", OFF],
  ["PATCH", "/api/v1/servers/off", { args: ["a", "b"], env: { A: "1" }, description: null }],
  ["PUT", "/api/v1/groups/fuzz", { servers: ["echo"], tools: { echo: ["add"] } }],
];

const BODIES: readonly Endpoint[] = [
  ...EDITS,
  [
    "POST",
    "/api/v1/config/validate",
    { mcpServers: { a: { command: "x", args: ["y"] } }, groups: { g: { servers: ["a"] } } },
  ],
  ["POST", "/api/v1/servers/echo/tools/echo/call", { arguments: { text: "x" } }],
  ["POST", "/mcp/@admin", { ...HELLO, method: "tools/list", params: {} }],
  ["POST", "/mcp/@admin", { ...CALL, params: { name: "get_mcp_server", arguments: { id: "off" } } }],
  ["POST", "/mcp", CALL],
  ["POST", "/mcp", [CALL, { jsonrpc: "2.0", method: "x" }]],
  ["POST", "/mcp", { ...CALL, method: "completion/complete", params: { ref: { type: "ref/prompt", name: "greet" } } }],
  ["POST", "/mcp", { ...CALL, method: "resources/read", params: { uri: "test://static" } }],
];

/**
 * Edits wait for the disk and for each other. With as many edits as other requests, nearly all lanes would wait in their queue.
 */
function endpointFrom(random: Random): number {
  return random(30) === 0 ? random(EDITS.length) : EDITS.length + random(BODIES.length - EDITS.length);
}

/** Edits add and rename servers. Without a reset the config would grow, and the servers to be edited would be missing. */
async function restoreServers(): Promise<void> {
  const { body } = await exchange("GET", "/api/v1/servers", Buffer.alloc(0));
  const names = [...body.matchAll(/"name":("(?:[^"\\]|\\.)*")/g)].map(([, name = ""]): string => JSON.parse(name));
  for (const name of names) {
    if (name !== "echo" && name !== OFF.name)
      await exchange("DELETE", `/api/v1/servers/${encodeURIComponent(name)}`, Buffer.alloc(0));
  }
  await exchange("POST", "/api/v1/servers", Buffer.from(JSON.stringify(OFF)));
}

it(
  "SE-5 MG-3 T20 T50 malformed bodies get a well-formed error at every kind of endpoint",
  { timeout: FUZZ_MS },
  async () => {
    const missing = await fuzzWire({
      name: "bodies",
      quickRuns: 2500,
      expected: ["200", "400"],
      // The first byte selects the address; sometimes a wrong one.
      inputs: (random) => {
        const mutators = BODIES.map(([, , body]) => new Mutator([JSON.stringify(body)], random));
        return {
          next: () => {
            const endpoint = endpointFrom(random);
            const body = mutators[random(8) === 0 ? random(BODIES.length) : endpoint]?.next() ?? Buffer.alloc(0);
            return Buffer.concat([Buffer.from([endpoint]), body]);
          },
        };
      },
      freshen: async () => {
        await renewSession();
        await restoreServers();
      },
      send: async (input) => {
        const [method = "", path = ""] = BODIES[input[0] ?? 0] ?? [];
        const { status, type, body } = await exchange(method, path, input.subarray(1));
        if (status === 202 || status === 204) return String(status);
        if (!/json|event-stream/.test(type)) return `5xx: ${type}`;
        if (/^\s+at |node:internal|\/hub\/src\//m.test(body)) return `5xx with a stack: ${body}`;
        // Errors of a server are not errors of the hub.
        return status === 503 && body.includes("SERVICE_UNAVAILABLE") ? "unavailable" : String(status);
      },
    });
    await requireHealthy();
    expect(missing).toEqual([]);
  },
);

interface Exchanged {
  readonly status: number;
  readonly type: string;
  readonly body: string;
}

function exchange(method: string, path: string, body: Buffer): Promise<Exchanged> {
  const headers = {
    ...session.headers,
    authorization: `Bearer ${token}`,
    "content-type": method === "PATCH" ? "application/merge-patch+json" : "application/json",
    "content-length": body.length,
  };
  return new Promise((resolve, reject) => {
    const outgoing = request(url + path, { method, headers, agent }, (response) => {
      const { statusCode: status = 0, headers: of } = response;
      let text = "";
      response.setEncoding("utf8").on("data", (piece: string) => (text += piece));
      response.on("end", () => resolve({ status, type: of["content-type"] ?? "", body: text }));
      response.on("error", reject);
    });
    outgoing.on("error", reject);
    outgoing.end(body);
  });
}
