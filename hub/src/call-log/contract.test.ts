// The contract of CallLog, run on each adapter.

import { mkdtemp, rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterEach, beforeEach, describe, expect, it } from "vitest";
import { append, type CallEntry } from "../../../test/support/calls.ts";
import { openStores, usePostgres, type PgStores } from "../../../test/support/pg-stores.ts";
import { PgCallLog } from "../database/call-log/pg-call-log.ts";
import type { CallLog, CallQuery, CallRow, Retention } from "./port.ts";
import { OUTCOMES } from "./outcome.ts";
import { Redactor } from "../redaction/redactor.ts";
import { SqliteCallLog } from "./sqlite/sqlite-call-log.ts";
import { MemoryCallLog } from "./memory-call-log.ts";

let dir: string;
let log: CallLog;
const redactor = new Redactor();
redactor.setSecrets("github", ["ghp_verysecret"]);

const keep = (server: string) => (server === "private" ? "shape" : "all");

const postgres = usePostgres();
let stores: PgStores | undefined;

/** The same one until the test is over. */
async function database(retention: Partial<Retention> = {}): Promise<CallLog> {
  stores ??= await openStores(postgres?.() ?? expect.unreachable());
  return new PgCallLog(stores.address, dir, { redactor, keep, retention, durability: "shared" });
}

type Open = (retention?: Partial<Retention>) => CallLog | Promise<CallLog>;

const adapters: [name: string, open: Open][] = [
  ["MemoryCallLog", (retention = {}) => new MemoryCallLog({ redactor, keep, retention })],
  ["SqliteCallLog", (retention = {}) => new SqliteCallLog(join(dir, "calls.db"), { redactor, keep, retention })],
  ...(postgres === undefined ? [] : [["PgCallLog", database] satisfies [string, Open]]),
];

const NOW = Date.now();
const json = (value: unknown) => Buffer.from(JSON.stringify(value));
const entry = (changes: Partial<CallEntry> = {}): CallEntry => ({
  at: NOW,
  server: "github",
  tool: "list",
  group: "default",
  params: json({ q: 1 }),
  result: json({ content: [] }),
  outcome: "ok",
  durationMs: 1.5,
  ...changes,
});

