// Atomic writes: the content and mode of the file, and what a failed write leaves.

import { watch } from "node:fs";
import { lstat, mkdir, mkdtemp, readFile, readdir, rm, stat, symlink, utimes, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterEach, beforeEach, describe, expect, it } from "vitest";
import { createFileExclusive, removeStaleTemps, writeFileAtomic } from "./atomic.ts";

let dir: string;
beforeEach(async () => {
  dir = await mkdtemp(join(tmpdir(), "plugboard-atomic-"));
});
afterEach(async () => {
  await rm(dir, { recursive: true, force: true });
});

const modeOf = async (path: string) => (await stat(path)).mode & 0o777;

describe("writeFileAtomic", () => {
  it("CF-8 writes and replaces, and leaves no temporary file", async () => {
    const path = join(dir, "new", "a.json");
    await writeFileAtomic(path, "one", { mode: 0o600 });
    await writeFileAtomic(path, "two", { mode: 0o600 });
    expect(await readFile(path, "utf8")).toBe("two");
    expect(await readdir(join(dir, "new"))).toEqual(["a.json"]);
  });

  it.each([0o000, 0o022, 0o077])("T13 sets exactly the requested mode under umask %o", async (umask) => {
    const before = process.umask(umask);
    try {
      for (const mode of [0o600, 0o640]) {
        const path = join(dir, `m${mode}`, "f");
        await writeFileAtomic(path, "x", { mode });
        expect(await modeOf(path)).toBe(mode);
        expect((await modeOf(join(dir, `m${mode}`))) & 0o077).toBe(0);
      }
    } finally {
      process.umask(before);
    }
  });

  it("follows links to the real file, also if the file does not exist yet", async () => {
    const real = join(dir, "dotfiles", "real.json");
    await mkdir(join(dir, "dotfiles"));
    await symlink("dotfiles/real.json", join(dir, "middle"));
    await symlink("middle", join(dir, "link.json"));
    for (const text of ["one", "two"]) {
      await writeFileAtomic(join(dir, "link.json"), text, { mode: 0o600 });
      expect(await readFile(real, "utf8")).toBe(text);
    }
    expect((await lstat(join(dir, "link.json"))).isSymbolicLink()).toBe(true);
    expect(await readdir(join(dir, "dotfiles"))).toEqual(["real.json"]);
  });

  it("after a failure, removes its temporary file and keeps the old file", async () => {
    await mkdir(join(dir, "taken", "inside"), { recursive: true });
    await expect(writeFileAtomic(join(dir, "taken"), "x", { mode: 0o600 })).rejects.toMatchObject({ code: "EISDIR" });
    await symlink("loop", join(dir, "loop"));
    await expect(writeFileAtomic(join(dir, "loop"), "x", { mode: 0o600 })).rejects.toMatchObject({ code: "ELOOP" });
    expect((await readdir(dir)).toSorted()).toEqual(["loop", "taken"]);
  });

  it("CF-8 concurrent writers leave one complete text", async () => {
    const path = join(dir, "f");
    const texts = Array.from({ length: 20 }, (_, index) => String(index).repeat(10_000));
    await Promise.all(texts.map((text) => writeFileAtomic(path, text, { mode: 0o600 })));
    expect(texts).toContain(await readFile(path, "utf8"));
    expect(await readdir(dir)).toEqual(["f"]);
  });
});

describe("createFileExclusive", () => {
  it("creates a file once, for any number of concurrent callers", async () => {
    const path = join(dir, "key");
    const made = await Promise.all(["a", "b", "c"].map((text) => createFileExclusive(path, text, { mode: 0o600 })));
    expect(made.filter(Boolean)).toHaveLength(1);
    expect(await readFile(path, "utf8")).toBe("abc"[made.indexOf(true)]);
    expect(await modeOf(path)).toBe(0o600);
    expect(await readdir(dir)).toEqual(["key"]);
  });

  it("T17 does not write through a planted link", async () => {
    await writeFile(join(dir, "victim"), "mine");
    await symlink("victim", join(dir, "key"));
    expect(await createFileExclusive(join(dir, "key"), "x", { mode: 0o600 })).toBe(false);
    expect(await readFile(join(dir, "victim"), "utf8")).toBe("mine");
  });
});

/** Above the largest pid of Linux. */
const deadPid = 4_194_305;
const temp = (pid: number) => join(dir, `.a.json.${pid}.${"0".repeat(16)}.tmp`);

describe("removeStaleTemps", () => {
  it("removes temporary files of dead writers and very old ones, and nothing else", async () => {
    const kept = ["a.json", ".other.tmp", ".a.json.1.tmp"].map((name) => join(dir, name));
    for (const path of [...kept, temp(deadPid), temp(process.pid), temp(1)]) await writeFile(path, "");
    const longAgo = new Date(Date.now() - 2 * 3_600_000);
    await utimes(temp(1), longAgo, longAgo);
    expect((await removeStaleTemps(dir)).toSorted()).toEqual([temp(deadPid), temp(1)].toSorted());
    expect((await readdir(dir)).map((name) => join(dir, name)).toSorted()).toEqual(
      [...kept, temp(process.pid)].toSorted(),
    );
  });

  it("does nothing without a folder", async () => {
    expect(await removeStaleTemps(join(dir, "none"))).toEqual([]);
  });

  it("recognises the temporary files of writeFileAtomic", async () => {
    const seen = new Set<string>();
    const watcher = watch(dir, (_event, name) => seen.add(name ?? ""));
    await writeFileAtomic(join(dir, "f"), "x", { mode: 0o600 });
    await expect.poll(() => seen).toContain("f");
    watcher.close();
    const [name = ""] = [...seen].filter((other) => other !== "f");
    await writeFile(join(dir, name.replace(/\d+/, String(deadPid))), "");
    expect(await removeStaleTemps(dir)).toHaveLength(1);
  });
});
