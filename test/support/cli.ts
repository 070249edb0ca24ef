// What tests of commands share: a config with a server in every state, homes and hubs that close with their test, and readers of
// the output.

import { readFile } from "node:fs/promises";
import { join } from "node:path";
import { expect, onTestFinished, type TestContext } from "vitest";
import {
  failing,
  fixture,
  makeHome,
  plugboard,
  startHub,
  type CommandOptions,
  type Finished,
  type Home,
  type RunningHub,
  type Servers,
  type StartOptions,
} from "./hub.ts";
import { processesWithMark } from "./processes.ts";

/** Two servers that run, one that fails, and one that is disabled. */
export const SERVERS = {
  it: { ...fixture("echo"), description: "Echoes its arguments", env: { LEVEL: "debug" } },
  other: fixture("paged"),
  broken: failing(),
  off: { ...fixture("echo"), enabled: false },
};
export const ECHO = { it: fixture("echo") };
export const BROKEN = { broken: failing() };
export const GROUPS = { desk: { description: "For the desk", servers: ["it"], tools: ["echo", "add"] } };

type Ending = Pick<TestContext, "onTestFinished">;

/** A hub in a home of its own, closed when the test has finished. */
export async function openHub(test: Ending, servers: Servers, groups?: unknown): Promise<RunningHub> {
  const hub = await startHub(await makeHome(servers, groups));
  test.onTestFinished(() => closeHub(hub));
  return hub;
}

/** A hub in a home that exists already, stopped when the test has finished. */
export async function startHubIn(test: Ending, home: Home, options?: StartOptions): Promise<RunningHub> {
  const hub = await startHub(home, options);
  test.onTestFinished(async () => void (await hub.stop()));
  return hub;
}

/** A home without a hub, closed when the test has finished. */
export async function openHome(test: Ending, servers?: Servers, groups?: unknown): Promise<Home> {
  const home = await makeHome(servers, groups);
  test.onTestFinished(() => closeHome(home));
  return home;
}

/** Runs a command in a home of its own. Not for concurrent tests. */
export async function run(servers: Servers, args: readonly string[], options?: CommandOptions): Promise<Finished> {
  return plugboard(await openHome({ onTestFinished }, servers), args, options);
}

export async function closeHub(hub: RunningHub): Promise<void> {
  await hub.stop();
  await closeHome(hub.home);
}

/** Removes a home after a check that no process of its servers is left. */
export async function closeHome(home: Home): Promise<void> {
  expect(processesWithMark(home.mark)).toEqual([]);
  await home.remove();
}

/** The JSON output of a command that succeeds and prints nothing on stderr. */
// eslint-disable-next-line typescript/no-explicit-any -- tests look into results of any form
export async function json(home: Home, ...args: string[]): Promise<any> {
  const { code, stdout, stderr } = await plugboard(home, [...args, "--json"]);
  expect({ code, stderr }).toEqual({ code: 0, stderr: "" });
  return JSON.parse(stdout);
}

/** The cells of a printed table. */
export function rows(stdout: string): string[][] {
  return stdout
    .trimEnd()
    .split("\n")
    .map((line) => line.split(/\s{2,}/));
}

export const serverFile = (home: Home) => join(home.dir, "config/mcp_server.json");
export const groupFile = (home: Home) => join(home.dir, "config/group.json");

/** The servers in the config file of a home. */
export async function savedServers(home: Home) {
  return JSON.parse(await readFile(serverFile(home), "utf8")).mcpServers;
}
