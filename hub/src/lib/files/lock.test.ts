import { execFile } from "node:child_process";
import { mkdtemp, readFile, readdir, rm, utimes, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { fileURLToPath } from "node:url";
import { promisify } from "node:util";
import { afterEach, beforeEach, describe, expect, it } from "vitest";
import { findAbandonedLock, removeAbandonedLock, withLock } from "./lock.ts";
import { isRunning, ownIdentity } from "@plugboard/shared/process-identity";

let dir: string;
let path: string;
let lock: string;

beforeEach(async () => {
  dir = await mkdtemp(join(tmpdir(), "plugboard-lock-"));
  path = join(dir, "file.json");
  lock = `${path}.lock`;
});
afterEach(() => rm(dir, { recursive: true, force: true }));

const NOT_RUNNING = 4_194_305;
const own = async (change: object = {}) => JSON.stringify({ ...(await ownIdentity()), nonce: "n", ...change });

describe("an abandoned lock", () => {
  it.each<[what: string, text: () => Promise<string>]>([
    ["of a process that is gone", () => own({ pid: NOT_RUNNING })],
    ["of an earlier process of our own id", () => own({ started: "1" })],
    ["of an earlier process of another's id", () => own({ pid: 1, started: "1" })],
    ["with the id of a process that lives, and nothing else", async () => "1\n"],
    ["with our own id, and nothing else", async () => String(process.pid)],
    ["with garbage", async () => "garbage"],
    ["that is empty", async () => ""],
  ])("%s is taken over", async (_, text) => {
    await writeFile(lock, await text());
    const minuteAgo = new Date(Date.now() - 60_000);
    await utimes(lock, minuteAgo, minuteAgo);
    expect(await findAbandonedLock(path)).toBe(lock);
    expect(await withLock(path, async () => "done", { waitMs: 0 })).toBe("done");
    expect(await readdir(dir)).toEqual([]);
  });

  it("without an owner is respected for a moment", async () => {
    await writeFile(lock, "1");
    expect(await findAbandonedLock(path)).toBeUndefined();
    expect(await withLock(path, async () => "done")).toBe("done");
  });

  it("is removed once", async () => {
    await writeFile(lock, await own({ pid: NOT_RUNNING }));
    expect(await removeAbandonedLock(path)).toBe(true);
    expect(await removeAbandonedLock(path)).toBe(false);
  });
});

it("a lock of a running process is respected", async () => {
  await withLock(path, async () => {
    expect(await findAbandonedLock(path)).toBeUndefined();
    await expect(withLock(path, async () => undefined, { waitMs: 0 })).rejects.toMatchObject({
      kind: "Locked",
    });
  });
  expect(await readdir(dir)).toEqual([]);
});

it("a process is identified by its id and its start time", async () => {
  const identity = await ownIdentity();
  expect(await isRunning(identity)).toBe(true);
  expect(await isRunning({ ...identity, started: "1" })).toBe(false);
  expect(await isRunning({ pid: NOT_RUNNING, started: identity.started })).toBe(false);
});

it("processes that find abandoned locks never hold one concurrently", { timeout: 60_000 }, async () => {
  const [processes, rounds] = [5, 30];
  const built = fileURLToPath(new URL("../../../dist/lib/files/lock.js", import.meta.url));
  // A read followed by a write: two concurrent owners would lose a count. Each leaves a lock like one of a killed process.
  const script = `
    const { withLock } = await import(process.argv[1]);
    const { readFile, writeFile, link, rm } = await import("node:fs/promises");
    const path = process.argv[2];
    for (let round = 0; round < ${rounds}; round++) {
      await withLock(path, async () => {
        const count = Number(await readFile(path, "utf8"));
        await new Promise((resolve) => setTimeout(resolve, 1));
        await writeFile(path, String(count + 1));
      }, { waitMs: 50_000 });
      const abandoned = path + "." + process.pid;
      await writeFile(abandoned, JSON.stringify({ pid: ${NOT_RUNNING}, started: "1", nonce: process.pid + "-" + round }));
      await link(abandoned, path + ".lock").catch(() => undefined);
      await rm(abandoned);
    }`;
  await writeFile(path, "0");
  const run = promisify(execFile);
  const one = () => run(process.execPath, ["--input-type=module", "-e", script, built, path], { timeout: 55_000 });
  await Promise.all(Array.from({ length: processes }, one));
  expect(await readFile(path, "utf8")).toBe(String(processes * rounds));
});
