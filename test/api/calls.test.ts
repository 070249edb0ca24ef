// Recorded calls and latency in the management API.

import { describe, expect, it } from "vitest";
import { filledLog, openManaged, type Answer, logWith } from "../support/api.ts";
import { SECRETS, send, usePlantedHub } from "./planted-hub.ts";

const managed = usePlantedHub();

describe("recorded calls", () => {
  it("RS-4 calls come in pages with a link to the next page", async () => {
    const own = await openManaged({}, { callLog: filledLog(120) });
    try {
      const ids: number[] = [];
      let path: string | undefined = "/calls?limit=25&server=even";
      while (path !== undefined) {
        const { json, headers }: Answer = await own.ask(path);
        ids.push(...json.items.map(({ id }: { id: number }) => id));
        const link = /^<\/api\/v1([^>]+)>; rel="next"$/.exec(String(headers["link"] ?? ""));
        expect(json.next_cursor === null).toBe(link === null);
        path = link?.[1];
        if (path !== undefined) expect(path).toContain("server=even");
      }
      expect(ids).toEqual(Array.from({ length: 60 }, (_, index) => 120 - 2 * index));
    } finally {
      expect(await own.end()).toEqual([]);
    }
  });

  it("RS-4 SE-1 a call is recorded with its outcome, without the secrets in it", async () => {
    await managed().client.callTool({ server: "second", tool: "echo", arguments: { text: SECRETS.env } });
    const secret = ["API_KEY", "CODE", "HUB_TOKEN", "STORED"];
    for (const name of secret) {
      await managed().client.callTool({ server: "echo", tool: "env", arguments: { name } });
    }
    const { items } = (await managed().ask("/calls?limit=5")).json;
    expect(items.at(-1)).toMatchObject({
      server_name: "second",
      tool_name: "echo",
      client: "api",
      success: true,
      error_code: null,
      params: { text: "***" },
    });
    for (const { result } of items) expect(result).toEqual({ content: [{ type: "text", text: "***" }] });
  });

  it("RS-4 every filter is passed to the call log", async () => {
    const asked: unknown[] = [];
    const own = await openManaged(
      {},
      {
        callLog: logWith({
          degraded: "the disk is full",
          query: async (query) => {
            asked.push(query);
            return { items: [], next_cursor: null };
          },
        }),
      },
    );
    try {
      await own.client.calls.list({
        server: "s",
        tool: "t",
        group: "g",
        client: "c",
        session: "n",
        q: "text",
        workflow_id: "w",
        outcome: "failed",
        success: false,
        since: "2026-01-01T00:00:00Z",
        until: 1_800_000_000_000,
        slower_than_ms: 1.5,
        after: 7,
        limit: 10,
        cursor: "x",
      });
      expect(asked).toEqual([
        {
          server: "s",
          tool: "t",
          group: "g",
          client: "c",
          session: "n",
          text: "text",
          workflowId: "w",
          outcome: "failed",
          success: false,
          since: Date.UTC(2026, 0, 1),
          until: 1_800_000_000_000,
          slowerThanMs: 1.5,
          after: 7,
          limit: 10,
          cursor: "x",
        },
      ]);
      expect((await own.client.status()).degraded).toEqual(["the disk is full"]);
    } finally {
      expect(await own.end()).toEqual([]);
    }
  });

  it.each([
    "limit=0",
    "limit=1001",
    "limit=x",
    "limit=",
    "since=yesterday",
    "success=maybe",
    "outcome=maybe",
    "after=-1",
    "limt=5",
    "limit=1&limit=2",
  ])("RS-4 GET /calls?%s is refused", async (query) =>
    expect((await managed().ask(`/calls?${query}`)).json.code).toBe("VALIDATION_ERROR"),
  );

  it("an invalid cursor is refused", async () => {
    expect((await managed().ask("/calls?cursor=abc")).json).toMatchObject({ status: 400, field: "cursor" });
  });

  it("MG-1 RS-5 get_mcp_latency_metrics: for all servers, or for one server and its tools, by name or id", async () => {
    await managed().client.callTool({ server: "second", tool: "pid" });
    const all = (await managed().ask("/metrics/latency")).json;
    expect(all.map(({ server_name }: { server_name: string }) => server_name)).toContain("second");
    const [second] = (await managed().ask("/metrics/latency?server=id-of-second")).json;
    for (const figures of [second, second.tools[0]]) {
      expect(figures).toMatchObject({
        p50_ms: expect.any(Number),
        p95_ms: expect.any(Number),
        p99_ms: expect.any(Number),
        total_calls: expect.any(Number),
      });
    }
    expect(second.tools.map(({ tool_name }: { tool_name: string }) => tool_name)).toContain("pid");
    expect((await managed().ask("/metrics/latency?server=nobody")).json.kind).toBe("ServerNotFound");
  });
});

describe("RS-4 recorded calls in short", () => {
  it("RS-4 are summaries, counts, series and neighbours", async () => {
    const own = await openManaged({}, { callLog: filledLog(10) });
    try {
      const { items } = await own.client.calls.summaries({ server: "even", limit: 2 });
      expect(items.map(({ id, preview }) => [id, preview])).toEqual([
        [10, ""],
        [8, ""],
      ]);
      expect(await own.client.calls.count({ server: "odd" })).toEqual({ total: 5, exact: true });
      expect(await own.client.calls.neighbours(3)).toEqual({ previous: null, next: null });
      await expect(own.client.calls.neighbours(11)).rejects.toMatchObject({ kind: "CallNotFound" });
      const since = 1_700_000_000_000;
      const { from, step_ms, series } = await own.client.calls.series({
        since,
        until: since + 12,
        buckets: 3,
        by: "server",
      });
      expect([from, step_ms]).toEqual([new Date(since).toISOString(), 4]);
      expect(series.map(({ key, calls }) => [key, calls])).toEqual([
        ["odd", [2, 2, 1]],
        ["even", [1, 2, 2]],
      ]);
      expect(await own.ask("/stats/series?since=5&until=5")).toMatchObject({ status: 400, json: { field: "since" } });
      expect(await own.client.calls.deleteBefore(since + 9)).toEqual({ deleted: 8 });
    } finally {
      expect(await own.end()).toEqual([]);
    }
  });

  it.each(["ndjson", "csv"] as const)("RS-4 are exported as %s, all that match", async (format) => {
    const own = await openManaged({}, { callLog: filledLog(1200) });
    try {
      const chunks: Buffer[] = [];
      for await (const chunk of own.client.calls.export({ server: "odd" }, format)) chunks.push(chunk);
      const lines = Buffer.concat(chunks).toString().trimEnd().split(/\r?\n/);
      if (format === "csv") expect(lines.shift()).toMatch(/^id,timestamp,server_name,.*,params,result$/);
      expect(lines).toHaveLength(600);
      const first = format === "csv" ? lines[0]?.split(",")[0] : JSON.parse(lines[0] ?? "").id;
      expect(Number(first)).toBe(1199);
    } finally {
      expect(await own.end()).toEqual([]);
    }
  });

  it("MG-1 a call through the API is recorded with the id of its request", async () => {
    const headers = { "x-request-id": "my-request" };
    await send(managed(), "POST /servers/echo/tools/pid/call", { body: {}, headers });
    const [call] = (await managed().client.calls.list({ limit: 1 })).items;
    expect(call).toMatchObject({ tool_name: "pid", request_id: "my-request", protocol: { server: "2025-11-25" } });
  });
});
