// Hubs that tests start in the background with `plugboard start`.

import { chmod, readFile, writeFile } from "node:fs/promises";
import { join } from "node:path";
import type { TestContext } from "vitest";
import { makeHome, plugboard, type Finished, type Home, type Servers } from "./hub.ts";
import { processesWithMark, untilNoneWithMark } from "./processes.ts";

/** A home whose hub, if one is running, is stopped when the test has finished. */
export async function openDaemonHome(test: Pick<TestContext, "onTestFinished">, servers?: Servers): Promise<Home> {
  const home = await makeHome(servers);
  test.onTestFinished(() => closeDaemonHome(home));
  return home;
}

/** Stops the hub of a home and waits until no process of hub or servers is left. */
export async function closeDaemonHome(home: Home): Promise<void> {
  if (hubsOf(home).length > 0) await plugboard(home, ["stop", "-q"]);
  await untilNoneWithMark(home.mark);
  await untilNoneWithMark(`PLUGBOARD_HOME=${home.dir}`);
  await home.remove();
}

/** The processes of hubs, which have the home in their environment but not the mark of servers. */
export function hubsOf(home: Home): number[] {
  const servers = new Set(processesWithMark(home.mark));
  return processesWithMark(`PLUGBOARD_HOME=${home.dir}`).filter((pid) => !servers.has(pid));
}

export function startDaemon(home: Home, ...args: string[]): Promise<Finished> {
  return plugboard(home, ["start", "--port", "0", ...args]);
}

/** The record by which commands find the hub. */
export async function recordOf(home: Home) {
  return JSON.parse(await readFile(recordFile(home), "utf8"));
}

export async function writeRecord(home: Home, record: object): Promise<void> {
  await writeFile(recordFile(home), JSON.stringify(record), { mode: 0o600 });
  await chmod(recordFile(home), 0o600);
}

const recordFile = (home: Home) => join(home.dir, "state/hub.json");
