// Summaries, searches, counts and figures over time, on each adapter of the call log.

import { afterEach, beforeEach, describe, expect, it } from "vitest";
import { append, entry, LogFolder } from "../../../test/support/calls.ts";
import { openStores, usePostgres, type PgStores } from "../../../test/support/pg-stores.ts";
import { PgCallLog } from "../database/call-log/pg-call-log.ts";
import { Redactor } from "../redaction/redactor.ts";
import { MemoryCallLog } from "./memory-call-log.ts";
import type { CallLog, CallQuery } from "./port.ts";

const START = Date.now() - 3_600_000;
const json = (value: unknown) => Buffer.from(JSON.stringify(value));

let folder: LogFolder;
let log: CallLog;
beforeEach(async () => {
  folder = await LogFolder.create();
});
const postgres = usePostgres();
let stores: PgStores | undefined;

async function database(): Promise<CallLog> {
  stores = await openStores(postgres?.() ?? expect.unreachable());
  return new PgCallLog(stores.address, folder.dir, { redactor: new Redactor(), durability: "shared" });
}

afterEach(async () => {
  await log.close();
  await stores?.close();
  stores = undefined;
  await folder.remove();
});

describe.each<[string, () => CallLog | Promise<CallLog>]>([
  ["MemoryCallLog", () => new MemoryCallLog({ redactor: new Redactor() })],
  ["SqliteCallLog", () => folder.open()],
  ...(postgres === undefined ? [] : [["PgCallLog", database] satisfies [string, () => Promise<CallLog>]]),
])("%s", (_, open) => {
  beforeEach(async () => {
    log = await open();
  });

  const found = async (query: CallQuery) => (await log.summaries(query)).items.map(({ id }) => id);

  it("RS-4 a summary has a preview of the parameters instead of the payload", async () => {
    const params = json({ q: "is:open", n: 3 });
    const result = json({ isError: true, content: [{ type: "text", text: "no such label" }] });
    await append(
      log,
      entry({ params, result, outcome: "tool_error", session: "abc", clientVersion: "2", attempts: 3 }),
    );
    await append(log, entry({ params: json({ text: "x".repeat(5000) }) }));
    const { items } = await log.summaries({});
    expect(items[1]).toMatchObject({
      id: 1,
      preview: 'q="is:open" n=3',
      outcome: "tool_error",
      error: "no such label",
      session: "abc",
      client_version: "2",
      attempts: 3,
      bytes: { in: params.length, out: result.length },
    });
    expect(items[0]?.preview).toMatch(/^\{"text":"x{100,}…$/);
    expect(items[0]?.preview).toHaveLength(120);
    expect(items.flatMap((item) => Object.keys(item))).not.toContain("params");
  });

  it("RS-4 finds text in the tool, the parameters and the result, of either case", async () => {
    await append(log, entry({ tool: "Search" }));
    await append(log, entry({ params: json({ q: 'say "Hello"\n100%' }) }));
    await append(log, entry({ result: json({ content: [{ text: "under_score" }] }) }));
    await append(log, entry());
    const byText = (text: string) => found({ text });
    expect(await Promise.all(["search", "hello", 'y "h', "\n100%", "r_s", "rXs", "content"].map(byText))).toEqual([
      [1],
      [2],
      [2],
      [2],
      [3],
      [],
      [3],
    ]);
    expect(await found({ text: "hello", tool: "Search" })).toEqual([]);
    expect((await log.query({ text: "hello" })).items).toMatchObject([{ params: { q: 'say "Hello"\n100%' } }]);
  });

  it("RS-4 a search has pages", async () => {
    for (let n = 1; n <= 7; n++) await append(log, entry({ params: json({ n, is: n % 2 === 0 ? "even" : "odd" }) }));
    const first = await log.summaries({ text: "even", limit: 2 });
    expect(first.items.map(({ id }) => id)).toEqual([6, 4]);
    const cursor = first.next_cursor ?? "";
    const second = await log.summaries({ text: "even", limit: 2, cursor });
    expect([second.items.map(({ id }) => id), second.next_cursor]).toEqual([[2], null]);
  });

  it("RS-4 counts the calls that match", async () => {
    for (let n = 0; n < 5; n++) await append(log, entry({ server: n < 2 ? "a" : "b", at: START + n }));
    const counts = [{}, { server: "a" }, { since: START + 3 }, { text: "a", server: "b" }, { server: "none" }];
    expect(await Promise.all(counts.map((query) => log.count(query)))).toEqual(
      [5, 2, 2, 3, 0].map((total) => ({ total, exact: true })),
    );
  });

  it("RS-4 finds the calls of the same session before and after a call", async () => {
    for (const session of ["one", "two", "one", undefined, "one"]) await append(log, entry({ session }));
    expect(await found({ session: "one" })).toEqual([5, 3, 1]);
    expect(await log.neighbours(3)).toEqual({ previous: 1, next: 5 });
    expect(await log.neighbours(1)).toEqual({ previous: null, next: 3 });
    expect(await log.neighbours(4)).toEqual({ previous: null, next: null });
    expect(await log.neighbours(9)).toBeUndefined();
  });

  it("RS-4 deletes the calls before a time", async () => {
    for (let n = 0; n < 5; n++) await append(log, entry({ at: START + n }));
    expect(await log.deleteBefore(START + 3)).toBe(3);
    expect(await found({})).toEqual([5, 4]);
    await append(log, entry());
    expect(await found({ limit: 1 })).toEqual([6]);
  });

  describe("RS-4 figures over time", () => {
    const query = { since: START, until: START + 4000, buckets: 4, by: "none" } as const;

    it("RS-4 count calls and errors by step, with percentiles", async () => {
      const durations = Array.from({ length: 100 }, (__, n) => n + 1);
      for (const durationMs of durations) await append(log, entry({ at: START + 1500, durationMs }));
      await append(log, entry({ at: START, outcome: "failed", durationMs: 7 }));
      await append(log, entry({ at: START + 3999, outcome: "tool_error", durationMs: 9 }));
      await append(log, entry({ at: START, outcome: "cancelled" }));
      for (const at of [START - 1, START + 4000]) await append(log, entry({ at }));
      expect(await log.series(query)).toEqual({
        step_ms: 1000,
        series: [
          {
            key: null,
            calls: [1, 100, 0, 1],
            errors: [1, 0, 0, 0],
            tool_errors: [0, 0, 0, 1],
            p50_ms: [7, 50, null, 9],
            p95_ms: [7, 95, null, 9],
            p99_ms: [7, 99, null, 9],
          },
        ],
      });
    });

    it("RS-4 are split by server, tool or client, biggest first, and the rest is together", async () => {
      for (let server = 0; server < 15; server++) {
        for (let n = 0; n <= server; n++) await append(log, entry({ at: START, server: `s${server}`, client: "c" }));
      }
      const { series } = await log.series({ ...query, by: "server" });
      expect(series.map(({ key }) => key)).toEqual([
        ...Array.from({ length: 11 }, (__, index) => `s${14 - index}`),
        "other",
      ]);
      expect(series.at(-1)?.calls).toEqual([10, 0, 0, 0]);
      const one = await log.series({ ...query, by: "client", server: "s14" });
      expect(one.series).toMatchObject([{ key: "c", calls: [15, 0, 0, 0] }]);
      expect((await log.series({ ...query, tool: "none" })).series).toEqual([]);
    });
  });
});
