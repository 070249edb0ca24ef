// Floods from servers and clients: they fail soon and with little memory, and other clients are not affected. The hub is the
// built one, in its own process.

import { connect as connectTcp } from "node:net";
import { afterAll, afterEach, beforeAll, describe, expect, it } from "vitest";
import { tokenOf } from "../support/client.ts";
import { fixture, makeHome, startHub, type Home, type RunningHub } from "../support/hub.ts";
import { residentBytes } from "../support/memory.ts";
import { processesWithMark } from "../support/processes.ts";
import { startRemote, type Remote } from "../support/remote.ts";
import { connect } from "../support/rpc.ts";
import { closed } from "../support/streams.ts";

let home: Home;
let remote: Remote;
let hub: RunningHub;
let token: string;
let session: Awaited<ReturnType<typeof connect>>;

beforeAll(async () => {
  remote = await startRemote("http-bomb");
  home = await makeHome({ bomb: fixture("line-bomb"), web: remote.entry, honest: fixture("echo") });
  hub = await startHub(home);
  session = await connect(`${hub.url}/mcp`);
  token = await tokenOf(home);
  // Load lazy modules before memory is measured.
  await Promise.all(["bomb", "web", "honest"].map((server) => callText(`${server}__echo`, { text: "warm" })));
  await callText("honest__big", { bytes: 4_000_000 });
});

afterAll(async () => {
  expect(await hub?.stop()).toBe(0);
  expect(hub?.stderr()).not.toMatch(/unhandled|uncaught|heap/i);
  await remote?.stop();
  expect(processesWithMark(home.mark)).toEqual([]);
  await home?.remove();
});

afterEach(async () => {
  expect([hub.process.exitCode, hub.process.signalCode]).toEqual([null, null]);
  expect(await callText("honest__echo", { text: "still here" })).toBe("still here");
});

const call = (name: string, args: object) => session.request("tools/call", { name, arguments: args });
const callText = async (name: string, args: object): Promise<string> => (await call(name, args)).result.content[0].text;

/** Runs a flood while an honest client makes calls. Returns the growth of the hub's memory. */
async function underFlood<T>(name: string, run: () => Promise<T>): Promise<{ result: T; grownBytes: number }> {
  const before = residentBytes(hub.process.pid);
  let grownBytes = 0;
  const sample = () => (grownBytes = Math.max(grownBytes, residentBytes(hub.process.pid).now - before.now));
  const sampler = setInterval(sample, 20);
  const startedAt = performance.now();
  const state = { over: false };
  const flood = run().finally(() => (state.over = true));
  let slowestMs = 0;
  let calls = 0;
  while (!state.over) {
    const from = performance.now();
    expect(await callText("honest__echo", { text: "honest" })).toBe("honest");
    slowestMs = Math.max(slowestMs, performance.now() - from);
    calls++;
  }
  const result = await flood;
  clearInterval(sampler);
  sample();
  const { peak } = residentBytes(hub.process.pid);
  grownBytes = Math.max(grownBytes, peak > before.peak ? peak - before.now : 0);
  const seconds = ((performance.now() - startedAt) / 1000).toFixed(1);
  process.stderr.write(
    `flood, ${name}: over in ${seconds} s, +${Math.round(grownBytes / 1e6)} MB, ${calls} honest calls, slowest ${Math.round(slowestMs)} ms\n`,
  );
  return { result, grownBytes };
}

describe("a server with an endless answer", () => {
  it("T24 F08 over stdio: the call fails, and memory grows by less than 48 MB", async () => {
    const { result, grownBytes } = await underFlood("a line", () => call("bomb__bomb", {}));
    expect(result.result).toMatchObject({
      isError: true,
      _meta: { "io.plugboard/error": { code: expect.any(String) } },
    });
    expect(JSON.stringify(result)).toContain("16777216 bytes");
    expect(grownBytes).toBeLessThan(48_000_000);
  });

  it.each(["json", "line", "event", "empty lines"])(
    "T24 F26 over HTTP (%s): the call fails, and memory grows by less than 48 MB",
    async (kind) => {
      const { result, grownBytes } = await underFlood(`HTTP, ${kind}`, () => call("web__bomb", { kind }));
      expect(result.result).toMatchObject({ isError: true });
      expect(JSON.stringify(result)).toContain("16777216 bytes");
      expect(grownBytes).toBeLessThan(64_000_000);
      expect(await callText("web__echo", { text: "next" })).toBe("next");
    },
  );
});

