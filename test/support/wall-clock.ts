// A wall clock for one process that a test can set and accelerate while it runs, with libfaketime. The children of the hub do not
// have it, because they get little of its environment.

import { spawnSync } from "node:child_process";
import { existsSync, mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";

const INSTALL = "apt-get install -y --no-install-recommends libfaketime";
const LIBRARY = ["x86_64", "aarch64"]
  .map((machine) => `/usr/lib/${machine}-linux-gnu/faketime/libfaketime.so.1`)
  .find((path) => existsSync(path));

const NOW = ["-p", "Date.now()"];
const dateUnder = (env: Readonly<Record<string, string>>) =>
  Number(spawnSync(process.execPath, NOW, { env, encoding: "utf8" }).stdout);

export const canSetClock = LIBRARY !== undefined && dateUnder({ LD_PRELOAD: LIBRARY, FAKETIME: "-10d" }) < Date.now();
if (!canSetClock) process.stderr.write(`The time of day cannot be set, and its tests are skipped: ${INSTALL}\n`);

export class WallClock {
  readonly #dir = mkdtempSync(join(tmpdir(), "plugboard-clock-"));
  readonly #file = join(this.#dir, "offset");

  constructor() {
    this.set("+0");
  }

  /** The environment of the process. Only the wall clock is changed, not the monotonic clock. */
  get env(): Readonly<Record<string, string>> {
    return {
      LD_PRELOAD: LIBRARY ?? "",
      FAKETIME_TIMESTAMP_FILE: this.#file,
      FAKETIME_NO_CACHE: "1",
      FAKETIME_DONT_FAKE_MONOTONIC: "1",
      NO_FAKE_STAT: "1",
    };
  }

  /** Sets the offset at once: `+1d`, `-3d`, `+90` (seconds). */
  set(offset: string): void {
    writeFileSync(this.#file, offset);
  }

  remove(): void {
    rmSync(this.#dir, { recursive: true, force: true });
  }
}

/** The environment of a process whose clocks all run this many times as fast. */
export function spedUp(times: number): Readonly<Record<string, string>> {
  return { LD_PRELOAD: LIBRARY ?? "", FAKETIME: `+0 x${times}`, NO_FAKE_STAT: "1" };
}

/** Repeats a request that timed out: a short delay of the client is minutes for a hub with accelerated clocks. */
export async function knock<T>(request: () => Promise<T>, isAnswer: (given: T) => boolean = () => true): Promise<T> {
  for (let tries = 0; tries < 20; tries++) {
    const given = await request().catch(() => undefined);
    if (given !== undefined && isAnswer(given)) return given;
  }
  throw new Error("The hub does not answer any more");
}
