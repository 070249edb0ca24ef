import { execFile } from "node:child_process";
import { mkdtemp, readFile, readdir, rm, utimes, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { fileURLToPath } from "node:url";
import { promisify } from "node:util";
import { afterEach, beforeEach, describe, expect, it } from "vitest";
import { findAbandonedLock, removeAbandonedLock, withLock } from "./lock.ts";
import { isRunning, ownIdentity } from "./process-identity.ts";

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

describe("C7 an abandoned lock", () => {
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
    expect(await withLock(path, async () => "done", { patienceMs: 0 })).toBe("done");
    expect(await readdir(dir)).toEqual([]);
  });

  it("is waited for a moment where it does not say whose it is", async () => {
    await writeFile(lock, "1");
    expect(await findAbandonedLock(path)).toBeUndefined();
    expect(await withLock(path, async () => "done")).toBe("done");
  });

  it("is left to whoever removes it already, unless that one was killed too", async () => {
    await writeFile(lock, await own({ pid: NOT_RUNNING }));
    expect(await removeAbandonedLock(path)).toBe(true);
    expect(await removeAbandonedLock(path)).toBe(false);
  });
});

it("C7 a lock whose holder lives is respected", async () => {
  await withLock(path, async () => {
    expect(await findAbandonedLock(path)).toBeUndefined();
    await expect(withLock(path, async () => undefined, { patienceMs: 0 })).rejects.toMatchObject({
      kind: "StaleConfig",
    });
  });
  expect(await readdir(dir)).toEqual([]);
});

it("C7 a process is known by its id and its start", async () => {
  const identity = await ownIdentity();
  expect(await isRunning(identity)).toBe(true);
  expect(await isRunning({ ...identity, started: "1" })).toBe(false);
  expect(await isRunning({ pid: NOT_RUNNING, started: identity.started })).toBe(false);
});

it("C7 several processes that find abandoned locks never hold one at once", { timeout: 60_000 }, async () => {
  const [processes, rounds] = [5, 30];
  const built = fileURLToPath(new URL("../dist/lock.js", import.meta.url));
  // Reads and writes apart: two at once would lose a count. Each leaves a lock like one of a process that was killed.
  const script = `
    const { withLock } = await import(process.argv[1]);
    const { readFile, writeFile, link, rm } = await import("node:fs/promises");
    const path = process.argv[2];
    for (let round = 0; round < ${rounds}; round++) {
      await withLock(path, async () => {
        const count = Number(await readFile(path, "utf8"));
        await new Promise((resolve) => setTimeout(resolve, 1));
        await writeFile(path, String(count + 1));
      }, { patienceMs: 50_000 });
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
