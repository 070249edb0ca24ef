// Queries over many calls: the log on disk must find the same as the log in memory.

import { mkdtemp, rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import fc from "fast-check";
import { expect, it } from "vitest";
import { append as add, type CallEntry } from "../../../../test/support/calls.ts";
import type { CallLog, CallQuery } from "../port.ts";
import { Redactor } from "../../redaction/redactor.ts";
import { SqliteCallLog } from "./sqlite-call-log.ts";
import { MemoryCallLog } from "../memory-call-log.ts";

const START = Date.UTC(2026, 0, 1);
/** More than the 10,000 rows up to which the index on time is used, and more journal lines than one write takes. */
const COUNT = 11_000;
const LATER = 13_000;
const redactor = new Redactor();

/** Mostly in chronological order, with an interval of a wrong clock. */
function entryAt(index: number): CallEntry {
  const isWrongClock = index > 4000 && index < 4200;
  return {
    at: START + index * 1000 + (isWrongClock ? 3_000_000 : 0),
    server: index % 2999 === 0 ? "rare" : `s${index % 3}`,
    tool: `t${index % 5}`,
    group: "default",
    outcome: index % 1200 === 0 ? "failed" : "ok",
    durationMs: index % 2100 === 0 ? 5000 : index % 100,
    params: index % 3 === 0 ? undefined : Buffer.from(JSON.stringify({ index })),
    result: Buffer.from(JSON.stringify("\u00e4".repeat(index % 70))),
    ...(index < 500 ? { client: "early" } : {}),
    ...(index % 333 === 0 ? { workflowId: `w${index % 2}` } : {}),
  };
}

function append(logs: readonly CallLog[], from: number, to: number): void {
  for (let index = from; index < to; index++) for (const log of logs) void add(log, entryAt(index));
}

const maybe = <T>(value: fc.Arbitrary<T>) => fc.option(value, { nil: undefined, freq: 2 });
const time = fc.integer({ min: -300, max: LATER }).map((second) => START + second * 1000);
const queries: fc.Arbitrary<CallQuery> = fc.record({
  server: maybe(fc.constantFrom("s0", "s1", "rare", "none")),
  tool: maybe(fc.constantFrom("t1", "t4")),
  client: maybe(fc.constant("early")),
  workflowId: maybe(fc.constantFrom("w0", "w1", "w2")),
  success: maybe(fc.boolean()),
  slowerThanMs: maybe(fc.constantFrom(98, 1000, 6000)),
  since: maybe(time),
  until: maybe(time),
  after: maybe(fc.integer({ min: 0, max: LATER + 1000 })),
  limit: maybe(fc.constantFrom(1, 7, 50, 1000)),
});

it(
  "RS-4 queries find the same calls on disk and in memory, before and after calls are added and pruned",
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
      append([file, memory], 0, COUNT);
      await fc.assert(fc.asyncProperty(queries, compareAll), { numRuns: 50 });
      for (const index of [0, 219, 220, 3600]) {
        const { at } = entryAt(index);
        await compare({ since: at, until: at + 1 });
        await compare({ until: at, limit: 1 });
        await compare({ since: at + 1, until: at + 1001 });
      }
      append([file, memory], COUNT, LATER);
      for (const query of asked.splice(0)) await compareAll(query);
      const now = START + retention.maxAgeMs + 5_000_000;
      expect(await file.prune(now)).toBe(await memory.prune(now));
      for (const query of asked.splice(0)) await compareAll(query);
    } finally {
      await file.close();
      await rm(dir, { recursive: true, force: true });
    }
  },
);
