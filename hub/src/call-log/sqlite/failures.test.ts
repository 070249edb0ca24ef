// Locks, missing files and full disks: calls continue, the log reports why it is degraded, and recovers automatically.

import { spawnSync } from "node:child_process";
import { mkdir, readdir, readFile, rm, stat, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterEach, beforeEach, describe, expect, it, vi } from "vitest";
import { append, countCalls, entry, LogFolder, toolsOf } from "../../../../test/support/calls.ts";
import { connect, type Database } from "@plugboard/shared/sqlite/driver";

let folder: LogFolder;
beforeEach(async () => {
  folder = await LogFolder.create();
});
afterEach(() => folder.remove());

async function lock(): Promise<Database> {
  const db = await connect(folder.path);
  db.exec("BEGIN IMMEDIATE");
  return db;
}

async function unlock(db: Database): Promise<void> {
  db.exec("ROLLBACK");
  await db.close();
}

describe("F35 a lock of another process", () => {
  it("is waited for; calls are not delayed, and nothing is lost", async () => {
    const log = folder.open();
    await log.query({});
    const db = await lock();
    await append(log, entry());
    expect(await folder.journaled()).not.toBe("");
    await unlock(db);
    expect([await countCalls(log), log.degraded]).toEqual([1, undefined]);
  });

  it("degrades the log if it stays; calls go on, and are ingested when it is released", async () => {
    const log = folder.open();
    await append(log, entry());
    await log.query({});
    const db = await lock();
    await append(log, entry());
    await expect.poll(() => log.degraded).toMatch(/locked/);
    for (let count = 0; count < 100; count++) await append(log, entry());
    // A writer does not block readers.
    expect(await countCalls(log)).toBe(1);
    await unlock(db);
    await expect.poll(() => log.degraded).toBeUndefined();
    expect([await countCalls(log), log.lost]).toEqual([102, 0]);
    expect(folder.warnings).toEqual([
      expect.stringMatching(/cannot be written/),
      expect.stringMatching(/can be written again/),
    ]);
  });

  it("makes the log refuse calls beyond a bound, and count them", async () => {
    const log = folder.open({ maxBehindBytes: 50_000 });
    await log.query({});
    const db = await lock();
    for (let count = 0; count < 2000; count++) await append(log, entry());
    const { lost } = log;
    expect(lost).toBeGreaterThan(500);
    await unlock(db);
    await expect.poll(() => countCalls(log)).toBe(2000 - lost);
    await expect.poll(() => log.degraded).toBeUndefined();
    await append(log, entry());
    expect([await countCalls(log), log.lost]).toEqual([2001 - lost, lost]);
  });

  it("that is held when the log is closed leaves its journal to the next log", async () => {
    const log = folder.open();
    await log.query({});
    const db = await lock();
    await append(log, entry());
    await log.close();
    await unlock(db);
    expect(await countCalls(folder.open())).toBe(1);
  });
});

describe("RS-4 files that others change", () => {
  it.skipIf(process.platform === "win32")("a removed database is created again", async () => {
    const log = folder.open();
    await append(log, entry({ tool: "before" }));
    await log.query({});
    for (const side of ["", "-wal", "-shm"]) await rm(folder.path + side);
    await append(log, entry({ tool: "after" }));
    // The journal still has the first call.
    expect(await toolsOf(log)).toEqual(["before", "after"]);
    await expect(stat(folder.path)).resolves.toBeDefined();
  });

  it.skipIf(process.platform === "win32")("removed journals are created again", async () => {
    const log = folder.open();
    const call = log.begin(entry({ tool: "slow" }));
    await append(log, entry({ tool: "before" }));
    await log.query({});
    await rm(folder.journals, { recursive: true });
    // Detected at the next sync, within about a second.
    await vi.waitFor(async () => {
      await append(log, entry({ tool: "again" }));
      expect(await readdir(folder.journals)).toHaveLength(1);
    }, 60_000);
    await call.finish(entry());
    await append(log, entry({ tool: "after" }));
    const tools = await toolsOf(log);
    expect([tools[0], ...tools.slice(-2)]).toEqual(["before", "slow", "after"]);
  });

  it("a damaged line of a journal costs its call, and is reported once", async () => {
    const log = folder.open({ wakeAfterMs: 3_600_000 });
    for (const tool of ["one", "two", "three"]) await append(log, entry({ tool }));
    const [name = ""] = await readdir(folder.journals);
    const bytes = await readFile(join(folder.journals, name));
    bytes.fill(0xff, 8, 40);
    await writeFile(join(folder.journals, name), bytes);
    expect(await toolsOf(log)).toEqual(["two", "three"]);
    expect(folder.warnings).toEqual([`A line of ${name} is damaged: its call is not in the call log`]);
  });

  it("a log that cannot be opened is degraded, and recovers by itself", async () => {
    await writeFile(join(folder.dir, "data"), "not a folder");
    const log = folder.open();
    await append(log, entry());
    expect(log.degraded).toMatch(/cannot be written/);
    await expect(log.query({})).rejects.toMatchObject({ kind: "DatabaseError" });
    await rm(join(folder.dir, "data"));
    await expect.poll(() => log.degraded).toBeUndefined();
    expect(await countCalls(log)).toBe(1);
  });
});

/** Whether this machine can mount a tmpfs. */
function canMount(): boolean {
  const at = join(tmpdir(), `plugboard-mount-${process.pid}`);
  const tried = spawnSync("sh", [
    "-c",
    `mkdir -p ${at} && mount -t tmpfs -o size=64k none ${at} && umount ${at}; rm -rf ${at}`,
  ]);
  return process.getuid?.() === 0 && tried.status === 0 && tried.stderr.length === 0;
}

describe("a full disk", () => {
  it.skipIf(!canMount())(
    "F33 degrades the log; calls go on, and it recovers without a restart (needs root and tmpfs)",
    async () => {
      const disk = join(folder.dir, "disk");
      await mkdir(disk);
      expect(spawnSync("mount", ["-t", "tmpfs", "-o", "size=2m", "none", disk]).status).toBe(0);
      try {
        const path = join(disk, "calls.db");
        const log = folder.open({}, path);
        const result = Buffer.from(JSON.stringify({ text: "x".repeat(10_000) }));
        await append(log, entry({ tool: "t0" }));
        await log.query({});
        let appended = 1;
        for (; log.degraded === undefined && appended < 1000; appended++) {
          await append(log, entry({ result, tool: `t${appended}` }));
        }
        expect(log.degraded).toMatch(/full/);
        expect(appended).toBeLessThan(400);
        expect(await countCalls(log)).toBeGreaterThan(0);
        for (let count = 0; count < 10; count++) await append(log, entry({ tool: `t${appended + count}` }));
        expect(spawnSync("mount", ["-o", "remount,size=64m", disk]).status).toBe(0);
        await expect.poll(() => log.degraded).toBeUndefined();
        expect(log.lost).toBe(0);
        const names = (await log.query({ limit: 1000 })).items.map(({ tool_name }) => tool_name);
        expect(names.toReversed()).toEqual(Array.from({ length: appended + 10 }, (_, index) => `t${index}`));
        const db = await connect(path);
        expect(db.prepare("PRAGMA integrity_check").get()).toEqual({ integrity_check: "ok" });
        await db.close();
      } finally {
        // A disk in use cannot be unmounted.
        await folder.closeLogs();
        spawnSync("umount", ["-l", disk]);
      }
    },
  );
});
