// Whenever and however the hub ends, no process is left and no acknowledged config is lost.

import { once } from "node:events";
import { setTimeout as sleep } from "node:timers/promises";
import { expect, it } from "vitest";
import { fixture, makeHome, startHub } from "../../support/hub.ts";
import { processesWithMark, untilNoneWithMark } from "../../support/processes.ts";
import { Upstream } from "../scenario.ts";
import { seededRandom } from "./random.ts";
import { upTo } from "../../support/scale.ts";

const CYCLES = upTo(1000);
/** Most of the time is spent waiting for a server that ignores SIGTERM. */
const LANES = 2;

it.each(["SIGKILL", "SIGTERM"] as const)(
  `LC-5 F41 F42 ${CYCLES} times %s at any moment: 0 processes left`,
  async (signal) => {
    const random = seededRandom(signal);
    let left = CYCLES;
    let most = 0;
    const lane = async () => {
      while (left-- > 0) most = Math.max(most, await cycle(signal, random.next() * 1500));
    };
    await Promise.all(Array.from({ length: LANES }, lane));
    process.stderr.write(
      `${CYCLES} times ${signal}: 0 left, the last process gone after ${Math.round(most)} ms at most\n`,
    );
  },
);

/** Starts a hub with servers of every kind, ends it after a while, and returns how long its processes took to exit. */
async function cycle(signal: "SIGKILL" | "SIGTERM", afterMs: number): Promise<number> {
  const dir = await makeHome(undefined);
  const stubborn = new Upstream(dir.dir, { ignoreEof: true, ignoreSigterm: true });
  const [echo = ""] = fixture("echo").args;
  const shell = { command: "sh", args: ["-c", `'${process.execPath}' '${echo}'; true`] };
  const home = await makeHome({ leaf: fixture("echo"), shell, stubborn: stubborn.command });
  try {
    const hub = await startHub(home, { ready: false });
    const exited = once(hub.process, "exit");
    await sleep(afterMs);
    hub.process.kill(signal);
    await exited;
    if (signal === "SIGTERM") {
      expect(hub.process.exitCode).toBe(0);
      expect(processesWithMark(home.mark)).toEqual([]);
      return 0;
    }
    return await untilNoneWithMark(home.mark, 1000);
  } finally {
    await home.remove();
    await dir.remove();
  }
}