describe("a client with an endless request", () => {
  const JSON_HEADERS = "Content-Type: application/json\r\nTransfer-Encoding: chunked\r\n";
  const chunk = `10000\r\n${"x".repeat(65_536)}\r\n`;

  /** Writes without end. Returns what was received when the hub has closed the connection. */
  async function pour(head: string, piece: string): Promise<string> {
    const socket = connectTcp(Number(new URL(hub.url).port), "127.0.0.1");
    let got = "";
    socket.setEncoding("latin1").on("data", (text: string) => (got += text));
    const end = closed(socket);
    socket.write(head);
    const more = (error?: Error | null) => {
      // With pauses: a loop that writes as fast as the hub reads would block this process.
      if (error === undefined || error === null) setImmediate(() => socket.write(piece, more));
    };
    more();
    await end;
    return got;
  }

  it.each([
    ["a message", "/mcp", () => "", 413],
    ["a body of the API", "/api/v1/servers", () => `Authorization: Bearer ${token}\r\n`, 413],
    ["a body for nobody", "/nowhere", () => "", 404],
  ])("T20 T21 %s: gets an answer, is closed, and is not buffered", async (name, path, headers, status) => {
    const head = () => `POST ${path} HTTP/1.1\r\nHost: localhost\r\n${headers()}${JSON_HEADERS}\r\n`;
    const { result, grownBytes } = await underFlood(name, () => pour(head(), chunk));
    expect(result).toMatch(new RegExp(`^HTTP/1.1 ${status} `));
    expect(grownBytes).toBeLessThan(48_000_000);
  });

  it.each([
    ["one header", "GET /mcp HTTP/1.1\r\nHost: localhost\r\nX: ", "x"],
    ["headers", "GET /mcp HTTP/1.1\r\nHost: localhost\r\n", "X: y\r\n"],
    ["a path", "GET /mcp", "/x"],
    ["an extension of a chunk", `POST /mcp HTTP/1.1\r\nHost: localhost\r\n${JSON_HEADERS}\r\n1;`, "x"],
  ])("T20 T21 %s: is rejected and closed", async (name, head, piece) => {
    const { result, grownBytes } = await underFlood(name, () => pour(head, piece.repeat(1000)));
    // A client that still writes when the connection is closed may lose the response.
    expect(result).toMatch(/^(HTTP\/1.1 (431|413) |$)/);
    expect(grownBytes).toBeLessThan(48_000_000);
  });
});

describe("a client that never reads", () => {
  it("T21 a stream of 300 MB is cut off, and little of it is buffered", async () => {
    const body = JSON.stringify({
      jsonrpc: "2.0",
      id: "chatter",
      method: "tools/call",
      params: { name: "bomb__chatter", arguments: { count: 6000, bytes: 50_000 }, _meta: { progressToken: 1 } },
    });
    const { headers } = await connect(`${hub.url}/mcp`);
    const all = { host: "localhost", "content-type": "application/json", "content-length": body.length, ...headers };
    const head = Object.entries(all).map(([name, value]) => `${name}: ${value}\r\n`);
    await untilRunning();
    const socket = connectTcp(Number(new URL(hub.url).port), "127.0.0.1").pause();
    const end = closed(socket);
    const { grownBytes } = await underFlood("an unread stream", async () => {
      socket.write(`POST /mcp HTTP/1.1\r\n${head.join("")}\r\n${body}`);
      await untilSaid();
    });
    // Mostly garbage: V8 keeps up to 64 MB of unused buffers, more with a larger heap.
    expect(grownBytes).toBeLessThan(200_000_000);
    let size = 0;
    socket.on("data", (piece: Buffer) => (size += piece.length)).resume();
    await end;
    // Buffers of the system, and the hub's buffer for a slow reader.
    process.stderr.write(`an unread stream: ${(size / 1e6).toFixed(1)} MB of 300 could still be read\n`);
    expect(size).toBeLessThan(25_000_000);
  });

  /** Starts the server again, which an earlier test has crashed. */
  async function untilRunning(): Promise<void> {
    const api = { authorization: `Bearer ${token}` };
    await fetch(`${hub.url}/api/v1/servers/bomb/start`, { method: "POST", headers: api });
    expect(await callText("bomb__echo", { text: "back" })).toBe("back");
  }

  /** The server answers in order, so all earlier output has been written. */
  const untilSaid = () => callText("bomb__echo", { text: "done" });
});
