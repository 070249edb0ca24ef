// From the start of a program to the first result of a tool, and its memory when idle.

import { setTimeout as sleep } from "node:timers/promises";
import { seesProcesses } from "../process-tree.ts";
import { direct, thin, thinBridge } from "../targets/floor.ts";
import {
  goProxy,
  mcpHub,
  mcpProxy,
  pythonProxy,
  rustProxy,
  supergateway,
  supergatewayBridge,
} from "../targets/peers.ts";
import { plugboard, plugboardBridge, plugboardOwn } from "../targets/plugboard.ts";
import type { Target, UpstreamPlan } from "../targets/target.ts";
import { enter, rotated, type Entrant, type Sample, type Scenario } from "./scenario.ts";

const IDLE_MS = 1000;
const MAX_ROUNDS = 3;

const stdio: UpstreamPlan = { transport: "stdio", era: "legacy", servers: 1, tools: 2 };
const http: UpstreamPlan = { ...stdio, transport: "http" };
const entrant = (target: Target, plan: UpstreamPlan, isPeer = false): Entrant => ({
  target,
  plan,
  clientEra: "legacy",
  isPeer,
});

const entrants: readonly Entrant[] = [
  entrant(direct, stdio),
  entrant(thin, stdio),
  entrant(plugboard, stdio),
  entrant(rustProxy, stdio, true),
  entrant(goProxy, stdio, true),
  entrant(mcpHub, stdio, true),
  entrant(mcpProxy, stdio, true),
  entrant(supergateway, stdio, true),
  entrant(pythonProxy, stdio, true),
  entrant(thinBridge, http),
  entrant(plugboardBridge, http),
  entrant(plugboardOwn, http),
  entrant(supergatewayBridge, http, true),
];

export const starts: Scenario = {
  name: "starts",
  title: "Start to first call, and idle memory",
  run: async (bench) => {
    const samples: Sample[] = [];
    for (let round = 0; round < Math.min(bench.rounds, MAX_ROUNDS); round++) {
      for (const each of rotated(entrants, round)) {
        const contender = await enter(bench, each);
        if (contender === undefined) continue;
        await sleep(IDLE_MS);
        const memory = seesProcesses ? { idleMb: contender.residentKb() / 1024 } : {};
        const figures = { coldMs: contender.coldMs, ...memory };
        samples.push({ target: contender.label, phase: "start", round, figures });
        await contender.close();
      }
    }
    return samples;
  },
};
