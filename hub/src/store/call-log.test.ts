// What only the log in a file can show: transactions, locks, a full disk, rights. Damage is in damage.test.ts.

import { spawnSync } from "node:child_process";
import { mkdir, mkdtemp, rm, stat, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { setTimeout as sleep } from "node:timers/promises";
import { afterEach, beforeEach, describe, expect, it, vi } from "vitest";
import type { CallEntry } from "../calls/log.ts";
import { Redactor } from "../calls/redact.ts";
import { SqliteCallLog } from "./call-log.ts";
import type { Retention } from "./call-pruner.ts";
import { connect } from "./driver.ts";

let dir: string;
let path: string;
let warnings: string[];
const logs: SqliteCallLog[] = [];

beforeEach(async () => {
  dir = await mkdtemp(join(tmpdir(), "plugboard-calls-"));
  path = join(dir, "data", "calls.db");
  warnings = [];
});
afterEach(async () => {
  for (const log of logs.splice(0)) await log.close();
  await rm(dir, { recursive: true, force: true });
});

async function open(retention: Partial<Retention> = {}, at = path): Promise<SqliteCallLog> {
  const onWarning = (message: string) => warnings.push(message);
  const log = await SqliteCallLog.open(at, { redactor: new Redactor(), retention, onWarning });
  logs.push(log);
  return log;
}

const openRaw = (at = path) => connect(at);

const entry = (changes: Partial<CallEntry> = {}): CallEntry => ({
  at: Date.now(),
  server: "s",
  tool: "t",
  group: "default",
  params: Buffer.from('{"a":1}'),
  result: Buffer.from('{"b":2}'),
  success: true,
  durationMs: 1,
  ...changes,
});

const countOf = async (log: SqliteCallLog) => {
  let count = 0;
  let cursor: string | null | undefined;
  while (cursor !== null) {
    const page = await log.query({ cursor, limit: 1000 });
    count += page.items.length;
    cursor = page.next_cursor;
  }
  return count;
};

describe("SqliteCallLog", () => {
  it("RS-4 what was appended is in the file at once, for every other process", async () => {
    const log = await open();
    await log.append(entry({ tool: "first" }));
    const other = await openRaw();
    expect(other.prepare("SELECT server_name, tool_name, params, success FROM mcp_call_log").all()).toMatchObject([
      { server_name: "s", tool_name: "first", params: '{"a":1}', success: 1 },
    ]);
    await other.close();
  });

  it("RS-4 all appends of one turn are one transaction", async () => {
    const log = await open();
    await log.append(entry());
    const wal = async () => (await stat(`${path}-wal`)).size;
    const before = await wal();
    await Promise.all(Array.from({ length: 16 }, () => log.append(entry())));
    const together = (await wal()) - before;
    for (let count = 0; count < 16; count++) await log.append(entry());
    const apart = (await wal()) - before - together;
    expect(await countOf(log)).toBe(33);
    expect(apart).toBeGreaterThan(together * 8);
  });

  it("RS-4 calls survive closing and opening, and ids go on", async () => {
    const first = await open();
    await first.append(entry());
    await first.close();
    await first.append(entry());
    expect(first.lost).toBe(1);
    await expect(first.query({})).rejects.toMatchObject({ kind: "DatabaseError" });
    const second = await open();
    await second.append(entry());
    expect((await second.query({})).items.map(({ id }) => id)).toEqual([2, 1]);
  });

  it("RS-4 a call whose contents cannot be redacted is recorded without them", async () => {
    const redactor = new Redactor();
    vi.spyOn(redactor, "redact").mockImplementation((json) => {
      if (json !== undefined) throw new Error("a mistake of ours");
      return { json, truncated: false };
    });
    const log = await SqliteCallLog.open(path, { redactor, onWarning: (message) => warnings.push(message) });
    logs.push(log);
    await log.append(entry());
    expect((await log.query({})).items).toMatchObject([{ tool_name: "t", params: null, result: null }]);
    expect(warnings).toEqual([expect.stringMatching(/not kept: a mistake of ours/)]);
  });

  it("RS-4 two processes can write to one file", async () => {
    const [a, b] = [await open(), await open()];
    for (let turn = 0; turn < 20; turn++) await Promise.all([a.append(entry()), b.append(entry({ tool: `t${turn}` }))]);
    expect([await countOf(a), a.degraded, b.degraded, a.lost + b.lost]).toEqual([40, undefined, undefined, 0]);
  });

  it("RS-4 a large page is cut short, and goes on with its cursor", async () => {
    const log = await open();
    const result = Buffer.from(JSON.stringify({ text: "x".repeat(60_000) }));
    for (let turn = 0; turn < 4; turn++) {
      await Promise.all(Array.from({ length: 50 }, () => log.append(entry({ result }))));
    }
    const page = await log.query({ limit: 1000 });
    expect(page.items.length).toBeLessThan(160);
    expect(page.next_cursor).not.toBeNull();
    expect(await countOf(log)).toBe(200);
  });

  it("RS-4 pruning lets the event loop go on", async () => {
    const log = await open();
    const at = Date.now() - 29 * 24 * 3_600_000;
    const result = Buffer.from(JSON.stringify({ text: "x".repeat(5000) }));
    for (let turn = 0; turn < 100; turn++) {
      await Promise.all(Array.from({ length: 200 }, () => log.append(entry({ at, result }))));
    }
    let turns = 0;
    const watch = setInterval(() => turns++, 1);
    expect(await log.prune(at + 31 * 24 * 3_600_000)).toBe(20_000);
    clearInterval(watch);
    expect(turns).toBeGreaterThan(10);
    expect(await countOf(log)).toBe(0);
  });

  it.skipIf(process.platform === "win32")("T13 file and side files are private, whatever the umask", async () => {
    const old = process.umask(0);
    try {
      const log = await open();
      await log.append(entry());
      const modes = await Promise.all(
        ["", "-wal", "-shm"].map(async (side) => ((await stat(path + side)).mode & 0o777).toString(8)),
      );
      expect(modes).toEqual(["600", "600", "600"]);
      expect(((await stat(join(dir, "data"))).mode & 0o777).toString(8)).toBe("700");
    } finally {
      process.umask(old);
    }
  });

  it("F35 a lock is waited for off the event loop, and nothing is lost", async () => {
    const log = await open();
    const other = await openRaw();
    other.exec("BEGIN IMMEDIATE");
    const appended = log.append(entry());
    let turns = 0;
    const ticking = setInterval(() => turns++, 1);
    await sleep(60);
    other.exec("ROLLBACK");
    await appended;
    clearInterval(ticking);
    expect(turns).toBeGreaterThan(10);
    expect([log.degraded, await countOf(log)]).toEqual([undefined, 1]);
    await other.close();
  });

  it("F35 a lock that stays degrades the log after 200 ms; calls go on, and are recorded when it is gone", async () => {
    const log = await open();
    await log.append(entry());
    const other = await openRaw();
    other.exec("BEGIN IMMEDIATE");
    const startedAt = performance.now();
    await log.append(entry());
    const waited = performance.now() - startedAt;
    expect(waited).toBeGreaterThan(150);
    // A loaded machine may take its time; what matters is that it is not for ever.
    expect(waited).toBeLessThan(20_000);
    expect(log.degraded).toMatch(/locked/);
    const next = performance.now();
    for (let count = 0; count < 100; count++) await log.append(entry());
    expect(performance.now() - next).toBeLessThan(10_000);
    // Reading is not held up by a writer.
    expect(await countOf(log)).toBe(1);
    other.exec("ROLLBACK");
    await other.close();
    await vi.waitFor(() => expect(log.degraded).toBeUndefined(), 20_000);
    expect([await countOf(log), log.lost]).toEqual([102, 0]);
    expect(warnings).toEqual([expect.stringMatching(/cannot be written/), expect.stringMatching(/written again/)]);
  });

  it("F35 what waits in memory has a bound, and the rest is counted", async () => {
    const log = await open();
    const other = await openRaw();
    other.exec("BEGIN IMMEDIATE");
    for (let count = 0; count < 12_000; count++) void log.append(entry());
    await log.append(entry());
    expect(log.degraded).toBeDefined();
    expect(log.lost).toBe(2001);
    const result = Buffer.alloc(60_000, "1");
    await log.append(entry({ result }));
    expect(log.lost).toBe(2002);
    other.exec("ROLLBACK");
    await other.close();
    await vi.waitFor(() => expect(log.degraded).toBeUndefined(), 10_000);
    expect(await countOf(log)).toBe(10_000);
  });

  it("F35 closing writes what still waits, once the lock is gone", async () => {
    const log = await open();
    const other = await openRaw();
    other.exec("BEGIN IMMEDIATE");
    await log.append(entry());
    expect(log.degraded).toBeDefined();
    other.exec("ROLLBACK");
    await other.close();
    await log.close();
    expect(await countOf(await open())).toBe(1);
  });

  it.skipIf(process.platform === "win32")("RS-4 a file that is removed is started anew", async () => {
    const log = await open();
    await log.append(entry());
    for (const side of ["", "-wal", "-shm"]) await rm(path + side);
    await log.append(entry());
    await vi.waitFor(() => expect(warnings.at(-1)).toMatch(/written again/), 5000);
    await log.append(entry({ tool: "after" }));
    expect((await log.query({})).items.map(({ tool_name }) => tool_name)).toEqual(["after"]);
    await expect(stat(path)).resolves.toBeDefined();
  });

  it("RS-4 a log that cannot be opened is degraded, and comes up by itself", async () => {
    await writeFile(join(dir, "data"), "not a folder");
    const log = await open();
    await log.append(entry());
    expect(log.degraded).toMatch(/cannot be written/);
    await expect(log.query({})).rejects.toMatchObject({ kind: "DatabaseError" });
    await rm(join(dir, "data"));
    await vi.waitFor(() => expect(log.degraded).toBeUndefined(), 20_000);
    expect(await countOf(log)).toBe(1);
  });
});

/** A disk of two megabytes, where this machine lets us make one. */
const canMount = () => {
  const at = join(tmpdir(), `plugboard-mount-${process.pid}`);
  const tried = spawnSync("sh", [
    "-c",
    `mkdir -p ${at} && mount -t tmpfs -o size=64k none ${at} && umount ${at}; rm -rf ${at}`,
  ]);
  return process.getuid?.() === 0 && tried.status === 0 && tried.stderr.length === 0;
};

describe("a full disk", () => {
  it.skipIf(!canMount())(
    "F33 calls go on, the log says so, and recovers without a restart (needs root and tmpfs)",
    async () => {
      const disk = join(dir, "disk");
      await mkdir(disk);
      expect(spawnSync("mount", ["-t", "tmpfs", "-o", "size=2m", "none", disk]).status).toBe(0);
      try {
        const log = await open({}, join(disk, "calls.db"));
        const result = Buffer.from(JSON.stringify({ text: "x".repeat(10_000) }));
        let appended = 0;
        for (; log.degraded === undefined && appended < 1000; appended++) {
          await log.append(entry({ result, tool: `t${appended}` }));
        }
        expect(log.degraded).toMatch(/full/);
        expect(appended).toBeLessThan(200);
        const readable = await countOf(log);
        expect(readable).toBeGreaterThanOrEqual(appended - 1);
        for (let count = 0; count < 10; count++) await log.append(entry({ tool: `t${appended + count}` }));
        expect(spawnSync("mount", ["-o", "remount,size=64m", disk]).status).toBe(0);
        await vi.waitFor(() => expect(log.degraded).toBeUndefined(), 20_000);
        expect(log.lost).toBe(0);
        const names = (await log.query({ limit: 1000 })).items.map(({ tool_name }) => tool_name);
        expect(names.toReversed()).toEqual(Array.from({ length: appended + 10 }, (_, index) => `t${index}`));
        const raw = await openRaw(join(disk, "calls.db"));
        expect(raw.prepare("PRAGMA integrity_check").get()).toEqual({ integrity_check: "ok" });
        await raw.close();
      } finally {
        // Closed first, also after a failure: a disk in use cannot be taken away.
        for (const log of logs.splice(0)) await log.close();
        spawnSync("umount", ["-l", disk]);
      }
    },
  );
});
