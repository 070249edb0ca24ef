// SE-1: a key rotation survives a kill at any moment. Real processes rotate in a loop and are killed with SIGKILL at random
// moments; after each kill every secret must be readable. The next process continues with the files of the killed one.

import { spawn, type ChildProcessByStdio } from "node:child_process";
import { once } from "node:events";
import { access, mkdtemp, readdir, rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import type { Readable } from "node:stream";
import { setTimeout as sleep } from "node:timers/promises";
import { fileURLToPath } from "node:url";
import { expect, it } from "vitest";
import { FileSecrets } from "../../hub/src/secrets/file-store.ts";
import { scaled } from "../support/scale.ts";

const KILLS = scaled(25, 200);
/** Starting a process costs more than many rotations, so each process rotates in several folders. */
const FOLDERS = 4;
/** The duration of several rotations, so that kills hit every part of a rotation. */
const MAX_DELAY_MS = 60;
const LOOP = fileURLToPath(new URL("../fixtures/rotate-loop.mjs", import.meta.url));
const NAMES = Array.from({ length: 5 }, (_, index) => `secret-${index}`);
const valueOf = (name: string) => `value of ${name}`;

type Child = ChildProcessByStdio<null, Readable, null>;

function start(action: "rotate" | "set", dirs: readonly string[]): Child {
  return spawn(process.execPath, [LOOP, action, ...dirs], { stdio: ["ignore", "pipe", "inherit"] });
}

async function kill(child: Child, exited: Promise<unknown>): Promise<void> {
  child.kill("SIGKILL");
  // A child that fails by itself has an exit code.
  expect(await exited).toEqual([null, "SIGKILL"]);
}

async function prepare(): Promise<{ root: string; dirs: string[] }> {
  const root = await mkdtemp(join(tmpdir(), "plugboard-rotation-kill-"));
  const dirs = Array.from({ length: FOLDERS }, (_, index) => join(root, String(index)));
  for (const dir of dirs) for (const name of NAMES) await new FileSecrets(dir).set(name, valueOf(name));
  return { root, dirs };
}

async function requireAll(dir: string): Promise<void> {
  const secrets = new FileSecrets(dir);
  for (const name of NAMES) expect(await secrets.get(name)).toBe(valueOf(name));
}

const exists = (path: string) =>
  access(path).then(
    () => true,
    () => false,
  );

it(`SE-1 ${KILLS} kills at random moments leave every secret readable`, { timeout: 300_000 }, async () => {
  const { root, dirs } = await prepare();
  try {
    let [killed, midway] = [0, 0];
    while (killed < KILLS) {
      const child = start("rotate", dirs);
      const exited = once(child, "exit");
      await Promise.race([once(child.stdout, "data"), exited]);
      await sleep(Math.random() * MAX_DELAY_MS);
      await kill(child, exited);
      for (const dir of dirs) {
        killed++;
        if (await exists(join(dir, "secrets/master.key.next"))) midway++;
        await requireAll(dir);
      }
    }
    // Proves that kills happened during rotations.
    expect(midway).toBeGreaterThan(killed / 10);
    for (const dir of dirs) {
      expect(await new FileSecrets(dir).rotateKey()).toBe(NAMES.length);
      await requireAll(dir);
      const left = (await readdir(join(dir, "secrets"))).filter((name) => !/^mcp_.+\.key$/.test(name));
      expect(left).toEqual(["master.key"]);
      expect(await readdir(dir)).toEqual(["secrets"]);
    }
  } finally {
    await rm(root, { recursive: true, force: true });
  }
});

it("SE-1 a secret that one process stores survives the kill of another that rotates the key", async () => {
  const { root, dirs } = await prepare();
  const setter = start("set", dirs);
  const ended = once(setter, "exit");
  let output = "";
  setter.stdout.setEncoding("utf8").on("data", (chunk) => (output += chunk));
  const stored = () => Number(output.split("\n").at(-2)) || 0;
  try {
    for (let turn = 0; turn < 5; turn++) {
      const child = start("rotate", dirs);
      const exited = once(child, "exit");
      await Promise.race([once(child.stdout, "data"), exited]);
      const before = stored();
      while (stored() === before && setter.exitCode === null) await Promise.race([once(setter.stdout, "data"), ended]);
      await kill(child, exited);
      for (const dir of dirs) {
        await requireAll(dir);
        expect(Number(await new FileSecrets(dir).get("changing"))).toBeGreaterThanOrEqual(before);
      }
    }
    await kill(setter, ended);
    for (const dir of dirs) expect(Number(await new FileSecrets(dir).get("changing"))).toBeGreaterThanOrEqual(stored());
  } finally {
    setter.kill("SIGKILL");
    await rm(root, { recursive: true, force: true });
  }
}, 60_000);
