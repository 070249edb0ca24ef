// `/mcp/@admin` for agents, and `/metrics` for monitoring.

import { Client } from "@modelcontextprotocol/sdk/client/index.js";
import { StreamableHTTPClientTransport } from "@modelcontextprotocol/sdk/client/streamableHttp.js";
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { tokenOf } from "../support/client.ts";
import { fixture, makeHome, startHub, type Home, type RunningHub } from "../support/hub.ts";
import { processesWithMark } from "../support/processes.ts";
import { http } from "../support/rpc.ts";

const COMMANDS = [
  "list_mcp_servers",
  "get_mcp_server",
  "create_mcp_server",
  "update_mcp_server",
  "delete_mcp_server",
  "start_mcp_server",
  "stop_mcp_server",
  "test_mcp_server",
  "list_mcp_tools",
  "call_mcp_tool",
  "get_mcp_latency_metrics",
];
const LOGIN_COMMANDS = ["list_mcp_logins", "begin_mcp_login", "get_mcp_login", "end_mcp_login"];
const REGISTRY_COMMANDS = ["search_mcp_registry", "get_mcp_registry_server", "add_mcp_registry_server"];
const SECRET = "planted-secret-marker";

describe("the admin endpoint", () => {
  let home: Home;
  let hub: RunningHub;
  let admin: Client;
  let authorization: string;

  beforeAll(async () => {
    home = await makeHome({ echo: { ...fixture("echo"), env: { API_TOKEN: SECRET } } });
    hub = await startHub(home);
    authorization = `Bearer ${await tokenOf(home)}`;
    admin = new Client({ name: "agent", version: "1" });
    const requestInit = { headers: { authorization } };
    const transport = new StreamableHTTPClientTransport(new URL(`${hub.url}/mcp/@admin`), { requestInit });
    await admin.connect(transport);
  });

  afterAll(async () => {
    await admin?.close();
    expect(await hub?.stop()).toBe(0);
    expect(processesWithMark(home.mark)).toEqual([]);
    await home?.remove();
  });

  const run = async (name: string, args: Record<string, unknown> = {}) => {
    const { structuredContent, isError } = await admin.callTool({ name, arguments: args });
    expect(JSON.stringify(structuredContent)).not.toContain(SECRET);
    return { value: structuredContent as Record<string, unknown>, isError };
  };

  it("MG-1 AU-1 offers the eleven commands by their names, those for logins and registries, and approvals to read", async () => {
    expect((await admin.listTools()).tools.map(({ name }) => name)).toEqual([
      ...COMMANDS,
      ...LOGIN_COMMANDS,
      ...REGISTRY_COMMANDS,
      "get_mcp_approval",
    ]);
  });

  it.each([{}, { authorization: "Bearer pb_wrong" }])("T04 refuses requests with the headers %j", async (headers) => {
    const body = JSON.stringify({ jsonrpc: "2.0", id: 1, method: "initialize", params: {} });
    const type = { "content-type": "application/json", accept: "application/json, text/event-stream" };
    const refused = await http(`${hub.url}/mcp/@admin`, { headers: { ...type, ...headers }, body });
    expect(refused.status).toBe(401);
    expect(refused.headers["www-authenticate"]).toContain("Bearer");
    expect((await http(`${hub.url}/metrics`, { method: "GET", headers })).status).toBe(401);
  });

  it("MG-1 an agent adds, uses, stops and removes a server", async () => {
    const config = { name: "second", ...fixture("echo") };
    expect((await run("test_mcp_server", { config })).value).toMatchObject({ success: true });
    expect((await run("create_mcp_server", { config })).value).toMatchObject({ config: { name: "second" } });
    expect((await run("start_mcp_server", { id: "second" })).value).toMatchObject({ status: "running" });
    const call = { server_name: "second", tool_name: "add", arguments: { a: 1, b: 2 } };
    expect((await run("call_mcp_tool", call)).value).toMatchObject({ success: true });
    expect(JSON.stringify((await run("list_mcp_tools", { server_name: "second" })).value)).toContain('"add"');
    expect((await run("get_mcp_latency_metrics", {})).value).toMatchObject({
      items: [{ server_name: "second", total_calls: 1, calls_24h: 1 }],
    });
    expect((await run("stop_mcp_server", { id: "second" })).value).toMatchObject({ status: "stopped" });
    const changed = { ...config, description: "changed" };
    expect((await run("update_mcp_server", { id: "second", config: changed })).value).toMatchObject({
      config: { description: "changed" },
    });
    await run("delete_mcp_server", { id: "second" });
    expect(JSON.stringify((await run("list_mcp_servers")).value)).not.toContain("second");
  });

  it("MG-1 a failed command answers with the error contract", async () => {
    expect(await run("get_mcp_server", { id: "nobody" })).toMatchObject({
      isError: true,
      value: { code: "NOT_FOUND" },
    });
    expect(await run("create_mcp_server", { config: { command: "x" } })).toMatchObject({
      isError: true,
      value: { code: "VALIDATION_ERROR", message: "Name is required" },
    });
  });

  it.each<[string, string, Record<string, unknown>, object]>([
    [
      "arguments in a request object",
      "call_mcp_tool",
      { request: { server_name: "echo", tool_name: "pid", arguments: {} } },
      { success: true },
    ],
    [
      "arguments in a request object, with serverName",
      "call_mcp_tool",
      { request: { serverName: "echo", tool_name: "pid" } },
      { success: true },
    ],
    ["serverName", "list_mcp_tools", { serverName: "echo" }, { items: expect.any(Array) }],
    ["a workflow", "call_mcp_tool", { server_name: "echo", tool_name: "pid", workflow_id: "w" }, { success: true }],
  ])("MG-6 %s is taken: %s", async (_, name, args, expected) => {
    expect(await run(name, args)).toMatchObject({ isError: false, value: expected });
  });

  it.each<[string, Record<string, unknown>, string, string]>([
    ["get_mcp_latency_metrics", { serverName: "ghost" }, "NOT_FOUND", 'There is no server "ghost"'],
    ["get_mcp_latency_metrics", { server: "echo" }, "VALIDATION_ERROR", 'Unknown argument "server"'],
    ["list_mcp_servers", { all: true }, "VALIDATION_ERROR", 'Unknown argument "all"'],
    [
      "list_mcp_tools",
      { serverName: "echo", server_name: "echo" },
      "VALIDATION_ERROR",
      "Duplicate argument server_name",
    ],
    [
      "call_mcp_tool",
      { request: {}, tool_name: "pid" },
      "VALIDATION_ERROR",
      '"tool_name" and "request" exclude each other',
    ],
    ["call_mcp_tool", { request: [] }, "VALIDATION_ERROR", "`request` must be an object"],
    [
      "call_mcp_tool",
      { server_name: "echo", tool_name: "pid", arguments: [1] },
      "VALIDATION_ERROR",
      "`arguments` must be an object",
    ],
  ])("MG-6 %s %j is refused", async (name, args, code, message) => {
    expect(await run(name, args)).toMatchObject({ isError: true, value: { code, message } });
  });

  it("MG-3 /metrics is in the Prometheus format and contains no secret", async () => {
    await run("call_mcp_tool", { server_name: "echo", tool_name: "add", arguments: { a: 1, b: 2 } });
    const { status, body, headers } = await http(`${hub.url}/metrics`, { method: "GET", headers: { authorization } });
    expect([status, headers["content-type"]]).toEqual([200, "text/plain; version=0.0.4; charset=utf-8"]);
    expect(body).toContain('hub_server_up{server="echo"} 1');
    expect(body).toMatch(/mcp_client_operation_duration_seconds_count\{[^}]*tool="add"[^}]*\} [1-9]/);
    expect(body).toMatch(
      /mcp_server_operation_duration_seconds_count\{group="@api",client="[^"]*",method="tools\/call",outcome="ok"\} [1-9]/,
    );
    for (const name of ["hub_event_clients", "hub_secret_errors_total", "hub_calls_inflight"])
      expect(body).toMatch(new RegExp(`^${name} 0$`, "m"));
    expect(body).not.toContain(SECRET);
    for (const line of body.split("\n").filter((text) => text !== "" && !text.startsWith("#"))) {
      expect(line).toMatch(/^[a-z_]+(\{([a-z_]+="(?:[^"\\]|\\.)*",?)*\})? [\d.e+-]+$/);
    }
  });
});
