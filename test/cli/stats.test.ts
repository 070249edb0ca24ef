// `plugboard stats --since`: the same figures from the call log, through a running hub and without one.

import { describe, expect, it } from "vitest";
import { json, openHome, openHub } from "../support/cli.ts";
import { clientOf } from "../support/client.ts";
import { fixture, plugboard } from "../support/hub.ts";

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

describe("MG-1 RS-5 stats --since", () => {
  it("shows figures per server and tool through a running hub, by name or id, since a duration or date", async (context) => {
    const hub = await openHub(context, SERVERS);
    const { home } = hub;
    const client = await clientOf(hub);
    const before = new Date(Date.now() - 1000).toISOString();
    for (const tool_name of ["echo", "echo", "fail"])
      await client.callTool({ server: "it", tool: tool_name, arguments: { text: "x" } });
    await client.callTool({ server: "other", tool: "pid" });
    const { stdout } = await plugboard(home, ["stats", "--since", "24h"]);
    expect(stdout).toMatch(
      /^SERVER +CALLS +ERRORS +TOOL ERRORS +P50 +P95 +P99\nit +3 +0 +1 .*\n {2}echo +2 +0 +0 .*\n {2}fail +1 +0 +1 .*\nother +1 +0 +0 .*\n {2}pid +1 +0 +0 .*\n$/,
    );
    expect(await json(home, "stats", "--since", "10m")).toEqual(EXPECTED);
    expect(await json(home, "stats", "--since", before)).toEqual(EXPECTED);
    expect(await json(home, "stats", "id-of-it", "--since", "7d")).toEqual(EXPECTED.slice(0, 1));
    expect(await client.calls.stats()).toEqual(EXPECTED);
    expect(await client.calls.stats({ server: "it", since: Date.now() + 60_000 })).toEqual([]);
    expect(await plugboard(home, ["stats", "--since", "2999-01-01"])).toEqual({
      code: 0,
      stdout: "No calls in this period.\n",
      stderr: "",
    });
    await expect(client.calls.stats({ server: "unknown" })).rejects.toMatchObject({ kind: "ServerNotFound" });
    await expect(client.calls.stats({ since: "yesterday" })).rejects.toMatchObject({
      kind: "InvalidArgument",
      field: "since",
    });
    // The calls of a deleted server stay recorded.
    await client.servers.delete("other");
    expect(await json(home, "stats", "other", "--since", "1h")).toEqual(EXPECTED.slice(1));
  });

  it("reads the same log without a hub", async (context) => {
    const home = await openHome(context, SERVERS);
    expect(await plugboard(home, ["stats", "--since", "24h"])).toEqual({
      code: 0,
      stdout: "No calls in this period.\n",
      stderr: "",
    });
    await plugboard(home, ["call", "it.echo", "text=x"]);
    await plugboard(home, ["call", "it.fail"]);
    expect(await json(home, "stats", "--since", "24h")).toMatchObject([
      { server_name: "it", total_calls: 2, tool_errors: 1, tools: [{ tool_name: "echo" }, { tool_name: "fail" }] },
    ]);
    expect((await plugboard(home, ["stats", "unknown", "--since", "24h"])).code).toBe(6);
    const wrong = await plugboard(home, ["stats", "--since", "yesterday"]);
    expect(wrong).toMatchObject({ code: 2, stdout: "" });
    expect(wrong.stderr).toContain("Use 500ms, 30s, 10m, 24h or 7d");
    // Without --since, the figures are those of the running hub.
    expect((await plugboard(home, ["stats"])).code).toBe(4);
  });
});
