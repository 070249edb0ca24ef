// `GET /sessions` beside real clients of every transport and era.

import { Client as ClientV1 } from "@modelcontextprotocol/sdk/client/index.js";
import { SSEClientTransport } from "@modelcontextprotocol/sdk/client/sse.js";
import { WebSocketClientTransport } from "@modelcontextprotocol/sdk/client/websocket.js";
import type { Transport } from "@modelcontextprotocol/sdk/shared/transport.js";
import { beforeAll, expect, it, vi } from "vitest";
import { WebSocket } from "ws";
import type { HubClient } from "../../hub/src/api/client/client.ts";
import { connectAsked, type AskedClient } from "../support/asked-clients.ts";
import { clientOf } from "../support/client.ts";
import { fixture, makeHome, startHub, type RunningHub } from "../support/hub.ts";

type Callable = Pick<AskedClient, "call" | "close">;

let hub: RunningHub;
let api: HubClient;

beforeAll(async () => {
  hub = await startHub(await makeHome({ it: fixture("echo") }));
  api = await clientOf(hub);
  return async () => {
    expect(await hub.stop()).toBe(0);
    await hub.home.remove();
  };
});

async function connect(transport: Transport): Promise<Callable> {
  const client = new ClientV1({ name: "test", version: "1" });
  await client.connect(transport);
  return {
    call: async (name) => {
      await client.callTool({ name });
      return { isError: false, text: "" };
    },
    close: () => client.close(),
  };
}

const mcp = () => ({ url: `${hub.url}/mcp` });
const listed = async () => (await api.listSessions()).map(({ id }) => id);

it.each<[name: string, transport: string, version: string, open: () => Promise<Callable>]>([
  ["legacy HTTP", "http", "2025-11-25", () => connectAsked("legacy", mcp())],
  ["modern HTTP", "stateless", "2026-07-28", () => connectAsked("modern", mcp())],
  ["SSE", "sse", "2025-11-25", () => connect(new SSEClientTransport(new URL(`${hub.url}/sse`)))],
  [
    "WebSocket",
    "websocket",
    "2025-11-25",
    () => {
      vi.stubGlobal("WebSocket", WebSocket);
      const opened = connect(new WebSocketClientTransport(new URL(`${hub.url.replace("http", "ws")}/mcp`)));
      return opened.finally(() => vi.unstubAllGlobals());
    },
  ],
  ["the stdio bridge, legacy", "bridge", "2025-11-25", () => connectAsked("legacy", { home: hub.home })],
  ["the stdio bridge, modern", "bridge", "2026-07-28", () => connectAsked("modern", { home: hub.home })],
])("MG-1 a client over %s is listed as %s", async (_, transport, version, open) => {
  const before = await listed();
  const client = await open();
  await client.call("pid");
  const added = (await api.listSessions()).filter(({ id }) => !before.includes(id));
  expect(added).toMatchObject([
    { transport, group: "default", protocol_version: version, client: { name: "test", version: "1" }, calls: 1 },
  ]);
  expect(added[0]?.last_call_at).not.toBeNull();
  await client.close();
  // A modern client has no session that could end: it is forgotten after a while.
  if (version === "2025-11-25" && transport !== "http") {
    await expect.poll(listed, { timeout: 60_000 }).not.toContain(added[0]?.id);
  }
});
