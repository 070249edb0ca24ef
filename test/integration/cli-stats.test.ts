// `plugboard stats --since`: the same figures from the call log, through a running hub and without one.

import { afterEach, describe, expect, it } from "vitest";
import { HubClient } from "../../hub/src/api/client.ts";
import { readManagementToken } from "../../hub/src/auth/management-token.ts";
import { join } from "node:path";
import { fixture, makeHome, plugboard, startHub, type Home, type RunningHub } from "../support/hub.ts";
import { processesWithMark } from "../support/processes.ts";

let home: Home;
let hub: RunningHub | undefined;

afterEach(async () => {
  await hub?.stop();
  hub = undefined;
  expect(processesWithMark(home.mark)).toEqual([]);
  await home.remove();
});

const SERVERS = { it: { ...fixture("echo"), id: "id-of-it" }, other: fixture("echo") };
const FIGURES = { p50_ms: expect.any(Number), p95_ms: expect.any(Number), p99_ms: expect.any(Number) };
const COUNTS = { errors: 0, tool_errors: 0, cancelled: 0, refused: 0 };
const EXPECTED = [
  {
    server_name: "it",
    ...FIGURES,
    ...COUNTS,
    total_calls: 3,
    tool_errors: 1,
    tools: [
      { tool_name: "echo", ...FIGURES, ...COUNTS, total_calls: 2 },
      { tool_name: "fail", ...FIGURES, ...COUNTS, total_calls: 1, tool_errors: 1 },
    ],
  },
  {
    server_name: "other",
    ...FIGURES,
    ...COUNTS,
    total_calls: 1,
    tools: [{ tool_name: "pid", ...FIGURES, ...COUNTS, total_calls: 1 }],
  },
];

const json = async (...args: string[]) => JSON.parse((await plugboard(home, [...args, "--json"])).stdout);

describe("MG-1 RS-5 stats --since", () => {
  it("through a running hub: per server and tool, by name or id, by duration or date", async () => {
    home = await makeHome(SERVERS);
    hub = await startHub(home);
    const client = new HubClient({
      url: hub.url,
      token: (await readManagementToken(join(home.dir, "data"))) ?? "",
    });
    const before = new Date(Date.now() - 1000).toISOString();
    for (const tool_name of ["echo", "echo", "fail"])
      await client.callTool({ server_name: "it", tool_name, arguments: { text: "x" } });
    await client.callTool({ server_name: "other", tool_name: "pid" });
    const { stdout } = await plugboard(home, ["stats", "--since", "24h"]);
    expect(stdout).toMatch(
      /^SERVER +CALLS +ERRORS +TOOL ERRORS +P50 +P95 +P99\nit +3 +0 +1 .*\n {2}echo +2 +0 +0 .*\n {2}fail +1 +0 +1 .*\nother +1 +0 +0 .*\n {2}pid +1 +0 +0 .*\n$/,
    );
    expect(await json("stats", "--since", "10m")).toEqual(EXPECTED);
    expect(await json("stats", "--since", before)).toEqual(EXPECTED);
    expect(await json("stats", "id-of-it", "--since", "7d")).toEqual(EXPECTED.slice(0, 1));
    expect(await client.stats()).toEqual(EXPECTED);
    expect(await client.stats({ server: "it", since: Date.now() + 60_000 })).toEqual([]);
    expect(await plugboard(home, ["stats", "--since", "2999-01-01"])).toEqual({
      code: 0,
      stdout: "No calls in that time.\n",
      stderr: "",
    });
    await expect(client.stats({ server: "nobody" })).rejects.toMatchObject({ kind: "ServerNotFound" });
    await expect(client.stats({ since: "yesterday" })).rejects.toMatchObject({ kind: "InvalidConfig", field: "since" });
    // What was called stays recorded.
    await client.deleteServer("other");
    expect(await json("stats", "other", "--since", "1h")).toEqual(EXPECTED.slice(1));
  });

  it("without a hub, from the same log", async () => {
    home = await makeHome(SERVERS);
    expect(await plugboard(home, ["stats", "--since", "24h"])).toEqual({
      code: 0,
      stdout: "No calls in that time.\n",
      stderr: "",
    });
    await plugboard(home, ["call", "it.echo", "text=x"]);
    await plugboard(home, ["call", "it.fail"]);
    expect(await json("stats", "--since", "24h")).toMatchObject([
      { server_name: "it", total_calls: 2, tool_errors: 1, tools: [{ tool_name: "echo" }, { tool_name: "fail" }] },
    ]);
    expect((await plugboard(home, ["stats", "nobody", "--since", "24h"])).code).toBe(6);
    const wrong = await plugboard(home, ["stats", "--since", "yesterday"]);
    expect(wrong).toMatchObject({ code: 2, stdout: "" });
    expect(wrong.stderr).toContain("Write 500ms, 30s, 10m, 24h or 7d");
    // As ever: what only a hub knows needs one.
    expect((await plugboard(home, ["stats"])).code).toBe(4);
  });
});
