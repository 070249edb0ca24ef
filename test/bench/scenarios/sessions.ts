// A thousand open sessions: the memory of each. A new process for each round, because memory is not returned.

import { setTimeout as sleep } from "node:timers/promises";
import { calls } from "../phase.ts";
import { seesProcesses } from "../process-tree.ts";
import { mcpHub, mcpProxy } from "../targets/peers.ts";
import { plugboard } from "../targets/plugboard.ts";
import { thin } from "../targets/floor.ts";
import type { UpstreamPlan } from "../targets/target.ts";
import { enter, rotated, type Bench, type Entrant, type Sample, type Scenario } from "./scenario.ts";

const SESSIONS = 1000;
const SETTLE_MS = 500;
const WARM_MS = 2000;
/** Opening them takes longer than a slice. */
const MAX_ROUNDS = 2;

const plan: UpstreamPlan = { transport: "stdio", era: "legacy", servers: 1, tools: 2 };
const entrants: readonly Entrant[] = [
  { target: thin, plan, clientEra: "legacy" },
  { target: plugboard, plan, clientEra: "legacy" },
  { target: mcpHub, plan, clientEra: "legacy", isPeer: true },
  { target: mcpProxy, plan, clientEra: "legacy", isPeer: true },
];

export const sessions: Scenario = {
  name: "sessions",
  title: `${SESSIONS} open sessions`,
  run: async (bench) => {
    const samples: Sample[] = [];
    for (let round = 0; round < Math.min(bench.rounds, MAX_ROUNDS); round++) {
      for (const entrant of rotated(entrants, round)) {
        const sample = await openMany(bench, entrant, round);
        if (sample !== undefined) samples.push(sample);
      }
    }
    return samples;
  },
};

async function openMany(bench: Bench, entrant: Entrant, round: number): Promise<Sample | undefined> {
  const contender = await enter(bench, entrant);
  if (contender === undefined) return undefined;
  try {
    // The first calls and sessions load code and grow the heap for short-lived objects once, which later sessions do not.
    await contender.measure(calls("100 B", 64), WARM_MS);
    await sleep(SETTLE_MS);
    const memory = contender.residentKb();
    const cpu = contender.cpuTime();
    await contender.link.openSessions(SESSIONS);
    const cpuUs = (contender.cpuTime() - cpu) / SESSIONS;
    await sleep(SETTLE_MS);
    const kbEach = (contender.residentKb() - memory) / SESSIONS;
    return { target: contender.label, phase: "open", round, figures: seesProcesses ? { kbEach, cpuUs } : {} };
  } finally {
    await contender.close();
  }
}
