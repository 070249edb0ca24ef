// The walk through a large log: it passes over packs of other times, and must find exactly what a plain look at every call
// finds. The log in memory is that plain look.

import { mkdtemp, rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import fc from "fast-check";
import { expect, it } from "vitest";
import { append as add, type CallEntry } from "../../../test/support/calls.ts";
import type { CallLog, CallQuery } from "../calls/log.ts";
import { Redactor } from "../calls/redact.ts";
import { SqliteCallLog } from "./call-log.ts";
import { MAX_HEADS } from "./head-pack.ts";
import { MemoryCallLog } from "./memory-call-log.ts";

const START = Date.UTC(2026, 0, 1);
const redactor = new Redactor();

/** Mostly in order; sometimes the clock was wrong for a while. */
function entryAt(index: number): CallEntry {
  const isWrongClock = index > 12_000 && index < 12_500;
  return {
    at: START + index * 1000 + (isWrongClock ? 10_000_000 : 0),
    server: index % 9973 === 0 ? "rare" : `s${index % 3}`,
    tool: `t${index % 5}`,
    group: "default",
    outcome: index % 4000 === 0 ? "failed" : "ok",
    durationMs: index % 7000 === 0 ? 5000 : index % 100,
    params: undefined,
    result: undefined,
    ...(index < 500 ? { client: "early" } : {}),
    ...(index % 333 === 0 ? { workflowId: `w${index % 2}` } : {}),
  };
}

function append(logs: readonly CallLog[], from: number, to: number): void {
  for (let index = from; index < to; index++) for (const log of logs) void add(log, entryAt(index));
}

const maybe = <T>(value: fc.Arbitrary<T>) => fc.option(value, { nil: undefined, freq: 2 });
const time = fc.integer({ min: -1000, max: 40_000 }).map((second) => START + second * 1000);
const queries: fc.Arbitrary<CallQuery> = fc.record({
  server: maybe(fc.constantFrom("s0", "s1", "rare", "none")),
  tool: maybe(fc.constantFrom("t1", "t4")),
  client: maybe(fc.constant("early")),
  workflowId: maybe(fc.constantFrom("w0", "w1", "w2")),
  success: maybe(fc.boolean()),
  slowerThanMs: maybe(fc.constantFrom(98, 1000, 6000)),
  since: maybe(time),
  until: maybe(time),
  after: maybe(fc.integer({ min: 0, max: 45_000 })),
  limit: maybe(fc.constantFrom(1, 7, 50, 1000)),
});

it(
  "RS-4 queries over many packs find what a look at every call finds, before and after calls are added and pruned",
  { timeout: 120_000 },
  async () => {
    const dir = await mkdtemp(join(tmpdir(), "plugboard-reader-"));
    const retention = { maxRows: 100_000, maxAgeMs: 365 * 24 * 3_600_000 };
    const file = new SqliteCallLog(join(dir, "calls.db"), { redactor, retention });
    const memory = new MemoryCallLog({ redactor, retention });
    const asked: CallQuery[] = [];
    const compare = async (query: CallQuery) => {
      const expected = await memory.query(query);
      expect([query, await file.query(query)]).toEqual([query, expected]);
      return expected.next_cursor;
    };
    const compareAll = async (query: CallQuery) => {
      asked.push(query);
      const cursor = await compare(query);
      if (cursor !== null) await compare({ ...query, cursor });
      await compare({ ...query, after: undefined, since: undefined, until: undefined });
      await compare({ ...query, after: undefined });
    };
    try {
      append([file, memory], 0, 35_000);
      await fc.assert(fc.asyncProperty(queries, compareAll), { numRuns: 50 });
      // The first and the last call of a pack, to the millisecond.
      for (const index of [0, 1, 10, 50].flatMap((pack) => [pack * MAX_HEADS, (pack + 1) * MAX_HEADS - 1])) {
        const { at } = entryAt(index);
        await compare({ since: at, until: at + 1 });
        await compare({ until: at, limit: 1 });
        await compare({ since: at + 1, until: at + 1001 });
      }
      append([file, memory], 35_000, 41_500);
      for (const query of asked.splice(0)) await compareAll(query);
      const now = START + retention.maxAgeMs + 15_000_000;
      expect(await file.prune(now)).toBe(await memory.prune(now));
      for (const query of asked.splice(0)) await compareAll(query);
    } finally {
      await file.close();
      await rm(dir, { recursive: true, force: true });
    }
  },
);
