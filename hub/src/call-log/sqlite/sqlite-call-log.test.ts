// The call log on disk: journal, ingestion, worker thread. Failures are in failures.test.ts, damage in damage.test.ts.

import { existsSync } from "node:fs";
import { readdir, stat } from "node:fs/promises";
import { join } from "node:path";
import { afterEach, beforeEach, describe, expect, it, vi } from "vitest";
import { append, countCalls, entry, LogFolder, toolsOf } from "../../../../test/support/calls.ts";
import { Redactor } from "../../redaction/redactor.ts";
import { connect } from "@plugboard/shared/sqlite/driver";

const DAY = 24 * 3_600_000;
const large = Buffer.from(JSON.stringify("x".repeat(60_000)));

let folder: LogFolder;
beforeEach(async () => {
  folder = await LogFolder.create();
});
afterEach(() => folder.remove());

describe("RS-4 the journal", () => {
  it("has a call at once, as one line for its start and one for its end; then the database has it", async () => {
    const log = folder.open();
    await append(log, entry({ tool: "first", client: "caf\u00e9 \u{1f600}", params: Buffer.from('{"q":"\u00e9"}') }));
    const lines = (await folder.journaled()).trimEnd().split("\n");
    expect(lines.map((line): unknown => JSON.parse(line))).toMatchObject([
      { open: 1, tool: "first", client: "caf\u00e9 \u{1f600}", payload: { q: "\u00e9" } },
      { finish: 1, outcome: "ok", durationUs: 1000, payload: { b: 2 } },
    ]);
    const { items } = await log.query({});
    expect(items).toMatchObject([{ tool_name: "first", client: "caf\u00e9 \u{1f600}", params: { q: "\u00e9" } }]);
    const db = await connect(folder.path);
    expect(db.prepare("SELECT server_name, tool_name, params, success FROM mcp_call_log").all()).toMatchObject([
      { server_name: "s", tool_name: "first", params: '{"q":"\u00e9"}', success: 1 },
    ]);
    await db.close();
  });

  it("stores payloads byte by byte: large numbers, duplicate members, text that looks like the journal's own", async () => {
    const log = folder.open();
    const params = Buffer.from('{"n":12345678901234567890,"a":1,"a":2,"t":",\\"payload\\":{}}"}');
    await append(log, entry({ params, server: ',"payload":1}', client: '\\",\\"payload\\":' }));
    expect((await log.query({})).items).toMatchObject([
      { server_name: ',"payload":1}', client: '\\",\\"payload\\":', params: { t: ',"payload":{}}' }, result: { b: 2 } },
    ]);
    const db = await connect(folder.path);
    expect(db.prepare("SELECT params FROM mcp_call_log").get()).toEqual({ params: params.toString() });
    await db.close();
  });

  it("is written once for all calls of a turn; a single call does not wait", async () => {
    const log = folder.open();
    const waits = async () => {
      const call = log.begin(entry());
      await call.begun;
      const ended = call.finish(entry());
      await ended;
      return [call.begun !== undefined, ended !== undefined];
    };
    expect([await waits(), await waits()]).toEqual([
      [false, false],
      [false, false],
    ]);
    const calls = Array.from({ length: 16 }, () => log.begin(entry()));
    // The first call is written alone; the others share one promise and one write.
    expect(new Set(calls.slice(1).map(({ begun }) => begun)).size).toBe(1);
    for (const { begun } of calls) await begun;
    const ends = calls.map((call) => call.finish(entry()));
    expect(new Set(ends).size).toBe(1);
    await ends[0];
    expect(await countCalls(log)).toBe(18);
  });

  it("is followed by another one when it is full; open calls continue in it", async () => {
    const log = folder.open();
    const call = log.begin(entry({ tool: "slow" }));
    const names = new Set<string>();
    for (let turn = 0; names.size < 3; turn++) {
      for (let count = 0; count < 50; count++) await append(log, entry({ result: large, tool: `t${turn}` }));
      for (const name of await readdir(folder.journals)) names.add(name);
      await log.query({ limit: 1 });
    }
    await call.finish(entry());
    expect((await log.query({ tool: "slow" })).items).toHaveLength(1);
    // Ingested journals are removed.
    expect(await readdir(folder.journals)).toHaveLength(1);
    await log.close();
    expect(await readdir(folder.journals)).toEqual([]);
  });

  it.skipIf(process.platform === "win32")("T13 and the database are private, with any umask", async () => {
    const old = process.umask(0);
    try {
      const log = folder.open();
      await append(log, entry());
      await log.query({});
      const modeOf = async (name: string) => ((await stat(name)).mode & 0o777).toString(8);
      const [journal = ""] = await readdir(folder.journals);
      const files = [folder.path, `${folder.path}-wal`, `${folder.path}-shm`, join(folder.journals, journal)];
      expect(await Promise.all(files.map(modeOf))).toEqual(["600", "600", "600", "600"]);
      expect(await Promise.all([folder.journals, join(folder.dir, "data")].map(modeOf))).toEqual(["700", "700"]);
    } finally {
      process.umask(old);
    }
  });
});

