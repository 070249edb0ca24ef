// All scenarios, in the order in which they run. Those that are only rounds of slices are defined here.

import { calls, lists, type Phase } from "../phase.ts";
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
import type { Era } from "../upstreams/server.ts";
import { credentials } from "./credentials.ts";
import { recording } from "./recording.ts";
import { runRounds, type Entrant, type Scenario } from "./scenario.ts";
import { sessions } from "./sessions.ts";
import { starts } from "./starts.ts";

interface Rounds {
  readonly name: string;
  readonly title: string;
  readonly plan: UpstreamPlan;
  readonly clientEra?: Era;
  readonly own: readonly Target[];
  readonly peers?: readonly Target[];
  readonly phases: readonly Phase[];
}

const ONE: UpstreamPlan = { transport: "stdio", era: "legacy", servers: 1, tools: 2 };
const SMALL = [1, 16, 64].map((flight) => calls("100 B", flight, { forPeers: true }));
/** The bytes of a list of 200 tools, independent of their names. */
const LIST_BYTES = 100_000;

const ROUNDS: readonly Rounds[] = [
  {
    name: "stdio",
    title: "One stdio server, legacy clients",
    plan: ONE,
    own: [direct, thin, plugboard],
    peers: [rustProxy, goProxy, mcpHub, mcpProxy, supergateway, pythonProxy],
    phases: [
      ...SMALL,
      ...[1, 16, 64].map((flight) => calls("10 KB", flight)),
      ...[1, 16, 64].map((flight) => calls("1 MB", flight, { forPeers: flight === 1 })),
    ],
  },
  {
    name: "http",
    title: "One HTTP server, legacy clients",
    plan: { ...ONE, transport: "http" },
    own: [direct, thin, plugboard],
    peers: [rustProxy, goProxy, mcpHub],
    phases: [...SMALL, calls("10 KB", 16), calls("1 MB", 1, { forPeers: true }), calls("1 MB", 16)],
  },
  {
    name: "sse",
    title: "One HTTP server that answers with event streams",
    plan: { ...ONE, transport: "http", sse: true },
    own: [direct, thin, plugboard],
    phases: [calls("100 B", 1), calls("100 B", 16), calls("1 MB", 1)],
  },
  {
    name: "modern",
    title: "Modern clients (2026-07-28), one modern stdio server",
    plan: { ...ONE, era: "modern" },
    clientEra: "modern",
    own: [direct, thin, plugboard],
    phases: [...SMALL, calls("1 MB", 1)],
  },
  {
    name: "mixed",
    title: "Modern clients (2026-07-28), one legacy stdio server",
    plan: ONE,
    clientEra: "modern",
    own: [direct, plugboard],
    phases: [calls("100 B", 1), calls("100 B", 16)],
  },
  {
    name: "fan",
    title: "Ten stdio servers with 20 tools each: lists, and calls spread over all",
    plan: { ...ONE, servers: 10, tools: 20 },
    own: [direct, thin, plugboard],
    peers: [mcpHub],
    phases: [
      ...[1, 16].map((flight) => lists(flight, LIST_BYTES)),
      ...SMALL.map((phase) => ({ ...phase, spread: true })),
    ],
  },
  {
    name: "bridge",
    title: "An HTTP server on stdin and stdout, for clients that launch their servers: bridges, and a whole hub",
    plan: { ...ONE, transport: "http" },
    own: [direct, thinBridge, plugboardBridge, plugboardOwn],
    peers: [supergatewayBridge],
    phases: SMALL.filter(({ flight }) => flight <= 16),
  },
];

/** The same hub four times: with few and many servers, with few and many tools. */
const GROWTH: readonly Entrant[] = [
  grown("1 server", { servers: 1, transport: "http" }),
  grown("200 servers", { servers: 200, transport: "http" }),
  grown("10 tools", { tools: 10 }),
  grown("10,000 tools", { tools: 10_000 }),
];

const growth: Scenario = {
  name: "growth",
  title: "Plugboard with few and many HTTP servers, and with few and many tools of one stdio server",
  run: (bench) => runRounds(bench, GROWTH, [calls("100 B", 1), calls("100 B", 16)]),
};

export const SCENARIOS: readonly Scenario[] = [
  ...ROUNDS.map(toScenario),
  growth,
  sessions,
  starts,
  recording,
  credentials,
];

function toScenario({ name, title, plan, clientEra = "legacy", own, peers = [], phases }: Rounds): Scenario {
  const entrant = (isPeer: boolean) => (target: Target) => ({ target, plan, clientEra, isPeer });
  const entrants = [...own.map(entrant(false)), ...peers.map(entrant(true))];
  return { name, title, run: (bench) => runRounds(bench, entrants, phases) };
}

function grown(label: string, plan: Partial<UpstreamPlan>): Entrant {
  return { label, target: plugboard, plan: { ...ONE, ...plan }, clientEra: "legacy" };
}