describe.each(adapters)("%s", (name, open) => {
  beforeEach(async () => {
    dir = await mkdtemp(join(tmpdir(), "plugboard-calls-"));
    log = await open();
  });
  afterEach(async () => {
    await log.close();
    await stores?.close();
    stores = undefined;
    await rm(dir, { recursive: true, force: true });
  });

  const ids = async (query: CallQuery) => (await log.query(query)).items.map(({ id }) => id);

  it("RS-4 a recorded call has all its fields", async () => {
    const at = Date.UTC(2026, 0, 2, 3, 4, 5, 678);
    await append(
      log,
      entry({
        at,
        client: "cursor",
        workflowId: "w1",
        params: json({ name: "list", arguments: { n: 1 } }),
        result: json({ code: -32000, message: "no" }),
        outcome: "failed",
        durationMs: 12.3456,
        errorCode: "NETWORK_ERROR",
        session: "session",
        principal: "user:1",
        token: "ci",
        clientVersion: "1.0",
        requestId: "request",
        traceId: "trace",
        exposed: "my_list",
        clientProtocol: "2025-11-25",
        serverProtocol: "2026-07-28",
        queueMs: 1.5,
        askedMs: 2000,
        attempts: 2,
      }),
    );
    expect(await log.query({})).toEqual({
      items: [
        {
          id: 1,
          timestamp: "2026-01-02T03:04:05.678Z",
          server_name: "github",
          tool_name: "list",
          exposed_name: "my_list",
          group_name: "default",
          client: "cursor",
          principal: "user:1",
          token: "ci",
          workflow_id: "w1",
          params: { name: "list", arguments: { n: 1 } },
          result: { code: -32000, message: "no" },
          outcome: "failed",
          success: false,
          duration_ms: 12.346,
          error_code: "NETWORK_ERROR",
          error: "no",
          truncated: false,
          session: "session",
          client_version: "1.0",
          request_id: "request",
          trace_id: "trace",
          protocol: { client: "2025-11-25", server: "2026-07-28" },
          queue_ms: 1.5,
          asked_ms: 2000,
          attempts: 2,
          bytes: { in: 35, out: 30 },
        },
      ],
      next_cursor: null,
    });
    expect([log.degraded, log.lost]).toEqual([undefined, 0]);
  });

  it("RS-4 missing fields are null", async () => {
    await append(log, entry({ params: undefined, result: undefined }));
    const [row] = (await log.query({})).items;
    expect(row).toMatchObject({ client: null, workflow_id: null, params: null, result: null, error_code: null });
  });

  it("RS-4 T12 secrets are redacted before a call is stored, and long payloads are cut", async () => {
    const result = json({ password: "x", text: "ghp_verysecret", long: "y".repeat(100_000) });
    await append(log, entry({ params: json({ header: "Bearer ghp_verysecret" }), result }));
    const [row] = (await log.query({})).items;
    expect(row).toMatchObject({
      params: { header: "Bearer ***" },
      result: { password: "***", text: "***" },
      truncated: true,
    });
  });

  it("RS-4 only the shape of payloads is stored for a server with that setting", async () => {
    await append(log, entry({ server: "private", params: json({ q: "who", n: 3 }), result: undefined }));
    const [row] = (await log.query({})).items;
    expect(row).toMatchObject({ params: { q: "string of 3", n: "number" }, result: null });
  });

  it("RS-4 T41 unusual names are stored unchanged and stay distinct", async () => {
    const names = ["a\nb", "a", "", "'; DROP TABLE call; --", "\u0000x", "é😀", "__proto__", 'x\n{"level":"error"}'];
    for (const server of names) for (const tool of names) await append(log, entry({ server, tool }));
    const { items } = await log.query({ limit: 1000 });
    const shown = names.map((each) => each.replace("\u0000", "\uFFFD"));
    const expected = shown.flatMap((server) => shown.map((tool) => [server, tool]));
    expect(items.map((row) => [row.server_name, row.tool_name]).toReversed()).toEqual(expected);
    expect((await log.query({ server: "a", tool: "a\nb" })).items).toHaveLength(1);
    expect(JSON.stringify(items)).not.toContain("\n");
  });

  it("RS-4 an invalid time or duration is accepted", async () => {
    for (const value of [NaN, Infinity, -1, 1e300]) await append(log, entry({ at: value, durationMs: value }));
    expect((await log.query({})).items).toHaveLength(4);
  });

  it("RS-4 each filter finds exactly the matching calls, alone and combined", async () => {
    const calls: CallEntry[] = [];
    for (let index = 0; index < 200; index++) {
      calls.push(
        entry({
          at: NOW - index * 1000,
          server: ["a", "b", "c"][index % 3] ?? "",
          tool: ["x", "y"][index % 2] ?? "",
          group: index % 5 === 0 ? "work" : "default",
          outcome: OUTCOMES[index % 7] ?? "ok",
          durationMs: index,
          ...(index % 4 === 0 ? { client: "cursor" } : {}),
          ...(index % 7 === 0 ? { principal: `user:${index % 2}`, token: `t${index % 3}` } : {}),
          ...(index % 50 === 0 ? { workflowId: `w${index}` } : {}),
        }),
      );
    }
    for (const call of calls) await append(log, call);
    const queries: [CallQuery, (call: CallEntry) => boolean][] = [
      [{}, () => true],
      [{ server: "b" }, ({ server }) => server === "b"],
      [{ server: "none" }, () => false],
      [{ tool: "y" }, ({ tool }) => tool === "y"],
      [{ server: "a", tool: "x" }, ({ server, tool }) => server === "a" && tool === "x"],
      [{ group: "work" }, ({ group }) => group === "work"],
      [{ client: "cursor" }, ({ client }) => client === "cursor"],
      [{ principal: "user:1" }, ({ principal }) => principal === "user:1"],
      [{ token: "t2", principal: "user:0" }, ({ token, principal }) => token === "t2" && principal === "user:0"],
      [{ workflowId: "w50" }, ({ workflowId }) => workflowId === "w50"],
      [{ success: false }, ({ outcome }) => outcome !== "ok"],
      [{ id: 17 }, (call) => call === calls[16]],
      [{ id: 1700 }, () => false],
      ...OUTCOMES.map((wanted): [CallQuery, (call: CallEntry) => boolean] => [
        { outcome: wanted },
        ({ outcome }) => outcome === wanted,
      ]),
      [{ success: true, group: "work" }, ({ outcome, group }) => outcome === "ok" && group === "work"],
      [{ since: NOW - 10_000 }, ({ at }) => at >= NOW - 10_000],
      [{ until: NOW - 190_000 }, ({ at }) => at < NOW - 190_000],
      [{ slowerThanMs: 150 }, ({ durationMs }) => durationMs > 150],
      [
        { server: "c", since: NOW - 50_000, success: false },
        ({ server, at, outcome }) => server === "c" && at >= NOW - 50_000 && outcome !== "ok",
      ],
    ];
    for (const [query, matches] of queries) {
      const expected = calls.flatMap((call, index) => (matches(call) ? [index + 1] : [])).toReversed();
      expect([query, await ids({ ...query, limit: 1000 })]).toEqual([query, expected]);
    }
  });

  it("RS-4 pages run from the newest call to the oldest, and are stable while calls arrive", async () => {
    for (let count = 0; count < 120; count++) await append(log, entry({ durationMs: count }));
    const seen: CallRow[] = [];
    let cursor: string | null | undefined;
    while (cursor !== null) {
      const page = await log.query({ cursor, limit: 25 });
      seen.push(...page.items);
      cursor = page.next_cursor;
      await append(log, entry({ tool: "new" }));
    }
    expect(seen.map(({ id }) => id)).toEqual(Array.from({ length: 120 }, (_, index) => 120 - index));
    expect((await log.query({})).items).toHaveLength(50);
    expect((await log.query({ limit: 120 + 5 })).next_cursor).toBeNull();
  });

  it("RS-4 `after` finds the calls with larger ids", async () => {
    for (let count = 0; count < 10; count++) await append(log, entry());
    expect(await ids({ after: 7 })).toEqual([10, 9, 8]);
    const page = await log.query({ after: 7, limit: 2 });
    expect(await ids({ after: 7, cursor: page.next_cursor ?? "" })).toEqual([8]);
    expect(await ids({ after: 10 })).toEqual([]);
  });

  it.each([
    "",
    "x",
    "c1",
    "YzE",
    "YzA",
    "Yy0x",
    "YzE=",
    "YzFl",
    Buffer.from("c99999999999999999999").toString("base64url"),
  ])("RS-4 an invalid cursor is rejected: %j", async (cursor) => {
    await append(log, entry());
    // "YzE" is the cursor of call 1.
    if (cursor === "YzE") await expect(log.query({ cursor })).resolves.toMatchObject({ items: [] });
    else await expect(log.query({ cursor })).rejects.toMatchObject({ kind: "InvalidArgument", field: "cursor" });
  });

  it.each([0, -1, 1.5, NaN])("RS-4 a limit of %d is rejected", async (limit) => {
    await expect(log.query({ limit })).rejects.toMatchObject({ kind: "InvalidArgument", field: "limit" });
  });

  it("RS-4 calls beyond the maximum age are pruned", async () => {
    const day = 24 * 3_600_000;
    for (const days of [40, 31, 29, 31, 1]) await append(log, entry({ at: NOW - days * day }));
    expect(await log.prune(NOW)).toBe(3);
    expect(await ids({})).toEqual([5, 3]);
    expect(await log.prune(NOW)).toBe(0);
    expect(await log.prune(NOW + 100 * day)).toBe(2);
    await append(log, entry());
    // Ids are never reused.
    expect(await ids({})).toEqual([6]);
  });

  it("RS-4 another retention applies at once, and its missing members have their defaults", async () => {
    const day = 24 * 3_600_000;
    const { maxAgeMs, maxBytes, maxRows } = log.retention;
    for (const days of [20, 10, 1]) await append(log, entry({ at: NOW - days * day }));
    expect(await log.usage()).toEqual({ bytes: expect.any(Number), oldestAt: NOW - 20 * day });
    log.retain({ maxAgeMs: 15 * day });
    expect(log.retention).toEqual({ maxAgeMs: 15 * day, maxBytes, maxRows });
    await log.prune();
    expect(await ids({})).toEqual([3, 2]);
    log.retain({ maxBytes: 2 ** 40 });
    expect(log.retention).toEqual({ maxAgeMs, maxBytes: 2 ** 40, maxRows });
    log.retain({ maxAgeMs: 5 * day });
    expect(log.retention).toEqual({ maxAgeMs: 5 * day, maxBytes, maxRows });
    await log.prune();
    expect(await ids({})).toEqual([3]);
    expect(await log.deleteBefore(NOW)).toBe(1);
    expect(await log.usage()).toMatchObject({ oldestAt: undefined });
  });

  // PostgreSQL drops whole days only, and never the current one.
  const trims = name !== "PgCallLog";

  it.runIf(trims)("RS-4 calls beyond the maximum number are pruned", async () => {
    await log.close();
    log = await open({ maxRows: 100 });
    for (let count = 0; count < 250; count++) await append(log, entry());
    await log.prune(NOW);
    expect(await ids({ limit: 1000 })).toEqual(Array.from({ length: 100 }, (_, index) => 250 - index));
  });

  it.runIf(trims)("RS-4 calls beyond the maximum size are pruned", async () => {
    await log.close();
    log = await open({ maxBytes: 2 * 1024 * 1024 });
    const result = json({ text: "x".repeat(10_000) });
    for (let turn = 0; turn < 20; turn++) {
      for (let n = 0; n < 50; n++) await append(log, entry({ result }));
    }
    await log.prune(NOW);
    const { items } = await log.query({ limit: 1000 });
    expect(items.length).toBeGreaterThan(50);
    expect(items.length).toBeLessThan(220);
    expect(items[0]?.id).toBe(1000);
  });
});
