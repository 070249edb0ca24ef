// Scenarios that the fixture does not pass, with reasons; the hub passes all that the fixture passes. An entry whose scenario
// passes fails the run: remove it.

import type { SuiteEra } from "./suite.ts";

/** An extension that the SDK, and so the fixture, does not have. Not scored. */
const TASKS = [
  "tasks-lifecycle",
  "tasks-capability-negotiation",
  "tasks-wire-fields",
  "tasks-request-state-removal",
  "tasks-mrtr-input",
  "tasks-request-headers",
  "tasks-dispatch-and-envelope",
  "tasks-required-task-error",
  "tasks-mrtr-composition",
];

/** Reasons by scenario. */
export function expectedOfFixture(client: SuiteEra): ReadonlyMap<string, string> {
  return new Map(client === "modern" ? TASKS.map((name) => [name, "the fixture has no tasks"]) : []);
}
