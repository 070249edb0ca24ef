// LC-5: however the hub ends, none of its processes is left. The hub is the built one and its servers are real: a plain process,
// one behind a shell, one that only SIGKILL ends, one started by npx.

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
/** With a second command, so that the shell does not replace itself. */
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

/** The watchdog has no mark in its environment; its command line has the tag of its servers. */
function guardOf(home: Home): () => number[] {
  const [pid = 0] = processesWithMark(home.mark);
  const instance = variableOf(pid, "PLUGBOARD_INSTANCE");
  expect(instance).toMatch(/^[0-9a-f-]{36}$/);
  return () => processesWithCommand(`plugboard-guard PLUGBOARD_INSTANCE=${instance}`);
}

/** Kills the hub a number of times, two hubs at once. Returns how long the last process took to exit, for each kill. */
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
        gone.push(await untilNoneWithMark(home.mark));
        await expect.poll(guard).toEqual([]);
      });
    }
  };
  await Promise.all([lane(), lane()]);
  return gone;
}

/** Requires a median below a second: single kills may take longer on a busy machine. */
function requireSoon(what: string, times: readonly number[]): void {
  const sorted = times.toSorted((a, b) => a - b).map(Math.round);
  const median = sorted[sorted.length >> 1];
  process.stderr.write(
    `${what}: ${times.length} kills, 0 left after ${median} ms (median), ${sorted.at(-1)} ms (most)\n`,
  );
  expect(median).toBeLessThan(1000);
}

describe.runIf(seesTags)("a hub that is killed", () => {
  it("LC-5 F41 36 times SIGKILL with a plain process, a shell and a stubborn server: 0 processes a second later", async () => {
    const gone = await killed(36, QUICK, QUICK_PROCESSES);
    expect(gone).toHaveLength(36);
    requireSoon("leaf, shell, stubborn", gone);
  }, 300_000);

  it("LC-5 F41 4 times SIGKILL with a server started by npx: 0 processes a second later", async () => {
    // npm, possibly a shell, and the server itself.
    const gone = await killed(4, { ...QUICK, npx: NPX }, QUICK_PROCESSES + 2);
    expect(gone).toHaveLength(4);
    requireSoon("with npx", gone);
  }, 300_000);

  it("LC-5 F41 10 times SIGKILL during the start: 0 processes a second later", async () => {
    const gone: number[] = [];
    for (let time = 0; time < 10; time++) {
      await withHub(QUICK, false, async (hub, home) => {
        // From before the first process is started to after the last one.
        await new Promise((resolve) => setTimeout(resolve, time * 20));
        await hub.kill();
        gone.push(await untilNoneWithMark(home.mark));
      });
    }
    expect(gone).toHaveLength(10);
    requireSoon("during the start", gone);
  }, 120_000);
});

describe.runIf(seesTags)("a hub that gets a signal", () => {
  it.concurrent.each(["SIGTERM", "SIGINT"] as const)(
    "LC-5 F42 exits 0 on %s, after all processes have ended",
    async (signal) => {
      await withHub({ ...QUICK, npx: NPX }, true, async (hub, home) => {
        const guard = guardOf(home);
        hub.process.kill(signal);
        await once(hub.process, "exit");
        expect(hub.process.exitCode).toBe(0);
        expect(processesWithMark(home.mark)).toEqual([]);
        await vi.waitUntil(() => guard().length === 0, { timeout: 30_000 });
        expect(hub.stderr()).not.toMatch(/unhandled|uncaught/i);
      });
    },
  );

  it("LC-5 5 times SIGTERM during the start: it exits 0 after all processes have ended", async () => {
    const servers = { ...QUICK, hung: fixture("hung"), slow: fixture("slow-start", "30000") };
    const stopped = (afterMs: number) =>
      withHub(servers, false, async (hub, home) => {
        await new Promise((resolve) => setTimeout(resolve, afterMs));
        expect(await hub.stop()).toBe(0);
        expect(processesWithMark(home.mark)).toEqual([]);
        expect(hub.stderr()).not.toMatch(/unhandled|uncaught/i);
      });
    // Concurrent: each waits several seconds for SIGKILL.
    await Promise.all([0, 30, 60, 90, 120].map(stopped));
  });

  it("LC-5 F42 a second signal ends it at once, and no process is left", async () => {
    await withHub({ stubborn: STUBBORN, leaf: LEAF }, true, async (hub, home) => {
      hub.process.kill("SIGINT");
      // The other server has exited: the hub is handling the first signal.
      await expect.poll(() => processesWithMark(home.mark), { interval: 10 }).toHaveLength(1);
      hub.process.kill("SIGINT");
      await once(hub.process, "exit");
      expect(hub.process.exitCode).toBe(130);
      await untilNoneWithMark(home.mark);
    });
  });
});
