// Uncaught errors in a real hub: a signal makes it throw, or reject, outside any handler.

import { once } from "node:events";
import { readFile } from "node:fs/promises";
import { join } from "node:path";
import { afterEach, expect, it } from "vitest";
import { fixture, makeHome, startHub, type Home, type RunningHub } from "../support/hub.ts";
import { processesWithMark } from "../support/processes.ts";
import { connect } from "../support/rpc.ts";

const SECRET = "hidden-in-the-fault-4711";
const PLANTED = "data:text/javascript,process.on('SIGUSR2',()=>{throw new Error('planted '+process.env.PLANTED)})";
const REJECTED = "data:text/javascript,process.on('SIGUSR2',()=>{Promise.reject(new Error('planted'))})";

let home: Home;
afterEach(async () => {
  await expect.poll(() => processesWithMark(home.mark)).toEqual([]);
  await home.remove();
});

async function start(planted: string): Promise<RunningHub> {
  home = await makeHome({ it: { ...fixture("echo"), env: { KEY: SECRET } } });
  return startHub(home, { node: ["--import", planted], env: { PLANTED: SECRET } });
}

/** Causes an error and waits until the hub has reported `count` of them. */
async function fail(hub: RunningHub, count: number): Promise<void> {
  hub.process.kill("SIGUSR2");
  while (hub.stderr().split("Internal error.").length <= count) {
    await once(hub.process.stderr ?? process.stderr, "data");
  }
}

it.each([
  ["thrown", PLANTED],
  ["a rejection", REJECTED],
])(
  "RS-6 an uncaught error, %s, is logged, the hub keeps running, and exits with a failure later",
  async (_, planted) => {
    const hub = await start(planted);
    const session = await connect(`${hub.url}/mcp`);
    const call = async () => (await session.request("tools/call", { name: "echo", arguments: { text: "on" } })).result;
    expect(await call()).toMatchObject({ content: [{ text: "on" }] });
    const [server] = processesWithMark(home.mark);
    await fail(hub, 1);
    expect(await call()).toMatchObject({ content: [{ text: "on" }] });
    expect(processesWithMark(home.mark)).toContain(server);
    expect(await hub.stop()).toBe(1);
    const log = await readFile(join(home.dir, "state/log.jsonl"), "utf8");
    expect(log).toMatch(/"error":"Error: planted.*"msg":"unexpected error"/);
    expect(hub.stderr()).toMatch(/the hub keeps running\. Please report it:\nError: planted/);
    expect(log + hub.stderr()).not.toContain(SECRET);
  },
);

it("RS-6 LC-5 repeated uncaught errors end the hub and all its processes", async () => {
  const hub = await start(PLANTED);
  const ended = once(hub.process, "exit");
  for (let count = 1; count <= 11; count++) await fail(hub, count);
  expect(await ended).toEqual([1, null]);
  expect(hub.stderr()).toContain("Too many of them: the hub exits");
});
