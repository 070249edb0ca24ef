// The performance goals of Plugboard with all features on, and whether a run meets them.

import type { Results, Spot } from "./results.ts";

export interface Goal {
  readonly what: string;
  readonly limit: number;
  /** A ratio to a better target must be at least the limit, a cost at most. */
  readonly sense: "at least" | "at most";
  readonly unit: string;
  measure(results: Results): number | undefined;
}

export interface Verdict {
  readonly goal: Goal;
  readonly value: number;
  readonly reached: boolean;
}

const of = (scenario: string, phase: string, figure: string, target = "plugboard"): Spot => ({
  scenario,
  target,
  phase,
  figure,
});

function atLeast(what: string, limit: number, measure: Goal["measure"], unit = ""): Goal {
  return { what, limit, sense: "at least", unit, measure };
}

function atMost(what: string, limit: number, unit: string, measure: Goal["measure"]): Goal {
  return { what, limit, sense: "at most", unit, measure };
}

/** How much more a call may cost with two hundred times the servers and still count as the same. */
const FLAT = 1.15;

export const GOALS: readonly Goal[] = [
  atLeast("calls per second at 16 in flight, of direct", 0.75, (results) =>
    results.ratio(of("stdio", "100 B × 16", "perSecond"), "direct"),
  ),
  atLeast("calls per second at 64 in flight, of direct", 0.75, (results) =>
    results.ratio(of("stdio", "100 B × 64", "perSecond"), "direct"),
  ),
  atLeast("the same with an HTTP server, at 16", 0.3, (results) =>
    results.ratio(of("http", "100 B × 16", "perSecond"), "direct"),
  ),
  atLeast("the stdio bridge, at 16", 0.4, (results) =>
    results.ratio(of("bridge", "100 B × 16", "perSecond", "plugboard stdio"), "direct"),
  ),
  atMost("memory of the stdio bridge, idle", 60, "MB", (results) =>
    results.figure(of("starts", "start", "idleMb", "plugboard stdio")),
  ),
  atMost("CPU time of a call at 16, of thin", 1.3, "×", (results) =>
    results.ratio(of("stdio", "100 B × 16", "cpuUs"), "thin"),
  ),
  atMost("latency added at 1 in flight, p50", 0.25, "ms", (results) =>
    results.difference(of("stdio", "100 B × 1", "p50Ms"), "direct"),
  ),
  atMost("latency added at 1 in flight, p99", 1.5, "ms", (results) =>
    results.difference(of("stdio", "100 B × 1", "p99Ms"), "direct"),
  ),
  atLeast("results of 1 MB, calls per second, of direct", 0.9, (results) =>
    results.ratio(of("stdio", "1 MB × 1", "perSecond"), "direct"),
  ),
  atMost("call log and metrics, of throughput", 20, "%", (results) => {
    const ratio = results.ratio(of("recording", "100 B × 16", "perSecond", "on"), "off");
    return ratio === undefined ? undefined : 100 * (1 - ratio);
  }),
  atMost("an access token, CPU time of a call", 3, "µs", (results) =>
    results.difference(of("credentials", "100 B × 16", "cpuUs", "access token"), "no token"),
  ),
  atMost("a JWT that was checked before, CPU time of a call", 5, "µs", (results) =>
    results.difference(of("credentials", "100 B × 16", "cpuUs", "JWT"), "no token"),
  ),
  atMost("memory with one server, idle", 65, "MB", (results) => results.figure(of("starts", "start", "idleMb"))),
  atMost("each of 1,000 open sessions", 8, "KB", (results) => results.figure(of("sessions", "open", "kbEach"))),
  atMost("start to first call", 350, "ms", (results) => results.figure(of("starts", "start", "coldMs"))),
  atMost("tools/list of 10 × 20 tools, p50", 0.5, "ms", (results) => results.figure(of("fan", "list × 1", "p50Ms"))),
  atMost("tools/list of 10 × 20 tools, CPU time", 200, "µs", (results) =>
    results.figure(of("fan", "list × 1", "cpuUs")),
  ),
  atMost("CPU time of a call with 200 servers, of that with 1", FLAT, "×", (results) =>
    results.ratio(of("growth", "100 B × 16", "cpuUs", "200 servers"), "1 server"),
  ),
  atMost("CPU time of a call with 10,000 tools, of that with 10", FLAT, "×", (results) =>
    results.ratio(of("growth", "100 B × 16", "cpuUs", "10,000 tools"), "10 tools"),
  ),
];

/** The goals that the run measured. */
export function judge(results: Results, goals: readonly Goal[] = GOALS): Verdict[] {
  return goals.flatMap((goal) => {
    const value = goal.measure(results);
    if (value === undefined) return [];
    return [{ goal, value, reached: goal.sense === "at least" ? value >= goal.limit : value <= goal.limit }];
  });
}
