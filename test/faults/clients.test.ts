// F46: faults of the hub's own clients, which disconnect, cancel, close one side, or send half a request.

import { connect as connectTcp, type Socket } from "node:net";
import { once } from "node:events";
import { expect, it } from "vitest";
import { connect } from "../support/rpc.ts";
import { openStream } from "../support/streams.ts";
import { FaultProxy } from "./fault-proxy.ts";
import { OTHER, toAnswer, type FaultHub } from "./fault-hub.ts";
import { family } from "./rows.ts";
import type { Scenario } from "./scenario.ts";

const HELD: Scenario = { steps: [{ do: "hold", gate: "go" }] };
const ENVELOPE = {
  "io.modelcontextprotocol/protocolVersion": "2026-07-28",
  "io.modelcontextprotocol/clientCapabilities": {},
};

/** A modern call as the bytes of one HTTP request. */
function requestBytes(hub: FaultHub, tool: string, args: object): Buffer {
  const params = { name: tool, arguments: args, _meta: ENVELOPE };
  const body = Buffer.from(JSON.stringify({ jsonrpc: "2.0", id: 1, method: "tools/call", params }));
  const head = [
    "POST /mcp HTTP/1.1",
    `host: ${new URL(hub.running.url).host}`,
    "content-type: application/json",
    "accept: application/json, text/event-stream",
    "mcp-protocol-version: 2026-07-28",
    "mcp-method: tools/call",
    `mcp-name: ${tool}`,
    `content-length: ${body.length}`,
  ];
  return Buffer.concat([Buffer.from(`${head.join("\r\n")}\r\n\r\n`), body]);
}

async function dial(port: string | number, options: { allowHalfOpen?: boolean } = {}): Promise<Socket> {
  const socket = connectTcp({ port: Number(port), host: "127.0.0.1", ...options });
  socket.on("error", () => undefined); // the tests cause these errors
  await once(socket, "connect");
  return socket;
}

family("a client of the hub", ({ hub }) => {
  const port = () => new URL(hub().running.url).port;

  it.each([
    ["stdio", { ...HELD }],
    ["stdio", { ...HELD, era: "modern" }],
    ["http", { ...HELD, transport: "http" }],
    ["http", { ...HELD, transport: "http", era: "modern" }],
  ] satisfies [string, Scenario][])(
    "F46 disconnects during a call: a server on %s %j is notified",
    async (_, scenario) => {
      const { name, up } = await hub().add(scenario);
      const socket = await dial(port());
      socket.write(requestBytes(hub(), `${name}:act`, { id: "x1" }));
      await up.until("ran");
      socket.resetAndDestroy();
      // Over HTTP, a modern cancellation is the end of the connection; all others are a notification.
      const { transport, era } = scenario as Scenario;
      if (transport === "http" && era === "modern") await up.until("left", { method: "tools/call" });
      else await up.until("told", { method: "notifications/cancelled" });
      up.open("go");
      expect(up.ran()).toBe(1);
    },
  );

  it("F46 200 clients vanish at once during their calls", async () => {
    const { name, up } = await hub().add(HELD);
    const sockets = await Promise.all(Array.from({ length: 200 }, () => dial(port())));
    for (const [n, socket] of sockets.entries()) socket.write(requestBytes(hub(), `${name}:act`, { id: `${n}` }));
    await hub().until(() => up.ran() === 200);
    for (const socket of sockets) socket.resetAndDestroy();
    await hub().until(() => up.count("told", { method: "notifications/cancelled" }) === 200);
    up.open("go");
  });

  it("F46 a legacy client that cancels releases its call and gets no answer", async () => {
    const { name, up } = await hub().add(HELD);
    const { headers } = await connect(`${hub().running.url}/mcp`);
    const call = {
      jsonrpc: "2.0",
      id: "c1",
      method: "tools/call",
      params: { name: `${name}:act`, arguments: { id: "x" } },
    };
    const answered = hub().post(call, headers);
    await up.until("ran");
    await hub().post({ jsonrpc: "2.0", method: "notifications/cancelled", params: { requestId: "c1" } }, headers);
    await up.until("told", { method: "notifications/cancelled" });
    const { text } = toAnswer((await answered).body);
    expect(text).toBeUndefined();
    up.open("go");
  });

  it("F46 half-closes during a call: treated as disconnected", async () => {
    const { name, up } = await hub().add(HELD);
    const socket = await dial(port(), { allowHalfOpen: true });
    socket.write(requestBytes(hub(), `${name}:act`, { id: "x1" }));
    await up.until("ran");
    socket.end();
    await once(socket.resume(), "end");
    await up.until("told", { method: "notifications/cancelled" });
    up.open("go");
  });

  it("F46 sends half a request and leaves, at every tenth byte", async () => {
    const bytes = requestBytes(hub(), `${OTHER}:echo`, { text: "never" });
    for (let length = 0; length < bytes.length; length += 10) {
      const socket = await dial(port());
      if (length % 20 === 0) socket.end(bytes.subarray(0, length));
      else socket.write(bytes.subarray(0, length), () => socket.resetAndDestroy());
      await once(socket.resume(), "close");
    }
  });

  it("F46 sends its request byte by byte through a slow network", async () => {
    const proxy = await FaultProxy.open(Number(port()));
    proxy.set({ up: { sliceBytes: 1 }, down: { sliceBytes: 1 } });
    const socket = await dial(proxy.port);
    let text = "";
    socket.on("data", (chunk: Buffer) => (text += chunk.toString()));
    socket.write(requestBytes(hub(), `${OTHER}:echo`, { text: "in pieces" }));
    await hub().until(() => text.includes("in pieces"));
    socket.destroy();
    await proxy.close();
  });

  it("F46 opens event streams and is cut off, again and again", async () => {
    const proxy = await FaultProxy.open(Number(port()));
    const { headers } = await connect(`${hub().running.url}/mcp`);
    for (let round = 0; round < 20; round++) {
      const stream = await openStream(proxy.through(`${hub().running.url}/mcp`), { headers });
      expect(stream.status).toBe(200);
      proxy.resetAll();
      stream.close();
    }
    await proxy.close();
  });
});
