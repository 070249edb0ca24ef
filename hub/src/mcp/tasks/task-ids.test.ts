// Encrypted task ids: round trip, owners, and the key file.

import { existsSync } from "node:fs";
import { mkdtemp, rm, stat, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { describe, expect, it, onTestFinished } from "vitest";
import { TaskIds } from "./task-ids.ts";

const task = { server: "files", taskId: "1 ü" };
const owner = { era: "modern", principal: "anna" } as const;

async function keyPath(): Promise<string> {
  const dir = await mkdtemp(join(tmpdir(), "plugboard-test-"));
  onTestFinished(() => rm(dir, { recursive: true, force: true }));
  return join(dir, "task-ids.key");
}

describe("TaskIds", () => {
  it("GR-7 a task has one id that reveals nothing and fits a header; other tasks have others", () => {
    const ids = new TaskIds();
    const id = ids.seal(task, owner);
    expect(ids.seal(task, owner)).toBe(id);
    expect(ids.open(id, owner)).toEqual(task);
    expect(id).toMatch(/^[\w-]+$/);
    expect(Buffer.from(id, "base64url").includes("files")).toBe(false);
    const others = [
      ids.seal({ ...task, taskId: "2" }, owner),
      ids.seal({ ...task, server: "other" }, owner),
      ids.seal(task, { ...owner, principal: "antti" }),
      ids.seal(task, { ...owner, era: "legacy" }),
    ];
    expect(new Set([id, ...others]).size).toBe(5);
  });

  it("GR-7 SE-5 refuses ids that were changed, or are another owner's or another hub's", () => {
    const ids = new TaskIds();
    const id = ids.seal(task, owner);
    expect(ids.open(id, { ...owner, principal: "antti" })).toBeUndefined();
    expect(ids.open(id, { ...owner, era: "legacy" })).toBeUndefined();
    expect(new TaskIds().open(id, owner)).toBeUndefined();
    for (let at = 0; at < id.length; at++) {
      for (const other of ["A", "b", "_", "=", "."]) {
        const changed = id.slice(0, at) + other + id.slice(at + 1);
        if (changed !== id) expect([changed, ids.open(changed, owner)]).toEqual([changed, undefined]);
      }
      expect(ids.open(id.slice(0, at), owner)).toBeUndefined();
    }
    for (const odd of [`${id}A`, `${id}\n`, "", undefined, 1, "A".repeat(5000)]) {
      expect(ids.open(odd, owner)).toBeUndefined();
    }
  });

  it("GR-7 the key is saved with the first task, readable for its owner only, and the next hub uses it", async () => {
    const path = await keyPath();
    const first = await TaskIds.open(path);
    await first.saved();
    expect(existsSync(path)).toBe(false);
    const id = first.seal(task, owner);
    await first.saved();
    expect((await stat(path)).mode & 0o777).toBe(0o600);
    expect((await TaskIds.open(path)).open(id, owner)).toEqual(task);
  });

  it("GR-7 a key that is damaged or cannot be written does not fail", async () => {
    const path = await keyPath();
    await writeFile(path, "not a key\n", { mode: 0o600 });
    const ids = await TaskIds.open(path);
    const id = ids.seal(task, owner);
    await ids.saved();
    expect((await TaskIds.open(path)).open(id, owner)).toEqual(task);
    const nowhere = await TaskIds.open(join(path, "below-a-file"));
    expect(nowhere.open(nowhere.seal(task, owner), owner)).toEqual(task);
    await nowhere.saved();
  });
});
