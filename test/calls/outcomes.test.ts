// MG-5: the outcome of a call in its result, in the log and in the statistics.

import { Client } from "@modelcontextprotocol/sdk/client/index.js";
import { StreamableHTTPClientTransport } from "@modelcontextprotocol/sdk/client/streamableHttp.js";
import { ElicitRequestSchema } from "@modelcontextprotocol/sdk/types.js";
import { setTimeout as sleep } from "node:timers/promises";
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { HubClient } from "../../hub/src/api/client/client.ts";
import { tokenOf } from "../support/client.ts";
import { fixture, makeHome, plugboard, startHub, type Home, type RunningHub } from "../support/hub.ts";
import { processesWithMark } from "../support/processes.ts";
import { http } from "../support/rpc.ts";

/** How long the user takes to answer. */
const PERSON_MS = 1500;

let home: Home;
let hub: RunningHub;
let api: HubClient;
let token: string;
let mcp: Client;

async function connect(): Promise<void> {
  token = await tokenOf(home);
  api = new HubClient({ url: hub.url, token });
  mcp = new Client({ name: "person", version: "1" }, { capabilities: { elicitation: {} } });
  mcp.setRequestHandler(ElicitRequestSchema, async () => {
    await sleep(PERSON_MS);
    return { action: "accept", content: {} };
  });
  await mcp.connect(new StreamableHTTPClientTransport(new URL(`${hub.url}/mcp`)));
}

beforeAll(async () => {
  home = await makeHome({
    echo: fixture("echo"),
    asks: fixture("asks-legacy"),
    off: { ...fixture("echo"), enabled: false },
    broken: { command: "/no/such/program" },
  });
  hub = await startHub(home);
  await connect();
});

afterAll(async () => {
  await mcp?.close();
  expect(await hub?.stop()).toBe(0);
  expect(processesWithMark(home.mark)).toEqual([]);
  await home?.remove();
});

const last = async () => (await api.calls.list({ limit: 1 })).items[0];

describe("MG-5 the outcome of a call over REST, in the log", () => {
  it.each<[string, string, string, object]>([
    ["a result", "echo", "pid", { outcome: "ok", success: true, error_code: null, error: null }],
    ["isError", "echo", "fail", { outcome: "tool_error", error_code: "NETWORK_ERROR", error: "it failed" }],
    [
      "a JSON-RPC error",
      "echo",
      "rpc_error",
      { outcome: "failed", error_code: "NETWORK_ERROR", error: "no such luck" },
    ],
    ["an unknown tool", "echo", "nothing", { outcome: "refused", error_code: "NOT_FOUND", error: "Tool not found" }],
    ["an unknown server", "ghost", "pid", { outcome: "refused", error_code: "NOT_FOUND" }],
    ["a server that is switched off", "off", "pid", { outcome: "refused", error_code: "CONFLICT" }],
    ["a server that is down", "broken", "x", { outcome: "failed", error_code: "SERVICE_UNAVAILABLE" }],
  ])("%s", async (_, server_name, tool_name, expected) => {
    await api.callTool({ server: server_name, tool: tool_name, workflowId: `w-${tool_name}` }).catch(() => undefined);
    const row = await last();
    const route = { server_name, tool_name, client: "api", group_name: "@api", workflow_id: `w-${tool_name}` };
    expect(row).toMatchObject({ ...route, ...expected });
    // The call is found by its id and by its workflow.
    expect(await api.calls.get(row?.id ?? 0)).toEqual(row);
    expect((await api.calls.list({ workflow_id: `w-${tool_name}`, limit: 1 })).items).toEqual([row]);
  });

  it("a call that times out", async () => {
    await expect(api.callTool({ server: "echo", tool: "hang" }, { timeoutMs: 50 })).rejects.toThrow();
    expect(await last()).toMatchObject({ tool_name: "hang", outcome: "failed", error_code: "NETWORK_ERROR" });
  });

  it("a call that is not in the log is NOT_FOUND", async () => {
    await expect(api.calls.get(999_999)).rejects.toMatchObject({ kind: "CallNotFound" });
  });

  it("a workflow id is at most 256 characters long", async () => {
    const call = { server: "echo", tool: "pid", workflowId: "w".repeat(257) };
    await expect(api.callTool(call)).rejects.toMatchObject({ kind: "InvalidArgument", field: "workflow_id" });
  });
});

describe("MG-5 the outcome of a call over MCP", () => {
  it("an unknown tool is recorded, with its name and the client", async () => {
    await expect(mcp.callTool({ name: "no_such_tool", arguments: { a: 1 } })).rejects.toThrow();
    const expected = {
      server_name: "",
      tool_name: "no_such_tool",
      outcome: "refused",
      client: "person",
      params: { a: 1 },
    };
    expect(await last()).toMatchObject({ ...expected, group_name: "default", error_code: "NOT_FOUND" });
  });

  it("a call that its caller cancels is recorded as cancelled", async () => {
    const controller = new AbortController();
    const call = mcp.callTool({ name: "echo__hang" }, undefined, { signal: controller.signal });
    const metrics = () => http(`${hub.url}/metrics`, { method: "GET", headers: { authorization: `Bearer ${token}` } });
    await expect.poll(async () => (await metrics()).body).toMatch(/^hub_calls_inflight 1$/m);
    controller.abort();
    await expect(call).rejects.toThrow();
    await expect.poll(last).toMatchObject({ tool_name: "hang", outcome: "cancelled", error_code: "CANCELLED" });
  });

  it("the time that a user takes to answer does not count as the server's", async () => {
    const startedAt = performance.now();
    await mcp.callTool({ name: "asks__form", arguments: { marker: "m" } });
    const totalMs = performance.now() - startedAt;
    const row = await last();
    expect(row).toMatchObject({ server_name: "asks", tool_name: "form", outcome: "ok" });
    expect(row?.duration_ms).toBeLessThan(totalMs - 0.9 * PERSON_MS);
  });
});

it("calls of the command line are recorded for the client cli, including rejected ones", async () => {
  await plugboard(home, ["call", "echo.pid"]);
  expect(await last()).toMatchObject({ tool_name: "pid", client: "cli", outcome: "ok" });
  await plugboard(home, ["call", "echo.nothing"]);
  expect(await last()).toMatchObject({ tool_name: "nothing", client: "cli", outcome: "refused" });
});

it("MG-5 RS-5 statistics count calls that reached the server and survive a restart; those of a removed server are deleted", async () => {
  const [before] = await api.calls.latency("echo");
  expect(before).toMatchObject({ errors: 2, tool_errors: 1, cancelled: 1, refused: 2 });
  expect(before?.total_calls).toBe(before?.calls_24h);
  expect(before?.tools?.find(({ tool_name }) => tool_name === "nothing")).toMatchObject({ total_calls: 0, refused: 2 });
  await mcp.close();
  expect(await hub.stop()).toBe(0);
  hub = await startHub(home);
  await connect();
  expect(await api.calls.latency("echo")).toEqual([before]);
  const named = async () => (await api.calls.latency()).map(({ server_name }) => server_name);
  expect(await named()).toEqual(["asks", "broken", "echo", "off"]);
  await api.servers.delete("asks");
  expect(await named()).toEqual(["broken", "echo", "off"]);
});
