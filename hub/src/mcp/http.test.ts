// The MCP endpoints under their paths: which group a path means, and what the rest is.

import { once } from "node:events";
import { createServer, type Server } from "node:http";
import type { AddressInfo } from "node:net";
import { afterEach, beforeEach, describe, expect, it } from "vitest";
import { Calls } from "../calls/call.ts";
import { Latency } from "../calls/latency.ts";
import { Redactor } from "../calls/redact.ts";
import { MemoryCallLog } from "../store/memory-call-log.ts";
import { Catalog } from "../catalog/catalog.ts";
import { HubEvents } from "../events.ts";
import { EraMemory } from "../servers/era-memory.ts";
import { Guard } from "../servers/guard.ts";
import { Supervisor } from "../servers/supervisor.ts";
import { groupPath } from "../group-path.ts";
import { McpHttp } from "./http.ts";

let mcp: McpHttp;
let server: Server;
let url: string;

beforeEach(async () => {
  const secrets = {
    get: async () => undefined,
    set: async () => undefined,
    delete: async () => false,
    list: async () => [],
  };
  const eras = await EraMemory.open();
  const guard = new Guard({ instance: "test" });
  const world = { variables: {}, secrets, guard, eras, instance: "test", redactor: new Redactor() };
  const supervisor = new Supervisor(world, { onStatus: () => undefined, onOffer: () => undefined });
  const groups = ["desk", "a b", "ä"].map((name) => ({ name, servers: [], tools: [] }));
  const catalog = Catalog.build({ servers: [], groups }, new Map());
  mcp = new McpHttp({
    catalog: () => catalog,
    supervisor,
    calls: new Calls({
      supervisor,
      events: new HubEvents(),
      log: new MemoryCallLog({ redactor: new Redactor() }),
      latency: new Latency(),
    }),
  });
  server = createServer((request, response) => {
    if (!mcp.handle(request, response)) response.writeHead(418).end();
  }).listen(0, "127.0.0.1");
  await once(server, "listening");
  // eslint-disable-next-line typescript/no-unsafe-type-assertion -- a TCP server has an address of this form
  url = `http://127.0.0.1:${(server.address() as AddressInfo).port}`;
});

afterEach(async () => {
  mcp.close();
  server.closeAllConnections();
  await new Promise((resolve) => server.close(resolve));
});

const HELLO = {
  jsonrpc: "2.0",
  id: 1,
  method: "initialize",
  params: { protocolVersion: "2025-11-25", capabilities: {} },
};

function post(path: string, message: unknown = HELLO, headers: Record<string, string> = {}) {
  const own = { "content-type": "application/json", accept: "application/json, text/event-stream" };
  return fetch(url + path, { method: "POST", headers: { ...own, ...headers }, body: JSON.stringify(message) });
}

describe("McpHttp", () => {
  it.each([
    ["/mcp", "default"],
    ["/mcp/", "default"],
    ["/mcp?x=1", "default"],
    ["/mcp/default", "default"],
    ["/mcp/desk", "desk"],
    ["/mcp/desk/", "desk"],
    ["/mcp/desk?x=1", "desk"],
    ["/mcp/a%20b", "a b"],
    ["/mcp/%C3%A4", "ä"],
    ["/groups/default/mcp", "default"],
    ["/groups/desk/mcp", "desk"],
    ["/groups/desk/mcp/", "desk"],
    ["/groups/desk/mcp?x=1", "desk"],
    ["/groups/%C3%A4/mcp", "ä"],
  ])("GR-4 GR-7 %s is the group %j", async (path, group) => {
    const response = await post(path);
    expect(await response.json()).toMatchObject({ result: { serverInfo: { title: `Plugboard: ${group}` } } });
  });

  it.each([
    "/mcp/nowhere",
    "/mcp/DESK",
    "/mcp/%00",
    "/mcp/%E0%A4%A",
    "/mcp/__proto__",
    "/mcp/desk%2Fx",
    "/groups/nowhere/mcp",
  ])("GR-3 there is no group at %s", async (path) => {
    const response = await post(path);
    expect(response.status).toBe(404);
    expect(await response.json()).toMatchObject({
      id: null,
      error: {
        message: expect.stringMatching(/^Group not found \(There is no group/),
        data: { code: "NOT_FOUND", kind: "GroupNotFound" },
      },
    });
  });

  it.each(["/", "/mcpx", "/mcp/desk/x", "/api/mcp", "/MCP", "/groups/desk", "/groups/desk/mcp/x", "/groups//mcp"])(
    "SE-5 %s is not its business",
    async (path) => {
      expect((await post(path)).status).toBe(418);
    },
  );

  it("GR-7 the address that is shown is still the group's after a client that wants paths to end in /mcp", async () => {
    // The Inspector's command line, up to 0.15.
    const rewritten = (path: string) => (path.endsWith("/mcp") ? path : "/mcp");
    const response = await post(rewritten(groupPath("desk")));
    expect(await response.json()).toMatchObject({ result: { serverInfo: { title: "Plugboard: desk" } } });
  });

  it("GR-7 a session begun at one of a group's addresses goes on at the other", async () => {
    const session = { "mcp-session-id": (await post("/mcp/desk")).headers.get("mcp-session-id") ?? "" };
    expect((await post("/groups/desk/mcp", { jsonrpc: "2.0", id: 2, method: "tools/list" }, session)).status).toBe(200);
  });

  it("GR-7 HTTP+SSE has it too, and messages go to the same form", async () => {
    const stop = new AbortController();
    const response = await fetch(`${url}/groups/desk/sse`, { signal: stop.signal });
    const { value } = (await response.body?.getReader().read()) ?? {};
    expect(Buffer.from(value ?? []).toString()).toContain("data: /groups/desk/messages?sessionId=");
    stop.abort();
  });

  it("GR-7 a session of one group is none of another", async () => {
    const session = { "mcp-session-id": (await post("/mcp/desk")).headers.get("mcp-session-id") ?? "" };
    const list = { jsonrpc: "2.0", id: 2, method: "tools/list" };
    expect((await post("/mcp/desk", list, session)).status).toBe(200);
    expect((await post("/mcp", list, session)).status).toBe(404);
  });

  it("LC-5 the end ends every group's sessions", async () => {
    const sessions = await Promise.all(
      ["/mcp", "/mcp/desk"].map(async (path) => ({ path, id: (await post(path)).headers.get("mcp-session-id") ?? "" })),
    );
    mcp.close();
    for (const { path, id } of sessions) {
      const response = await post(path, { jsonrpc: "2.0", id: 2, method: "ping" }, { "mcp-session-id": id });
      expect(response.status).toBe(404);
    }
  });
});
