// CF-8: a save survives a kill at any moment. Real processes save in a loop and are killed with SIGKILL at random moments; after
// each kill every file must contain the complete old or new text.

import { spawn } from "node:child_process";
import { once } from "node:events";
import { mkdir, mkdtemp, readFile, readdir, rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { setTimeout as sleep } from "node:timers/promises";
import { fileURLToPath } from "node:url";
import { expect, it } from "vitest";
import { ConfigFiles } from "../../hub/src/config/files/config-files.ts";
import { scaled } from "../support/scale.ts";

const KILLED_SAVES = scaled(50, 500);
/** Starting a process costs more than all its saves, so each process saves in several folders. */
const FOLDERS = 4;
const LANES = 3;
/** The duration of several saves, so that kills hit every part of a save. */
const MAX_DELAY_MS = 60;
const SAVE_LOOP = fileURLToPath(new URL("../fixtures/save-loop.mjs", import.meta.url));

const variant = (letter: string) => ({ command: letter, args: Array.from({ length: 50 }, () => letter.repeat(20)) });
const [a, b] = [variant("a"), variant("b")];

it(
  `CF-8 ${KILLED_SAVES} saves killed at random moments leave the old or the new file`,
  { timeout: 300_000 },
  async () => {
    const root = await mkdtemp(join(tmpdir(), "plugboard-kill-"));
    try {
      const tally: Tally = { killed: 0, temps: 0, a: 0, b: 0 };
      const lanes = Array.from({ length: LANES }, (_, lane) => runLane(join(root, String(lane)), tally));
      // Waits for all lanes, also after a failure: a running lane would write into the removed folder.
      for (const lane of await Promise.allSettled(lanes)) if (lane.status === "rejected") throw lane.reason;
      expect(tally.killed).toBeGreaterThanOrEqual(KILLED_SAVES);
      // Proves that kills happened during saves: many left a temporary file, and both texts were found.
      expect(tally.temps).toBeGreaterThan(10);
      expect(Math.min(tally.a, tally.b)).toBeGreaterThan(0);
    } finally {
      await rm(root, { recursive: true, force: true });
    }
  },
);

interface Tally {
  killed: number;
  /** Kills that left a temporary file. */
  temps: number;
  /** How often each text was found after a kill. */
  a: number;
  b: number;
}

async function runLane(lane: string, tally: Tally): Promise<void> {
  const dirs = Array.from({ length: FOLDERS }, (_, index) => join(lane, String(index)));
  const texts = await Promise.all(dirs.map(prepare));
  while (tally.killed < KILLED_SAVES) {
    await killDuringSave(dirs);
    for (const [index, dir] of dirs.entries()) await check(dir, texts[index], tally);
  }
}

/** The two texts that the file may contain from now on. */
async function prepare(dir: string): Promise<{ a: string; b: string }> {
  await mkdir(dir, { recursive: true });
  const files = new ConfigFiles(dir);
  await files.createServer({ name: "s", ...a });
  const textA = await readFile(join(dir, "mcp_server.json"), "utf8");
  await files.updateServer("s", b);
  return { a: textA, b: await readFile(join(dir, "mcp_server.json"), "utf8") };
}

async function check(dir: string, texts: { a: string; b: string } | undefined, tally: Tally): Promise<void> {
  const text = await readFile(join(dir, "mcp_server.json"), "utf8");
  tally.killed++;
  if (text === texts?.a) tally.a++;
  else if (text === texts?.b) tally.b++;
  else expect.fail(`Neither text is in the file: ${text.length} characters`);
  if ((await readdir(dir)).length > 1) tally.temps++;
  expect((await new ConfigFiles(dir).load()).config.servers).toHaveLength(1);
  expect(await readdir(dir)).toEqual(["mcp_server.json"]);
}

async function killDuringSave(dirs: readonly string[]): Promise<void> {
  const child = spawn(process.execPath, [SAVE_LOOP, JSON.stringify(a), JSON.stringify(b), ...dirs], {
    stdio: ["ignore", "pipe", "inherit"],
  });
  const exited = once(child, "exit");
  // A child that fails by itself is detected by its exit code below.
  await Promise.race([once(child.stdout, "data"), exited]);
  await sleep(Math.random() * MAX_DELAY_MS);
  child.kill("SIGKILL");
  expect(await exited).toEqual([null, "SIGKILL"]);
}
