// Which registry has a package name, with stand-ins for npm, uv and pip.

import { access, mkdtemp, readFile, rm, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { setImmediate } from "node:timers/promises";
import { afterEach, beforeEach, expect, it } from "vitest";
import { findInRegistries } from "./registries.ts";

let dir: string;
beforeEach(async () => {
  dir = await mkdtemp(join(tmpdir(), "plugboard-registries-"));
});
afterEach(() => rm(dir, { recursive: true, force: true }));

const program = (name: string, lines: string) => writeFile(join(dir, name), `#!/bin/sh\n${lines}\n`, { mode: 0o755 });
const io = () => ({ env: { PATH: `${dir}:/usr/bin:/bin`, DIR: dir }, home: dir });

it("one deadline covers all programs: a slow one is killed, and the next is not started", async () => {
  await program("npm", `echo $$ > "$DIR/npm"; echo '"it"'`);
  // Ignores SIGTERM, and leaves a child that keeps its output open.
  await program("uv", 'trap "" TERM; sleep 30 & echo $! > "$DIR/child"; touch "$DIR/uv-started"; wait');
  await program("pip", 'touch "$DIR/pip-started"');
  const deadline = new AbortController();
  const asked = findInRegistries("it", io(), deadline.signal);
  await expect.poll(() => exists("uv-started")).toBe(true);
  // npm's output has been read when its process is reaped.
  await expect.poll(async () => isThere(Number(await readFile(join(dir, "npm"), "utf8")))).toBe(false);
  await setImmediate();
  deadline.abort();
  expect(await asked).toEqual({ npm: expect.anything(), pypi: undefined });
  expect(await exists("pip-started")).toBe(false);
  process.kill(Number(await readFile(join(dir, "child"), "utf8")));
});

function exists(name: string): Promise<boolean> {
  return access(join(dir, name)).then(
    () => true,
    () => false,
  );
}

/** Whether the process exists, also as a zombie that is not reaped yet. */
function isThere(pid: number): boolean {
  try {
    return process.kill(pid, 0);
  } catch {
    return false;
  }
}
