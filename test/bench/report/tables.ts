// The results of a run as tables: one for each scenario, and one for the goals.

import { judge } from "./goals.ts";
import type { Results } from "./results.ts";
import { toNumber, toTable } from "./table.ts";

const BASE = "direct";

/** Figures of scenarios without load, with their headings. */
const PLAIN: readonly (readonly [figure: string, heading: string])[] = [
  ["coldMs", "start to first call, ms"],
  ["idleMb", "idle memory, MB"],
  ["kbEach", "memory of each, KB"],
  ["cpuUs", "CPU µs of each"],
];

export function scenarioTable(results: Results, scenario: string): string {
  const phases = results.phases(scenario);
  const targets = results.targets(scenario);
  const figure = (target: string, phase: string, name: string) =>
    results.figure({ scenario, target, phase, figure: name });
  const isLoad = phases.some((phase) => targets.some((target) => figure(target, phase, "perSecond") !== undefined));
  return isLoad ? loadTable(results, scenario) : plainTable(results, scenario);
}

export function goalTable(results: Results): string {
  const rows = judge(results).map(({ goal: { what, sense, limit, unit }, value, reached }) => [
    what,
    `${sense === "at least" ? "≥" : "≤"} ${limit}${unit === "" ? "" : ` ${unit}`}`,
    `${exact(value)}${unit === "" ? "" : ` ${unit}`}`,
    reached ? "reached" : "**not reached**",
  ]);
  return toTable(["figure", "goal", "measured", ""], rows);
}

/** Calls per second with the ratio to direct, then the CPU time of a call, for each phase. */
function loadTable(results: Results, scenario: string): string {
  const phases = results.phases(scenario);
  const targets = results.targets(scenario);
  const latency = phases.filter((phase) => phase.endsWith("× 1") && !phase.startsWith("1 MB"));
  const busy = phases.filter((phase) => phase.endsWith("× 16") || phase.startsWith("list"));
  const cell = (target: string, phase: string, figure: string) =>
    show(results.figure({ scenario, target, phase, figure }));
  const perSecond = (target: string, phase: string) => {
    const ratio = results.ratio({ scenario, target, phase, figure: "perSecond" }, BASE);
    return cell(target, phase, "perSecond") + (ratio === undefined || target === BASE ? "" : ` (${ratio.toFixed(2)})`);
  };
  const header = [
    "calls/s",
    ...phases,
    ...latency.map((phase) => `p50 / p99 ms, ${phase}`),
    ...busy.map((phase) => `CPU µs, ${phase}`),
  ];
  const rows = targets.map((target) => [
    target,
    ...phases.map((phase) => perSecond(target, phase)),
    ...latency.map((phase) => `${cell(target, phase, "p50Ms")} / ${cell(target, phase, "p99Ms")}`),
    ...busy.map((phase) => cell(target, phase, "cpuUs")),
  ]);
  return toTable(header, rows);
}

function plainTable(results: Results, scenario: string): string {
  const [phase = ""] = results.phases(scenario);
  const columns = PLAIN.filter(([figure]) =>
    results.targets(scenario).some((target) => results.figure({ scenario, target, phase, figure }) !== undefined),
  );
  const rows = results
    .targets(scenario)
    .map((target) => [target, ...columns.map(([figure]) => show(results.figure({ scenario, target, phase, figure })))]);
  return toTable(["", ...columns.map(([, heading]) => heading)], rows);
}

function show(value: number | undefined): string {
  return value === undefined ? "–" : toNumber(value);
}

/** A value near its goal must not be rounded onto it. */
function exact(value: number): string {
  return Math.abs(value) >= 100 ? toNumber(value) : value.toFixed(Math.abs(value) >= 10 ? 1 : 2);
}
