// The official suite as servers behind the hub, in both revisions: the hub must behave as a conforming client.
// One hub for all scenarios; client.mjs adds each scenario's server to it and makes the calls.

import { fileURLToPath } from "node:url";
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { tokenOf } from "../support/client.ts";
import { makeHome, startHub, type Home, type RunningHub } from "../support/hub.ts";
import { EXPECTED_OF_CLIENT } from "./expected-client.ts";
import { testScenarios } from "./report.ts";
import { runClientScenario, runClientSuite, scenariosOf, type Run, type SuiteEra } from "./suite.ts";

const ERAS: readonly SuiteEra[] = ["legacy", "modern"];
const COMMAND = `${process.execPath} ${fileURLToPath(new URL("./client.mjs", import.meta.url))}`;

/** For all scenarios together, on a busy machine. */
const PATIENCE_MS = 900_000;

/** For servers of the revision 2025-03-26, whose authorization server is at their own origin. They are in no list. */
const OLDEST = ["auth/2025-03-26-oauth-metadata-backcompat", "auth/2025-03-26-oauth-endpoint-fallback"];

const runs = new Map<SuiteEra, Run>();
let home: Home | undefined;
let hub: RunningHub | undefined;
let env: Readonly<Record<string, string>> = {};

beforeAll(async () => {
  home = await makeHome({});
  hub = await startHub(home);
  const token = await tokenOf(home);
  // Sequential: all scenarios of a revision run at once already.
  env = { HUB_URL: hub.url, HUB_TOKEN: token };
  for (const era of ERAS) runs.set(era, await runClientSuite(COMMAND, era, env));
}, PATIENCE_MS);

afterAll(async () => {
  await hub?.stop();
  await home?.remove();
});

describe.each(ERAS)("the suite as a %s server behind the hub", (era) => {
  testScenarios(scenariosOf(era, "client"), () => runs.get(era), EXPECTED_OF_CLIENT);
});

describe("the suite as a server of 2025-03-26 behind the hub", () => {
  it.each(OLDEST)("CL-2 AU-1 %s", async (scenario) => {
    expect(await runClientScenario(scenario, COMMAND, env)).toEqual([]);
  });
});
