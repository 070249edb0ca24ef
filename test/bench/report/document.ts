// The generated part of docs/performance.md. The text around it is written by hand.

import type { Results } from "./results.ts";
import { goalTable, scenarioTable } from "./tables.ts";

const BEGIN = "<!-- measured: npm run bench -- --write-docs -->";
const END = "<!-- end of what is measured -->";

/** In percent of the machine. */
const QUIET = 10;
const RESTLESS =
  ": absolute figures are too low, and tails say little; ratios hold roughly. Run it again on a quiet machine.";

/** The document with the results of this run. */
export function withResults(document: string, results: Results): string {
  const from = document.indexOf(BEGIN);
  const to = document.indexOf(END);
  if (from < 0 || to < from) throw new Error(`The document has no place for results: ${BEGIN} … ${END}`);
  return `${document.slice(0, from + BEGIN.length)}\n\n${measured(results)}\n\n${document.slice(to)}`;
}

/** All results of a run, as Markdown. */
export function measured(results: Results): string {
  const { machine, scenarios, at } = results.run;
  const commits = [...new Set(Object.values(scenarios).map(({ commit }) => commit))].join(", ");
  const pinned = machine.pinned ? "the target alone on one core" : "not pinned to cores";
  const others = Math.round(100 * Math.max(...Object.values(scenarios).map(({ othersBusy }) => othersBusy)));
  const about = [
    `Measured at commit ${commits} on ${at.slice(0, 10)}: Node ${machine.node}, ${machine.cores} cores (${machine.cpu}), ${pinned}.`,
    `Others used at most ${others} % of the machine when a scenario began${others > QUIET ? RESTLESS : "."}`,
  ].join("\n");
  const sections = Object.entries(scenarios).map(([name, { title, rounds, leftOut }]) =>
    [`### ${title}`, scenarioTable(results, name), footnote(rounds, leftOut)].join("\n\n"),
  );
  return [about, "### Goals", goalTable(results), ...sections].join("\n\n");
}

function footnote(rounds: number, leftOut: Readonly<Record<string, string>>): string {
  const missing = Object.keys(leftOut);
  const without = missing.length === 0 ? "" : ` Not measured: ${missing.join(", ")}.`;
  return `Medians of ${rounds} ${rounds === 1 ? "round" : "rounds"}.${without}`;
}
