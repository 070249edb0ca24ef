// Legacy sessions survive a restart of the hub: it is killed or stopped, starts again at the same address, and clients continue
// in their sessions.

import { spawn } from "node:child_process";
import { once } from "node:events";
import { readdir, readFile, stat, writeFile } from "node:fs/promises";
import { join } from "node:path";
import { fileURLToPath } from "node:url";
import { Client } from "@modelcontextprotocol/sdk/client/index.js";
import { StreamableHTTPClientTransport } from "@modelcontextprotocol/sdk/client/streamableHttp.js";
import { ResourceUpdatedNotificationSchema } from "@modelcontextprotocol/sdk/types.js";
import { afterEach, describe, expect, it } from "vitest";
import { fixture, makeHome, startHub, type Home, type RunningHub } from "../support/hub.ts";
import { findPython } from "../support/python.ts";
import { connect, http, post } from "../support/rpc.ts";

const ends: (() => Promise<unknown>)[] = [];

afterEach(async () => {
  for (const end of ends.splice(0).toReversed()) await end();
});

async function newHome(): Promise<Home> {
  const home = await makeHome({
    trial: fixture("trial"),
    watched: fixture("watched", "legacy"),
    logs: fixture("logs"),
  });
  ends.push(() => home.remove());
  return home;
}

async function run(home: Home, before?: RunningHub): Promise<RunningHub> {
  const port = before === undefined ? "0" : new URL(before.url).port;
  const hub = await startHub(home, { args: ["--port", port] });
  ends.push(() => hub.kill());
  return hub;
}

/** By default the SDK gives up reopening the GET stream after two attempts. */
const PATIENT = {
  initialReconnectionDelay: 200,
  maxReconnectionDelay: 1000,
  reconnectionDelayGrowFactor: 1,
  maxRetries: 100,
};

const python = await findPython("mcp");

describe("a legacy session", () => {
  it.each(["kill", "stop"] as const)(
    "continues after the hub was ended by a %s, with all its settings",
    async (how) => {
      const home = await newHome();
      const first = await run(home);
      const client = new Client({ name: "ts", version: "1" });
      const transport = new StreamableHTTPClientTransport(new URL(`${first.url}/mcp`), {
        reconnectionOptions: PATIENT,
      });
      ends.push(() => client.close());
      await client.connect(transport);
      const updates: string[] = [];
      client.setNotificationHandler(ResourceUpdatedNotificationSchema, ({ params }) => void updates.push(params.uri));
      const call = (message: string) => client.callTool({ name: "trial__echo", arguments: { message } });
      expect(await call("before")).toMatchObject({ content: [{ text: "before" }] });
      const { resources } = await client.listResources();
      const uri = resources[0]?.uri ?? "";
      await client.subscribeResource({ uri });
      await client.setLoggingLevel("warning");
      const id = transport.sessionId;
      await first[how]();
      const second = await run(home, first);
      expect(await call("after")).toMatchObject({ content: [{ text: "after" }] });
      expect(transport.sessionId).toBe(id);
      // Lists may have changed in the meantime: the client is notified on the reopened stream.
      await expect.poll(() => updates).toContain(uri);
      const file = await sessionFile(second);
      expect(await readFile(file, "utf8")).toContain('"logLevel":"warning"');
      expect((await stat(file)).mode & 0o077).toBe(0);
    },
  );

  it("is valid at its own group only, and stays ended after DELETE", async () => {
    const home = await newHome();
    const first = await run(home);
    const begin = async () => (await connect(`${first.url}/mcp`)).headers["mcp-session-id"];
    const [one, other] = [await begin(), await begin()];
    const ended = await http(`${first.url}/mcp`, { method: "DELETE", headers: { "mcp-session-id": other } });
    expect(ended.status).toBe(204);
    await first.kill();
    // A file as a crash of the machine may leave it.
    await writeFile(await sessionFile(first), '{"id":"cut o', { flag: "a" });
    const second = await run(home, first);
    const ping = async (url: string, session: string) =>
      (await post(url, { jsonrpc: "2.0", id: 1, method: "ping" }, { "mcp-session-id": session })).status;
    expect(await ping(`${second.url}/mcp`, other)).toBe(404);
    expect(await ping(`${second.url}/mcp`, one)).toBe(200);
    expect(second.stderr()).toContain("1 damaged line skipped");
  });

  it("of the Python SDK survives a restart", { skip: python.kind === "missing" }, async () => {
    if (python.kind === "missing") return;
    const home = await newHome();
    const first = await run(home);
    const program = fileURLToPath(new URL("../clients/python/trial.py", import.meta.url));
    const child = spawn(python.path, [program, "resume", `${first.url}/mcp`], { stdio: ["pipe", "pipe", "inherit"] });
    ends.push(async () => void child.kill("SIGKILL"));
    let output = "";
    child.stdout.setEncoding("utf8").on("data", (chunk: string) => (output += chunk));
    await expect.poll(() => output).toContain("called");
    await first.kill();
    await run(home, first);
    child.stdin.end("\n");
    await once(child, "close");
    expect(JSON.parse(output.split("\n")[1] ?? "")).toEqual({ before: "before", after: "after" });
  });
});

async function sessionFile({ home }: RunningHub): Promise<string> {
  const folder = join(home.dir, "data/sessions");
  const [name = ""] = (await readdir(folder)).filter((each) => each.endsWith(".ndjson"));
  return join(folder, name);
}
