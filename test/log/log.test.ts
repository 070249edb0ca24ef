// RS-6: the log file of a real hub contains connections with their number of tools, failures, calls and config changes, and no
// payloads.

import { readFile, writeFile } from "node:fs/promises";
import { join } from "node:path";
import { expect, it } from "vitest";
import { tokenOf } from "../support/client.ts";
import { fixture, makeHome, startHub } from "../support/hub.ts";
import { connect } from "../support/rpc.ts";

it("RS-6 CF-9 connects, failures, tool counts, calls and reloads are in the structured log, payloads are not", async () => {
  const home = await makeHome(
    { echo: fixture("echo"), broken: { command: "no-such-program-anywhere" } },
    { work: { servers: ["echo"] } },
  );
  const hub = await startHub(home);
  const client = await connect(`${hub.url}/mcp/work`);
  const { result } = await client.request("tools/list");
  await client.request("tools/call", { name: "echo", arguments: { text: "planted-9b9b" } });
  await client.request("tools/call", { name: "fail" });
  const path = join(home.dir, "config/mcp_server.json");
  const text = await readFile(path, "utf8");
  const token = await tokenOf(home);
  const reload = async (saved: string) => {
    await writeFile(path, saved);
    await fetch(`${hub.url}/api/v1/config/reload`, { method: "POST", headers: { authorization: `Bearer ${token}` } });
  };
  const { mcpServers } = JSON.parse(text);
  await reload(JSON.stringify({ mcpServers: { ...mcpServers, later: { command: "x", enabled: false } } }));
  await reload('{"mcpServers": {');
  expect(await hub.stop()).toBe(0);
  const log = await readFile(join(home.dir, "state/log.jsonl"), "utf8");
  await home.remove();
  const lines = log
    .trimEnd()
    .split("\n")
    .map((line) => JSON.parse(line));
  for (const expected of [
    { server: "echo", tools: result.tools.length, msg: "server running" },
    { server: "broken", code: "NOT_FOUND", msg: "server failed" },
    { server: "echo", tool: "echo", group: "work", ok: true, duration_ms: expect.any(Number), msg: "call finished" },
    { server: "echo", tool: "fail", group: "work", ok: false, msg: "call failed" },
    { changes: "added later", msg: "config reloaded" },
    { code: "VALIDATION_ERROR", msg: expect.stringContaining("keeping the last valid one") },
  ]) {
    expect(lines).toContainEqual(expect.objectContaining(expected));
  }
  for (const { time, level } of lines) {
    expect([new Date(time).toISOString(), typeof level]).toEqual([time, "number"]);
  }
  expect(log).not.toContain("planted-9b9b");
});
