// F47: a thousand sessions for ten minutes, with a new fault every second.

import { setTimeout as sleep } from "node:timers/promises";
import { expect, it } from "vitest";
import { fixture, makeHome } from "../../support/hub.ts";
import { connect } from "../../support/rpc.ts";
import { knock, spedUp } from "../../support/wall-clock.ts";
import { OTHER, type FaultHub } from "../fault-hub.ts";
import { memoryOf } from "../post-conditions.ts";
import { family } from "../rows.ts";
import type { Fault, Scenario } from "../scenario.ts";
import { collectGarbage, COLLECTING, growth, heapOf, lowest, toMegabytes } from "./memory.ts";
import { seededRandom, type Random } from "./random.ts";
import { upTo } from "../../support/scale.ts";

const SESSIONS = upTo(1000);
const MINUTES = upTo(10);
const SPEED = 1;
/** About a hundred calls per second from a thousand sessions, for a small machine. */
const PAUSE_MS = 10_000;
const GROWTH = 0.05;
/** Concurrent faults while the hub warms up. */
const AT_ONCE = 4;
/** The number of events of each kind that the hub keeps (event-log.ts). */
const EVENTS = 1000;

const STDIO: readonly Fault[] = [
  { do: "exit", code: 7 },
  { do: "signal", signal: "SIGKILL" },
  { do: "half" },
  { do: "silence" },
  { do: "twice" },
  { do: "wrongId", ids: [0, 5, "text"] },
  { do: "garbage", lines: ["[]", "{", "null"] },
  { do: "slices", size: 1 },
  { do: "huge", bytes: 20 << 20 },
  { do: "flood", count: 10_000 },
  { do: "floodStderr", bytes: 4 << 20 },
  { do: "closeStdout" },
  { do: "freeze" },
  { do: "fork", detached: true },
];

const HTTP: readonly Fault[] = [
  ...[400, 401, 404, 429, 500, 502, 503].map((status): Fault => ({ do: "status", status })),
  { do: "reset" },
  { do: "reset", bytes: 60 },
  { do: "sseCut" },
  { do: "sse", reports: 3, pad: 4096 },
  { do: "body", body: "<html>" },
  { do: "silence" },
  { do: "forget" },
  { do: "exit" },
];

const TRANSPORTS = ["stdio", "http"] as const;
const ERAS = ["legacy", "modern"] as const;

const faultsOf = (transport: (typeof TRANSPORTS)[number]) => (transport === "http" ? HTTP : STDIO);

function randomScenario(random: Random): Scenario {
  const transport = random.pick(TRANSPORTS);
  return { transport, era: random.pick(ERAS), steps: [{ ...random.pick(faultsOf(transport)), nth: 1 }] };
}

const EVERY_SCENARIO: readonly Scenario[] = TRANSPORTS.flatMap((transport) =>
  ERAS.flatMap((era) => faultsOf(transport).map((fault) => ({ transport, era, steps: [{ ...fault, nth: 1 }] }))),
);

/** Timeouts for servers and clients, which run in real time. */
const patient = (requestMs: number) => ({ timeouts: { requestMs: requestMs * SPEED, startMs: 30_000 * SPEED } });

const patiently = <T>(request: () => Promise<T>): Promise<T> => (SPEED === 1 ? request() : knock(request));

/** The default hub, or one with accelerated clocks. */
const OPTIONS =
  SPEED === 1
    ? { env: COLLECTING }
    : {
        home: await makeHome({ [OTHER]: { ...fixture("echo"), ...patient(30_000) } }),
        env: { ...spedUp(SPEED), ...COLLECTING },
      };

async function oneFault(hub: FaultHub, scenario: Scenario): Promise<void> {
  try {
    const { name } = await hub.add(scenario, patient(1500));
    await hub.call(name, "act");
  } catch (error) {
    // With accelerated clocks, a request of the test may have timed out.
    if (SPEED === 1) throw error;
  }
}

/** Removes the servers and forgets their outcomes. */
async function clear(hub: FaultHub): Promise<void> {
  for (const name of hub.added.keys()) await patiently(() => hub.remove(name));
  hub.outcomes.splice(0);
  hub.events.messages.all.splice(0, Math.max(0, hub.events.messages.all.length - 1000));
}

/**
 * Fills everything that is bounded before memory is measured: the hub keeps the last thousand events of each kind, code is
 * compiled on use, and buffers are reused. Growth after that is a leak.
 */
async function warmUp(hub: FaultHub): Promise<void> {
  for (let at = 0; at < EVERY_SCENARIO.length; at += AT_ONCE) {
    await Promise.all(EVERY_SCENARIO.slice(at, at + AT_ONCE).map((scenario) => oneFault(hub, scenario)));
    await clear(hub);
  }
  // Each update changes the config, the catalog and the state of the server.
  const { name } = await hub.add({ transport: "http" }, patient(30_000));
  for (let n = 0; n < EVENTS; n++) {
    await patiently(() => hub.api(`/servers/${name}`, { method: "PATCH", body: { enabled: n % 2 === 1 } }));
  }
  await clear(hub);
}

family(
  "chaos",
  ({ hub }) => {
    it(`F47 ${SESSIONS} sessions for ${MINUTES} minutes at speed ${SPEED}, a fault every second: no session notices`, async () => {
      const random = seededRandom("chaos");
      const url = `${hub().running.url}/mcp`;
      let endAt = Infinity;
      let calls = 0;
      const wrong: unknown[] = [];
      const session = async (n: number) => {
        await sleep((PAUSE_MS / SESSIONS) * n);
        const client = await patiently(() => connect(url));
        for (let turn = 0; performance.now() < endAt; turn++) {
          const text = `${n}.${turn}`;
          const { result } = await patiently(() =>
            client.request("tools/call", { name: `${OTHER}:echo`, arguments: { text } }),
          );
          if (result?.content?.[0]?.text !== text) wrong.push([text, result]);
          calls++;
          await sleep(PAUSE_MS);
        }
      };
      const sessions = Promise.allSettled(Array.from({ length: SESSIONS }, (_, n) => session(n)));
      await warmUp(hub());
      endAt = performance.now() + MINUTES * 60_000;
      const used = { heap: [] as number[], all: [] as number[] };
      let faults = 0;
      while (performance.now() < endAt) {
        await Promise.all([oneFault(hub(), randomScenario(random)), sleep(1000)]);
        await clear(hub());
        await collectGarbage(hub());
        used.heap.push(await heapOf(hub()));
        used.all.push(memoryOf(hub().pid, "VmRSS") / 1e6);
        faults++;
      }
      const failed = (await sessions).filter(({ status }) => status === "rejected");
      const [heap, all] = [lowest(used.heap), lowest(used.all)];
      process.stderr.write(
        `${calls} calls of ${SESSIONS} sessions beside ${faults} faults: ${wrong.length} wrong, ${failed.length} failed, memory at its lowest ${toMegabytes(all)}, heap ${toMegabytes(heap)}\n`,
      );
      expect([wrong, failed]).toEqual([[], []]);
      // An eighth of a short run is too short for a meaningful minimum.
      if (MINUTES >= 5) for (const lows of [heap, all]) expect(growth(lows)).toBeLessThan(GROWTH);
    });
  },
  OPTIONS,
);
