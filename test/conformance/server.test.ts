// The official suite as a client of the hub, in both revisions, with the fixture server in both eras, over stdio and HTTP. Also with
// the fixture alone: what fails there is not the hub's fault.

import { spawn } from "node:child_process";
import { once } from "node:events";
import { fileURLToPath } from "node:url";
import { afterAll, beforeAll, describe } from "vitest";
import { makeHome, startHub, type Home, type RunningHub } from "../support/hub.ts";
import { nextLine } from "../support/processes.ts";
import { expectedOfFixture } from "./expected-server.ts";
import { testScenarios } from "./report.ts";
import { runServerSuite, scenariosOf, type Run, type SuiteEra } from "./suite.ts";

const FIXTURE = fileURLToPath(new URL("./fixture/server.mjs", import.meta.url));
const ERAS: readonly SuiteEra[] = ["legacy", "modern"];
const TRANSPORTS = ["stdio", "http"] as const;

/** A server behind the hub, by era and transport; the only one in the group of its name. */
const BEHIND = ERAS.flatMap((era) => TRANSPORTS.map((transport) => ({ era, transport, name: `${era}-${transport}` })));

/** A process for each call, so that a server request has only one possible owner. */
const ALONE = "legacy-stdio-per-call";

/** Servers of both eras whose tools send requests, as only legacy servers can. */
const PUSHING = TRANSPORTS.map((transport) => ({ transport, name: `both-${transport}` }));

/** For all runs together, on a busy machine. */
const PATIENCE_MS = 900_000;

const stops: (() => Promise<void>)[] = [];
const runs = new Map<string, Run>();

async function startFixture(era: SuiteEra | "both", ...more: readonly string[]): Promise<string> {
  const args = [FIXTURE, `--era=${era}`, "--http", ...more];
  const child = spawn(process.execPath, args, { stdio: ["pipe", "pipe", "inherit"] });
  const exited = once(child, "exit");
  stops.push(async () => {
    child.stdin.end();
    await exited;
  });
  return nextLine(child.stdout);
}

let home: Home | undefined;
let hub: RunningHub | undefined;

beforeAll(async () => {
  const direct = await startFixture("both");
  const servers = await Promise.all(
    BEHIND.map(async ({ era, transport, name }) => {
      const stdio = { command: process.execPath, args: [FIXTURE, `--era=${era}`] };
      return [name, transport === "stdio" ? stdio : { url: await startFixture(era) }] as const;
    }),
  );
  const pushing = {
    "both-stdio": { command: process.execPath, args: [FIXTURE, "--era=both", "--push"] },
    "both-http": { url: await startFixture("both", "--push") },
  };
  const alone = { command: process.execPath, args: [FIXTURE, "--era=legacy"], isolation: "per-call" };
  const groups = Object.fromEntries(
    [...BEHIND, ...PUSHING, { name: ALONE }].map(({ name }) => [name, { servers: [name] }]),
  );
  home = await makeHome({ ...Object.fromEntries(servers), ...pushing, [ALONE]: alone }, groups);
  hub = await startHub(home);
  const targets = [
    ["direct", direct] as const,
    ...[...BEHIND, ...PUSHING].map(({ name }) => [name, `${hub?.url}/mcp/${name}`] as const),
  ];
  // Every server has one client at a time. Two run concurrently.
  const left = [...targets];
  const lane = async () => {
    for (let next = left.shift(); next !== undefined; next = left.shift()) {
      for (const era of ERAS) runs.set(`${era} ${next[0]}`, await runServerSuite(next[1], era));
    }
  };
  await Promise.all([lane(), lane()]);
  runs.set(ALONE, await runServerSuite(`${hub.url}/mcp/${ALONE}`, "modern"));
}, PATIENCE_MS);

afterAll(async () => {
  await hub?.stop();
  await home?.remove();
  for (const stop of stops) await stop();
});

describe("the suite as a modern client of the hub, with a legacy server that has a process for each call", () => {
  testScenarios(scenariosOf("modern", "server"), () => runs.get(ALONE), expectedOfFixture("modern"));
});

describe.each(ERAS)("the suite as a %s client", (client) => {
  const scenarios = scenariosOf(client, "server");

  describe("of the fixture itself", () => {
    testScenarios(scenarios, () => runs.get(`${client} direct`), expectedOfFixture(client));
  });

  // As with the fixture itself: each client is served in its own era.
  describe.each(PUSHING)(
    "of the hub, with a server of both eras that pushes its requests, on $transport",
    ({ name }) => {
      testScenarios(scenarios, () => runs.get(`${client} ${name}`), expectedOfFixture(client));
    },
  );

  describe.each(BEHIND)("of the hub, with a server that is $era on $transport", ({ name }) => {
    testScenarios(scenarios, () => runs.get(`${client} ${name}`), expectedOfFixture(client));
  });
});
