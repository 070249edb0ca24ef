// LC-5: however the hub ends, nothing that it started is left. The hub is the built one and its servers are real ones:
// a plain process, one behind a shell, one that only SIGKILL ends, one that npx started.

import { once } from "node:events";
import { fileURLToPath } from "node:url";
import { describe, expect, it, vi } from "vitest";
import { fixture, makeHome, startHub, type Home, type RunningHub, type Servers } from "../support/hub.ts";
import {
  processesWithCommand,
  processesWithMark,
  seesTags,
  untilNoneWithMark,
  variableOf,
} from "../support/processes.ts";

const CHECKOUT = fileURLToPath(new URL("../..", import.meta.url));
const [ECHO = ""] = fixture("echo").args;

const LEAF = fixture("echo");
/** The shell stays: there is something left for it to do. */
const WRAPPED = { command: "sh", args: ["-c", `'${process.execPath}' '${ECHO}'; true`] };
const STUBBORN = fixture("stubborn");
const NPX = { command: "npx", args: ["-y", "@modelcontextprotocol/server-everything"], cwd: CHECKOUT, npm: "npx" };

const QUICK: Servers = { leaf: LEAF, wrapped: WRAPPED, stubborn: STUBBORN };
/** leaf, shell and server, stubborn */
const QUICK_PROCESSES = 4;

async function withHub<T>(servers: Servers, ready: boolean, use: (hub: RunningHub, home: Home) => Promise<T>) {
  const home = await makeHome(servers);
  const hub = await startHub(home, { ready });
  try {
    return await use(hub, home);
  } finally {
    await hub.kill();
    await home.remove();
  }
}

/** The watchdog carries no mark; it is known by the tag that its servers have. */
function guardOf(home: Home): () => number[] {
  const [pid = 0] = processesWithMark(home.mark);
  const instance = variableOf(pid, "PLUGBOARD_INSTANCE");
  expect(instance).toMatch(/^[0-9a-f-]{36}$/);
  return () => processesWithCommand(`plugboard-guard PLUGBOARD_INSTANCE=${instance}`);
}

/** Kills the hub so many times, two at once, and gives how long the last process took to go, each time. */
async function killed(times: number, servers: Servers, processes: number): Promise<number[]> {
  const gone: number[] = [];
  let left = times;
  const lane = async () => {
    while (left-- > 0) {
      await withHub(servers, true, async (hub, home) => {
        expect(processesWithMark(home.mark).length).toBeGreaterThanOrEqual(processes);
        const guard = guardOf(home);
        expect(guard()).toHaveLength(1);
        await hub.kill();
        gone.push(await untilNoneWithMark(home.mark, 1000));
        await vi.waitUntil(() => guard().length === 0, { timeout: 10_000 });
      });
    }
  };
  await Promise.all([lane(), lane()]);
  return gone;
}

function report(what: string, times: readonly number[]): void {
  const sorted = times.toSorted((a, b) => a - b).map(Math.round);
  process.stderr.write(
    `${what}: ${times.length} kills, 0 left, gone after ${sorted[sorted.length >> 1]} ms (median), ${sorted.at(-1)} ms (most)\n`,
  );
}

describe.runIf(seesTags)("a hub that is killed", () => {
  it("LC-5 F41 36 times SIGKILL with a leaf, a shell and a stubborn server: 0 processes a second later", async () => {
    const gone = await killed(36, QUICK, QUICK_PROCESSES);
    expect(gone).toHaveLength(36);
    report("leaf, shell, stubborn", gone);
  }, 300_000);

  it("LC-5 F41 4 times SIGKILL with a server that npx started as well: 0 processes a second later", async () => {
    // npm, perhaps a shell, and the server itself.
    const gone = await killed(4, { ...QUICK, npx: NPX }, QUICK_PROCESSES + 2);
    expect(gone).toHaveLength(4);
    report("with npx", gone);
  }, 300_000);

  it("LC-5 F41 10 times SIGKILL in the middle of the start: 0 processes a second later", async () => {
    for (let time = 0; time < 10; time++) {
      await withHub(QUICK, false, async (hub, home) => {
        // From before the first process to after the last one.
        await new Promise((resolve) => setTimeout(resolve, time * 20));
        await hub.kill();
        expect(await untilNoneWithMark(home.mark, 1000)).toBeLessThan(1000);
      });
    }
  }, 120_000);
});

describe.runIf(seesTags)("a hub that is told to stop", () => {
  it.concurrent.each(["SIGTERM", "SIGINT"] as const)(
    "LC-5 F42 on %s it exits 0, and nothing is left when it has",
    async (signal) => {
      await withHub({ ...QUICK, npx: NPX }, true, async (hub, home) => {
        const guard = guardOf(home);
        hub.process.kill(signal);
        await once(hub.process, "exit");
        expect(hub.process.exitCode).toBe(0);
        expect(processesWithMark(home.mark)).toEqual([]);
        await vi.waitUntil(() => guard().length === 0, { timeout: 10_000 });
        expect(hub.stderr()).not.toMatch(/unhandled|uncaught/i);
      });
    },
  );

  it("LC-5 5 times SIGTERM in the middle of the start: it exits 0, and nothing is left when it has", async () => {
    const servers = { ...QUICK, hung: fixture("hung"), slow: fixture("slow-start", "30000") };
    const stopped = (afterMs: number) =>
      withHub(servers, false, async (hub, home) => {
        await new Promise((resolve) => setTimeout(resolve, afterMs));
        expect(await hub.stop()).toBe(0);
        expect(processesWithMark(home.mark)).toEqual([]);
        expect(hub.stderr()).not.toMatch(/unhandled|uncaught/i);
      });
    // Side by side: each waits seconds for the one that only SIGKILL ends.
    await Promise.all([0, 30, 60, 90, 120].map(stopped));
  });

  it("LC-5 F42 a second signal ends it at once, and a second later nothing is left", async () => {
    await withHub({ stubborn: STUBBORN, leaf: LEAF }, true, async (hub, home) => {
      hub.process.kill("SIGINT");
      // Its other server has gone: the first signal is being obeyed.
      await vi.waitUntil(() => processesWithMark(home.mark).length === 1, { timeout: 10_000, interval: 10 });
      hub.process.kill("SIGINT");
      await once(hub.process, "exit");
      expect(hub.process.exitCode).toBe(130);
      await untilNoneWithMark(home.mark, 1000);
    });
  });
});