describe("RS-4 the worker thread", () => {
  it("ingests calls without a query", async () => {
    const log = folder.open({ wakeAfterMs: 10 });
    await append(log, entry());
    await expect.poll(() => folder.countRows()).toBe(1);
  });

  it("is started late for few calls, at once for a query or many calls", async () => {
    const log = folder.open({ wakeAfterMs: 3_600_000 });
    await append(log, entry({ tool: "alone" }));
    expect(existsSync(folder.path)).toBe(false);
    expect(await toolsOf(log)).toEqual(["alone"]);
    const other = join(folder.dir, "many", "calls.db");
    const busy = folder.open({ wakeAfterMs: 3_600_000 }, other);
    for (let count = 0; count < 300; count++)
      await append(busy, entry({ result: Buffer.from(`"${"x".repeat(400)}"`) }));
    await expect.poll(() => existsSync(other)).toBe(true);
  });

  it("ends when it is idle and releases the file; the next one ingests nothing twice", async () => {
    const log = folder.open({ wakeAfterMs: 10, idleMs: 50 });
    for (const [before, tool] of ["first", "second", "third"].entries()) {
      await append(log, entry({ tool }));
      await expect.poll(() => folder.countRows()).toBe(before + 1);
      // SQLite removes the write-ahead log with the last connection.
      await expect.poll(() => existsSync(`${folder.path}-wal`)).toBe(false);
    }
    expect(await toolsOf(log)).toEqual(["first", "second", "third"]);
    expect(folder.warnings).toEqual([]);
  });
});

describe("RS-4 a call", () => {
  it("that takes long keeps its parameters, however much is ingested in the meantime", async () => {
    const log = folder.open();
    const slow = log.begin(entry({ tool: "slow", params: Buffer.from('{"mine":"slow"}') }));
    await slow.begun;
    for (const total of [50, 100]) {
      for (let count = 0; count < 50; count++) await append(log, entry({ result: large }));
      expect(await countCalls(log)).toBe(total);
    }
    await slow.finish(entry({ result: Buffer.from('"done"') }));
    const { items } = await log.query({ tool: "slow" });
    expect(items).toMatchObject([{ params: { mine: "slow" }, result: "done" }]);
  });

  it("is not a row before it has ended, and one row then", async () => {
    const log = folder.open();
    const call = log.begin(entry({ tool: "slow" }));
    await append(log, entry());
    expect(await toolsOf(log)).toEqual(["t"]);
    await call.finish(entry());
    expect(await toolsOf(log)).toEqual(["t", "slow"]);
  });

  it("F41 that is open when the log is closed has an unknown outcome", async () => {
    const log = folder.open();
    log.begin(entry({ tool: "slow" }));
    await log.close();
    expect((await folder.open().query({})).items).toMatchObject([
      { tool_name: "slow", success: false, error_code: "UNKNOWN", params: { a: 1 }, result: null },
    ]);
  });

  it("survives closing and opening; ids continue", async () => {
    const first = folder.open();
    await append(first, entry());
    await first.close();
    await append(first, entry());
    expect(first.lost).toBe(1);
    await expect(first.query({})).rejects.toMatchObject({ kind: "DatabaseError" });
    const second = folder.open();
    await append(second, entry());
    expect((await second.query({})).items.map(({ id }) => id)).toEqual([2, 1]);
  });

  it("whose payload cannot be redacted is recorded without it", async () => {
    const redactor = new Redactor();
    vi.spyOn(redactor, "redact").mockImplementation((json) => {
      if (json !== undefined) throw new Error("a bug");
      return { json, truncated: false };
    });
    const log = folder.open({ redactor });
    await append(log, entry());
    expect((await log.query({})).items).toMatchObject([{ tool_name: "t", params: null, result: null }]);
    // On a busy machine there may be warnings about a locked database as well.
    const warnings = folder.warnings.filter((message) => message.startsWith("The payload"));
    expect(new Set(warnings)).toEqual(new Set(["The payload of a call to s is not recorded: a bug"]));
  });

  it("of either of two logs on one file is found by both", async () => {
    const [a, b] = [folder.open(), folder.open()];
    for (let turn = 0; turn < 20; turn++) {
      await append(a, entry());
      await append(b, entry({ tool: `t${turn}` }));
      if (turn % 5 === 0) await Promise.all([a.query({}), b.query({})]);
    }
    await b.query({});
    expect([await countCalls(a), a.degraded, b.degraded, a.lost + b.lost]).toEqual([40, undefined, undefined, 0]);
  });
});

describe("RS-4 a large log", () => {
  it("cuts a large page short, and continues with its cursor", async () => {
    const log = folder.open();
    for (let count = 0; count < 200; count++) await append(log, entry({ result: large }));
    const page = await log.query({ limit: 1000 });
    expect(page.items.length).toBeLessThan(160);
    expect(page.next_cursor).not.toBeNull();
    expect(await countCalls(log)).toBe(200);
  });

  it("is pruned in steps, with its payloads; the event loop and queries go on", async () => {
    const log = folder.open();
    const at = Date.now() - 29 * DAY;
    const result = Buffer.from(JSON.stringify({ text: "x".repeat(5000) }));
    for (let turn = 0; turn < 50; turn++) {
      await Promise.all(Array.from({ length: 200 }, () => append(log, entry({ at, result }))));
    }
    let turns = 0;
    const watch = setInterval(() => turns++, 1);
    expect(await log.prune(at + 31 * DAY)).toBe(10_000);
    clearInterval(watch);
    expect(turns).toBeGreaterThan(10);
    expect(await countCalls(log)).toBe(0);
    const db = await connect(folder.path);
    expect(db.prepare("SELECT count(*) AS payloads FROM payload").get()).toEqual({ payloads: 0 });
    await db.close();
  });
});
