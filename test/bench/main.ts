// The benchmark: the cost of Plugboard compared with direct connections, the minimal proxy, and other programs.
// docs/performance.md explains the results.

import { mkdir, readFile, writeFile } from "node:fs/promises";
import { join } from "node:path";
import { describeMachine, pin, sampleBusy, UNPINNED } from "./machine.ts";
import { parseOptions, USAGE, type Options } from "./options.ts";
import { ROOT } from "./places.ts";
import { toChart } from "./report/chart.ts";
import { measured, withResults } from "./report/document.ts";
import { panelsOf } from "./report/panels.ts";
import { Results, type RunFile, type ScenarioResult } from "./report/results.ts";
import type { Bench, Scenario } from "./scenarios/scenario.ts";
import { SCENARIOS } from "./scenarios/scenarios.ts";

/** Long enough to detect other load. */
const QUIET_MS = 300;
/** Every started program adds an exit listener: more than the ten that Node accepts without a warning. */
const MAX_PROGRAMS = 100;

process.setMaxListeners(MAX_PROGRAMS);
const options = parseOptions(process.argv.slice(2));
if (options.help) process.stdout.write(USAGE);
else await main(options);

async function main({ only, out, writeDocs, ...how }: Options): Promise<void> {
  const chosen = SCENARIOS.filter(({ name }) => only.length === 0 || only.includes(name));
  const unknown = only.filter((name) => !SCENARIOS.some((scenario) => scenario.name === name));
  if (unknown.length > 0) {
    const names = SCENARIOS.map(({ name }) => name).join(", ");
    throw new Error(`There is no scenario ${unknown.join(", ")}. There are: ${names}`);
  }
  const about = describeMachine();
  const pinning = how.pinned ? pin() : UNPINNED;
  const machine = { ...about, pinned: pinning !== UNPINNED };
  const kept = only.length === 0 ? {} : await lastScenarios(out);
  const missing = SCENARIOS.filter((scenario) => !chosen.includes(scenario) && kept[scenario.name] === undefined);
  // Before anything is measured, because the document lists all of them.
  if (writeDocs && missing.length > 0) {
    const names = missing.map(({ name }) => name).join(", ");
    throw new Error(
      `--write-docs would take ${names} out of the page: there are no results of them in ${out}. Run all`,
    );
  }
  const fresh: Record<string, ScenarioResult> = {};
  for (const scenario of chosen) fresh[scenario.name] = await run(scenario, { ...how, pinning }, about.commit);
  const all = { ...kept, ...fresh };
  const inOrder = SCENARIOS.flatMap(({ name }) => (all[name] === undefined ? [] : [[name, all[name]] as const]));
  await report({ at: new Date().toISOString(), machine, scenarios: Object.fromEntries(inOrder) }, { out, writeDocs });
}

async function run(scenario: Scenario, bench: Omit<Bench, "leftOut">, commit: string): Promise<ScenarioResult> {
  const othersBusy = await sampleBusy(QUIET_MS);
  const startedAt = performance.now();
  const leftOut: Record<string, string> = {};
  process.stderr.write(`${scenario.name}: ${scenario.title} …`);
  const samples = await scenario.run({ ...bench, leftOut: (target, why) => (leftOut[target] = why) });
  process.stderr.write(` ${((performance.now() - startedAt) / 1000).toFixed(0)} s\n`);
  for (const [target, why] of Object.entries(leftOut)) process.stderr.write(`  without ${target}: ${why}\n`);
  const rounds = new Set(samples.map(({ round }) => round)).size;
  return { title: scenario.title, commit, rounds, othersBusy, samples, leftOut };
}

async function report(file: RunFile, { out, writeDocs }: Pick<Options, "out" | "writeDocs">): Promise<void> {
  const results = new Results(file);
  const chart = toChart(panelsOf(results), "What a call costs through Plugboard and others");
  process.stdout.write(`\n${measured(results)}\n`);
  await mkdir(out, { recursive: true });
  await writeFile(join(out, "bench.json"), `${JSON.stringify(file)}\n`);
  await writeFile(join(out, "bench.svg"), chart);
  process.stdout.write(`\nWritten: bench.json and bench.svg in ${out}\n`);
  if (!writeDocs) return;
  const path = join(ROOT, "docs/performance.md");
  await writeFile(path, withResults(await readFile(path, "utf8"), results));
  await writeFile(join(ROOT, "docs/performance.svg"), chart);
  process.stdout.write("Written: docs/performance.md and docs/performance.svg\n");
}

/** Earlier results of scenarios that are not run now. */
async function lastScenarios(out: string): Promise<Readonly<Record<string, ScenarioResult>>> {
  const text = await readFile(join(out, "bench.json"), "utf8").catch(() => undefined); // no run yet
  return text === undefined ? {} : (JSON.parse(text) as RunFile).scenarios;
}
