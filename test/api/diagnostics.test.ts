// The history and the resources of servers, older log lines, and the hub's own log.

import { readFile } from "node:fs/promises";
import { join } from "node:path";
import { afterAll, beforeAll, expect, it } from "vitest";
import { startFileLog } from "../../hub/src/log/log.ts";
import { openManaged, type ManagedHub } from "../support/api.ts";
import { failing, fixture, published } from "../support/hub.ts";

let managed: ManagedHub;
beforeAll(async () => {
  managed = await openManaged({
    it: fixture("echo"),
    broken: failing(),
    talks: fixture("logs"),
    everything: published("server-everything"),
  });
  await managed.hub.start();
});
afterAll(async () => expect(await managed.end()).toEqual([]));

it("MG-1 the history of a server has its states, with reason, process and duration", async () => {
  const { pid } = managed.hub.supervisor.get("it");
  const history = await managed.client.servers.history("it");
  expect(history).toMatchObject([
    { status: "starting", stage: "listing", circuit: "closed", reason: null, duration_ms: expect.any(Number) },
    { status: "running", stage: null, pid, duration_ms: null },
  ]);
  expect(await managed.client.servers.history("it", history[1]?.at)).toEqual([history[1]]);
  expect(await managed.client.servers.history("it", Date.now())).toEqual([history[1]]);
  const failed = await managed.client.servers.history("broken");
  expect(failed.at(1)).toMatchObject({ status: "error", reason: expect.any(String), stage: null });
});

it("MG-5 the history is saved when the hub stops, and continues in the next one", async () => {
  const own = await openManaged({ it: fixture("echo") });
  await own.hub.start();
  const path = join(own.paths.state, "server-history.json");
  await own.hub.stop();
  const saved: { status: string }[] = JSON.parse(await readFile(path, "utf8"));
  expect(saved.map(({ status }) => status)).toEqual(expect.arrayContaining(["starting", "running"]));
  expect(await own.end()).toEqual([]);
});

it("MG-1 the usage of a server is that of its processes", async () => {
  const usage = await managed.client.servers.usage("it");
  if (process.platform !== "linux") return expect(usage).toBeNull();
  const { pid } = managed.hub.supervisor.get("it");
  expect(usage?.processes).toContainEqual({ pid, command: "node", rss_bytes: usage?.rss_bytes, cpu_ms: usage?.cpu_ms });
  expect(usage?.rss_bytes).toBeGreaterThan(1 << 20);
  expect(await managed.client.servers.usage("broken")).toBeNull();
});

it("MG-1 log lines of a server can be read by time", async () => {
  const { lines } = await managed.client.servers.logs("broken");
  expect(lines.length).toBeGreaterThan(0);
  const last = lines.at(-1)?.timestamp ?? "";
  const before = await managed.ask(`/servers/broken/logs?before=${last}`);
  expect(before.json.lines).toEqual(lines.filter(({ timestamp }) => timestamp < last));
  const since = await managed.ask(`/servers/broken/logs?since=${last}`);
  expect(since.json.lines).toEqual(lines.filter(({ timestamp }) => timestamp >= last));
});

it("MG-1 MCP log messages of a server are read by source and level, and sent as events", async () => {
  const { client } = managed;
  const onOpen = async () => {
    await client.callTool({ server: "talks", tool: "talk" });
  };
  const events = client.events({ topics: ["log"], server: "talks", onOpen });
  expect(await events.next()).toMatchObject({
    value: { event: "server.log", data: { server: "talks", text: "said", source: "mcp", level: "notice" } },
  });
  await events.return(undefined);
  const levels = async (query: string) => {
    const { json } = await managed.ask(`/servers/talks/logs?${query}`);
    return json.lines.map(({ level }: { level: string }) => level);
  };
  expect(await levels("source=mcp")).toEqual(["notice", "warning", "error", "critical", "alert", "emergency"]);
  expect(await levels("level=critical")).toEqual(["critical", "alert", "emergency"]);
  expect(await levels("source=mcp&level=alert&tail=1")).toEqual(["emergency"]);
  expect(await levels("source=stderr")).toEqual([]);
  expect((await managed.ask("/servers/talks/logs?level=loud")).status).toBe(400);
  const { lines } = await client.servers.logs("talks", 1, { source: "mcp" });
  expect(lines).toEqual([
    { timestamp: expect.any(String), text: "said", source: "mcp", level: "emergency", logger: null },
  ]);
});

it("MG-1 the log of a real server has the messages that it simulates", async () => {
  const { client } = managed;
  const call = { server: "everything", tool: "toggle-simulated-logging" };
  await client.callTool(call);
  await expect
    .poll(async () => (await client.servers.logs("everything", 100, { source: "mcp" })).lines, { timeout: 30_000 })
    .toContainEqual(expect.objectContaining({ source: "mcp", level: expect.any(String) }));
});

it("MG-1 the hub's own log is read from its file", async () => {
  expect(await managed.client.hubLogs()).toEqual([]);
  const file = startFileLog(managed.hub.events, join(managed.paths.state, "log.jsonl"));
  managed.hub.events.emit("warning", { message: "one" });
  managed.hub.events.emit("warning", { message: "two", server: "it" });
  file.flush();
  expect(await managed.client.hubLogs(1)).toEqual([
    { timestamp: expect.any(String), level: "warn", message: "two", server: "it" },
  ]);
  expect((await managed.client.hubLogs()).map(({ message }) => message)).toEqual(["one", "two"]);
});
