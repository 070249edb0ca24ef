// Statistics of many calls: the log on disk must give the same as the log in memory.

import { mkdtemp, rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import fc from "fast-check";
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import type { CallStatsQuery } from "../stats.ts";
import { isServersOwn, OUTCOMES } from "../outcome.ts";
import { append, type CallEntry } from "../../../../test/support/calls.ts";
import { Redactor } from "../../redaction/redactor.ts";
import { SqliteCallLog } from "./sqlite-call-log.ts";
import { connect } from "@plugboard/shared/sqlite/driver";
import { MemoryCallLog } from "../memory-call-log.ts";

const START = Date.UTC(2026, 0, 1);
const COUNT = 12_000;
const redactor = new Redactor();
const retention = { maxRows: 100_000, maxAgeMs: 3650 * 24 * 3_600_000 };

/** Mostly in chronological order, with an interval of a wrong clock. */
function entryAt(index: number): CallEntry {
  const isWrongClock = index > 6000 && index < 6250;
  const outcome = index % 50 === 0 ? "failed" : (OUTCOMES[index % 7] ?? "ok");
  return {
    at: START + index * 1000 + (isWrongClock ? 5_000_000 : 0),
    server: index % 997 === 0 ? "rare" : `s${index % 3}`,
    tool: `t${index % 5}`,
    group: index % 2 === 0 ? "default" : "work",
    outcome,
    durationMs: ((index * 7919) % 10_007) / 10,
    params: undefined,
    result: undefined,
    ...(outcome === "ok" ? {} : { errorCode: index % 100 === 0 ? "NETWORK_ERROR" : "SERVICE_UNAVAILABLE" }),
  };
}

let dir: string;
let file: SqliteCallLog;
let memory: MemoryCallLog;
beforeAll(async () => {
  dir = await mkdtemp(join(tmpdir(), "plugboard-stats-"));
  file = new SqliteCallLog(join(dir, "calls.db"), { redactor, retention });
  memory = new MemoryCallLog({ redactor, retention });
  for (let index = 0; index < COUNT; index += 1000) {
    const entries = Array.from({ length: 1000 }, (_, offset) => entryAt(index + offset));
    await Promise.all([file, memory].flatMap((log) => entries.map((entry) => append(log, entry))));
  }
});
afterAll(async () => {
  await file.close();
  await rm(dir, { recursive: true, force: true });
});

const maybe = <T>(value: fc.Arbitrary<T>) => fc.option(value, { nil: undefined });
const queries: fc.Arbitrary<CallStatsQuery> = fc.record({
  server: maybe(fc.constantFrom("s0", "s2", "rare", "none")),
  since: maybe(fc.integer({ min: -10, max: COUNT + 5500 }).map((second) => START + second * 1000)),
});

describe("RS-5 statistics from the call log", () => {
  it("are the same on disk and in memory", async () => {
    await fc.assert(
      fc.asyncProperty(queries, async (query) => {
        expect([query, await file.stats(query)]).toEqual([query, await memory.stats(query)]);
      }),
      { numRuns: 60 },
    );
    for (const index of [0, 1, 6000, 6250, COUNT - 1]) {
      const since = START + index * 1000;
      expect([since, await file.stats({ since })]).toEqual([since, await memory.stats({ since })]);
    }
  });

  it("have exact counts, and percentiles within 0.5 %", async () => {
    const since = START + 2500 * 1000;
    const calls = Array.from({ length: COUNT }, (_, index) => entryAt(index)).filter(({ at }) => at >= since);
    const stats = await file.stats({ since });
    expect(stats.map(({ server_name }) => server_name)).toEqual(["rare", "s0", "s1", "s2"]);
    const figures = stats.flatMap((server) => [
      { of: calls.filter((call) => call.server === server.server_name), ...server },
      ...server.tools.map((tool) => ({
        of: calls.filter((call) => call.server === server.server_name && call.tool === tool.tool_name),
        ...tool,
      })),
    ]);
    expect(figures).toHaveLength(4 + 4 * 5);
    for (const { of, total_calls, errors, cancelled, refused, p50_ms, p95_ms, p99_ms } of figures) {
      const counted = of.filter(({ outcome }) => isServersOwn(outcome));
      expect(total_calls).toBe(counted.length);
      expect(errors).toBe(of.filter(({ outcome }) => outcome === "failed").length);
      expect(cancelled + refused).toBe(of.length - counted.length);
      const sorted = counted.map(({ durationMs }) => durationMs).toSorted((a, b) => a - b);
      for (const [share, value] of [
        [0.5, p50_ms],
        [0.95, p95_ms],
        [0.99, p99_ms],
      ] as const) {
        const exact = sorted[Math.ceil(share * sorted.length) - 1] ?? 0;
        expect(Math.abs(value - exact)).toBeLessThanOrEqual(exact * 0.005 + 0.001);
      }
    }
  });

  it("of no calls are empty", async () => {
    expect(await file.stats({ since: START + 10 * COUNT * 1000 })).toEqual([]);
    expect(await file.stats({ server: "unknown" })).toEqual([]);
  });

  it("accept any value in a damaged file", async () => {
    const path = join(dir, "odd.db");
    const log = new SqliteCallLog(path, { redactor, retention });
    for (let index = 1; index <= 4; index++) await append(log, entryAt(index));
    await log.close();
    const db = await connect(path);
    db.exec("UPDATE call SET duration_us = -1 WHERE id = 1; UPDATE call SET duration_us = 'x' WHERE id = 2");
    db.exec("UPDATE call SET server = X'00' WHERE id = 3; UPDATE call SET outcome = X'00'");
    await db.close();
    const odd = new SqliteCallLog(path, { redactor, retention });
    try {
      const stats = await odd.stats({});
      expect(stats.reduce((sum, { total_calls }) => sum + total_calls, 0)).toBe(4);
      expect(stats.map(({ server_name }) => server_name)).toContain("");
    } finally {
      await odd.close();
    }
  });

  it("count the tools beyond 2,000 as one", async () => {
    const many = new MemoryCallLog({ redactor, retention });
    for (let index = 0; index < 2100; index++) await append(many, { ...entryAt(1), tool: `tool-${index}` });
    const stats = await many.stats({});
    expect(stats.map(({ server_name, total_calls }) => [server_name, total_calls])).toEqual([
      ["_other", 100],
      ["s1", 2000],
    ]);
  });
});
