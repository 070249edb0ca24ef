// A time of day for one process that a test can set while it runs, and speed up: libfaketime's work. The children of the hub
// do not have it, since they get next to nothing of its environment.

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

  /** For the process whose clock it is. Only the time of day: what runs by the time since the start is not touched. */
  get env(): Readonly<Record<string, string>> {
    return {
      LD_PRELOAD: LIBRARY ?? "",
      FAKETIME_TIMESTAMP_FILE: this.#file,
      FAKETIME_NO_CACHE: "1",
      FAKETIME_DONT_FAKE_MONOTONIC: "1",
      NO_FAKE_STAT: "1",
    };
  }

  /** From now on, and at once: `+1d`, `-3d`, `+90` (seconds). */
  set(offset: string): void {
    writeFileSync(this.#file, offset);
  }

  remove(): void {
    rmSync(this.#dir, { recursive: true, force: true });
  }
}

/** The environment of a process for which all clocks go so many times as fast. */
export function spedUp(times: number): Readonly<Record<string, string>> {
  return { LD_PRELOAD: LIBRARY ?? "", FAKETIME: `+0 x${times}`, NO_FAKE_STAT: "1" };
}

/** A client that is slow for a moment is slow for minutes to a hub whose clocks are sped up, and shown the door: then it knocks again. */
export async function knock<T>(request: () => Promise<T>, isAnswer: (given: T) => boolean = () => true): Promise<T> {
  for (let tries = 0; tries < 20; tries++) {
    const given = await request().catch(() => undefined);
    if (given !== undefined && isAnswer(given)) return given;
  }
  throw new Error("The hub does not answer any more");
}
