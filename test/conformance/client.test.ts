// The official suite as servers behind the hub, in both revisions: what the hub says to them is what a client should.
// One hub for all scenarios; client.mjs adds each one's server to it and makes the calls.

import { readFile } from "node:fs/promises";
import { join } from "node:path";
import { fileURLToPath } from "node:url";
import { afterAll, beforeAll, describe } from "vitest";
import { makeHome, startHub, type Home, type RunningHub } from "../support/hub.ts";
import { expectedOfClient } from "./expected-client.ts";
import { testScenarios } from "./report.ts";
import { runClientSuite, scenariosOf, type Run, type SuiteEra } from "./suite.ts";

const ERAS: readonly SuiteEra[] = ["legacy", "modern"];
const COMMAND = `${process.execPath} ${fileURLToPath(new URL("client.mjs", import.meta.url))}`;

/** All scenarios together, on a machine that has much else to do. */
const PATIENCE_MS = 900_000;

const runs = new Map<SuiteEra, Run>();
let home: Home | undefined;
let hub: RunningHub | undefined;

beforeAll(async () => {
  home = await makeHome({});
  hub = await startHub(home);
  const token = (await readFile(join(home.dir, "data/token"), "utf8")).trim();
  // One after the other: all scenarios of a revision run at once already.
  for (const era of ERAS) runs.set(era, await runClientSuite(COMMAND, era, { HUB_URL: hub.url, HUB_TOKEN: token }));
}, PATIENCE_MS);

afterAll(async () => {
  await hub?.stop();
  await home?.remove();
});

describe.each(ERAS)("the suite as a %s server behind the hub", (era) => {
  testScenarios(scenariosOf(era, "client"), () => runs.get(era), expectedOfClient(era));
});
