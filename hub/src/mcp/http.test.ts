// The paths of the MCP endpoints, and the groups that they name.

import { createServer, type Server } from "node:http";
import { afterEach, beforeEach, describe, expect, it } from "vitest";
import { Catalog } from "../catalog/catalog.ts";
import { groupPath } from "../http/group-path.ts";
import { McpHttp } from "./http.ts";
import { listen } from "../../../test/support/sockets.ts";
import { openToAll } from "../../../test/support/authenticator.ts";
import { openCalls } from "../../../test/support/endpoint.ts";

let mcp: McpHttp;
let server: Server;
let url: string;

beforeEach(async () => {
  const { supervisor, calls } = await openCalls();
  const groups = ["desk", "a b", "ä"].map((name) => ({ name, servers: [], tools: [] }));
  const catalog = Catalog.build({ servers: [], groups }, new Map());
  mcp = new McpHttp({
    group: (name) => catalog.group(name),
    supervisor,
    calls,
    authenticator: openToAll(),
  });
  server = createServer((request, response) => {
    if (!mcp.handle(request, response)) response.writeHead(418).end();
  });
  url = `http://127.0.0.1:${await listen(server)}`;
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
    "SE-5 %s is not handled",
    async (path) => {
      expect((await post(path)).status).toBe(418);
    },
  );

  it("GR-7 the displayed address still works if a client appends /mcp", async () => {
    // The Inspector's command line, up to 0.15.
    const rewritten = (path: string) => (path.endsWith("/mcp") ? path : "/mcp");
    const response = await post(rewritten(groupPath("desk")));
    expect(await response.json()).toMatchObject({ result: { serverInfo: { title: "Plugboard: desk" } } });
  });

  it("GR-7 a session works at both addresses of its group", async () => {
    const session = { "mcp-session-id": (await post("/mcp/desk")).headers.get("mcp-session-id") ?? "" };
    expect((await post("/groups/desk/mcp", { jsonrpc: "2.0", id: 2, method: "tools/list" }, session)).status).toBe(200);
  });

  it("GR-7 HTTP+SSE has both forms too, and messages use the same form", async () => {
    const stop = new AbortController();
    const response = await fetch(`${url}/groups/desk/sse`, { signal: stop.signal });
    const { value } = (await response.body?.getReader().read()) ?? {};
    expect(Buffer.from(value ?? []).toString()).toContain("data: /groups/desk/messages?sessionId=");
    stop.abort();
  });

  it("GR-7 a session of one group is unknown in another", async () => {
    const session = { "mcp-session-id": (await post("/mcp/desk")).headers.get("mcp-session-id") ?? "" };
    const list = { jsonrpc: "2.0", id: 2, method: "tools/list" };
    expect((await post("/mcp/desk", list, session)).status).toBe(200);
    expect((await post("/mcp", list, session)).status).toBe(404);
  });

  it("LC-5 close() ends every group's sessions", async () => {
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
