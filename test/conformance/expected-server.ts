// What the hub does not pass yet as a server, and why. An entry whose scenario passes is an error: strike it out.

import type { SuiteEra } from "./suite.ts";

interface Failure {
  /** The era of the suite, as a client. */
  readonly client: SuiteEra;
  /** The era of the server behind the hub. */
  readonly server: SuiteEra;
  /** How the hub reaches it; any way where that does not matter. */
  readonly transport?: "stdio" | "http";
  readonly why: string;
  readonly scenarios: readonly string[];
}

const FAILURES: readonly Failure[] = [
  {
    client: "modern",
    server: "legacy",
    transport: "stdio",
    why: "modern clients have no session, so on a pipe nothing says whose call asks while one that nobody came back for is open",
    scenarios: [
      "input-required-result-basic-elicitation",
      "input-required-result-basic-sampling",
      "input-required-result-basic-list-roots",
      "input-required-result-request-state",
      "input-required-result-multiple-input-requests",
      "input-required-result-multi-round",
      "input-required-result-non-tool-request",
      "input-required-result-result-type",
      "input-required-result-tampered-state",
      "input-required-result-capability-check",
    ],
  },
];

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

/** Reasons by scenario, of the fixture without the hub. */
export function expectedOfFixture(client: SuiteEra): ReadonlyMap<string, string> {
  return new Map(client === "modern" ? TASKS.map((name) => [name, "the fixture has no tasks"]) : []);
}

/** Reasons by scenario, of the hub before the fixture. */
export function expectedOfHub(
  client: SuiteEra,
  server: SuiteEra,
  transport: "stdio" | "http",
): ReadonlyMap<string, string> {
  const ours = FAILURES.filter(
    (failure) =>
      failure.client === client && failure.server === server && (failure.transport ?? transport) === transport,
  );
  const named = ours.flatMap(({ scenarios, why }) => scenarios.map((name) => [name, why] as const));
  return new Map([...expectedOfFixture(client), ...named]);
}
