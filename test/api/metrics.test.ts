// `/metrics` of a running hub.

import { readdir, readFile, writeFile } from "node:fs/promises";
import { join } from "node:path";
import { Client } from "@modelcontextprotocol/sdk/client/index.js";
import { StreamableHTTPClientTransport } from "@modelcontextprotocol/sdk/client/streamableHttp.js";
import { WebSocketClientTransport } from "@modelcontextprotocol/sdk/client/websocket.js";
import { afterAll, beforeAll, expect, it, vi } from "vitest";
import { WebSocket } from "ws";
import { tokenOf } from "../support/client.ts";
import { fixture, makeHome, plugboard, startHub, type Home, type RunningHub } from "../support/hub.ts";
import { processesWithMark } from "../support/processes.ts";
import { http } from "../support/rpc.ts";

const PATIENCE = { timeout: 60_000 };

let home: Home;
let hub: RunningHub;
let authorization: string;

beforeAll(async () => {
  home = await makeHome({
    echo: fixture("echo"),
    sealed: { ...fixture("echo"), env: { TOKEN: { secretRef: "spoilt" } } },
  });
  await plugboard(home, ["secret", "set", "spoilt"], { stdin: "a value" });
  const folder = join(home.dir, "data/secrets");
  const [secret = ""] = (await readdir(folder)).filter((name) => name.startsWith("mcp_"));
  const bytes = await readFile(join(folder, secret));
  bytes[bytes.length - 3] = (bytes.at(-3) ?? 0) ^ 1;
  await writeFile(join(folder, secret), bytes);
  hub = await startHub(home);
  authorization = `Bearer ${await tokenOf(home)}`;
});

afterAll(async () => {
  expect(await hub?.stop()).toBe(0);
  expect(processesWithMark(home.mark)).toEqual([]);
  await home?.remove();
});

/** The value of each line, by the name and labels before it. */
async function figures(): Promise<ReadonlyMap<string, number>> {
  const { body } = await http(`${hub.url}/metrics`, { method: "GET", headers: { authorization } });
  const lines = body.split("\n").filter((line) => line !== "" && !line.startsWith("#"));
  return new Map(lines.map((line) => [line.slice(0, line.lastIndexOf(" ")), Number(line.split(" ").at(-1))]));
}

it("MG-3 a secret that cannot be read is counted", async () => {
  expect((await figures()).get("hub_secret_errors_total")).toBeGreaterThan(0);
});

it("MG-3 RS-5 open sessions are counted by group and transport, calls by client", async () => {
  vi.stubGlobal("WebSocket", WebSocket);
  const overHttp = new StreamableHTTPClientTransport(new URL(`${hub.url}/mcp`));
  const clients = [
    new Client({ name: "over http", version: "1" }),
    new Client({ name: "over ws", version: "1" }),
  ] as const;
  try {
    await clients[0].connect(overHttp);
    await clients[1].connect(new WebSocketClientTransport(new URL(`${hub.url.replace("http", "ws")}/mcp`)));
    for (const client of clients) await client.callTool({ name: "echo__echo", arguments: { text: "hi" } });
    const open = await figures();
    for (const transport of ["streamable-http", "websocket"])
      expect(open.get(`hub_sessions_active{group="default",transport="${transport}"}`)).toBe(1);
    for (const client of ["over http", "over ws"]) {
      const labels = `group="default",client="${client}",method="tools/call",outcome="ok"`;
      expect(open.get(`mcp_server_operation_duration_seconds_count{${labels}}`)).toBe(1);
    }
    await overHttp.terminateSession();
  } finally {
    for (const client of clients) await client.close();
    vi.unstubAllGlobals();
  }
  await vi.waitFor(async () => {
    const closed = await figures();
    for (const transport of ["streamable-http", "websocket"])
      expect(closed.get(`hub_sessions_active{group="default",transport="${transport}"}`)).toBe(0);
  }, PATIENCE);
});

it("MG-3 open event streams are counted", async () => {
  const leaving = new AbortController();
  await fetch(`${hub.url}/api/v1/events`, { headers: { authorization }, signal: leaving.signal });
  expect((await figures()).get("hub_event_clients")).toBe(1);
  leaving.abort();
  await expect.poll(async () => (await figures()).get("hub_event_clients")).toBe(0);
});

it("MG-3 LC-6 restarts after a crash are counted with the reason", async () => {
  const { stdout } = await plugboard(home, ["get", "echo", "--json"]);
  process.kill(JSON.parse(stdout).pid, "SIGKILL");
  const key = 'hub_server_restarts_total{server="echo",reason="ServerNotRunning"}';
  await vi.waitFor(async () => {
    const now = await figures();
    expect([now.get(key), now.get('hub_server_up{server="echo"}')]).toEqual([1, 1]);
  }, PATIENCE);
});
