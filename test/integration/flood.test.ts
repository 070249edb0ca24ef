// One server that talks without end, and what the others' callers notice of it. Speeds are compared only within the run: with a
// quiet phase, beside a program that keeps a processor as busy as the flood does.

import { spawn } from "node:child_process";
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { readManagementToken } from "../../hub/src/auth/management-token.ts";
import { hubPaths } from "../../hub/src/config/paths.ts";
import { fixture, makeHome, startHub, type Home, type RunningHub } from "../support/hub.ts";
import { connect } from "../support/rpc.ts";

let home: Home;
let hub: RunningHub;
let session: Awaited<ReturnType<typeof connect>>;

beforeAll(async () => {
  home = await makeHome({ flooder: fixture("flooder"), honest: fixture("echo") });
  hub = await startHub(home);
  session = await connect(`${hub.url}/mcp`);
});

afterAll(async () => {
  expect(await hub?.stop()).toBe(0);
  await home?.remove();
});

const call = (name: string, args: object = {}) => session.request("tools/call", { name, arguments: args });

const CALLS = 30;
const ROUNDS = 3;
const LIMIT = 2;

const median = (values: readonly number[]) => values.toSorted((a, b) => a - b)[values.length >> 1] ?? NaN;

/** How long a call to the honest server takes, in the middle of many. */
async function middleMs(): Promise<number> {
  const times: number[] = [];
  for (let n = 0; n < CALLS; n++) {
    const from = performance.now();
    expect((await call("honest__echo", { text: "honest" })).result.content[0].text).toBe("honest");
    times.push(performance.now() - from);
  }
  return median(times);
}

/** The same beside a program that does nothing but work. */
async function besideWork(): Promise<number> {
  const worker = spawn(process.execPath, ["-e", "for (;;);"], { stdio: "ignore" });
  try {
    return await middleMs();
  } finally {
    worker.kill("SIGKILL");
  }
}

async function besideFlood(method: string): Promise<number> {
  await call("flooder__flood", { method });
  try {
    return await middleMs();
  } finally {
    await call("flooder__calm");
  }
}

describe("a server that floods", () => {
  it.each(["notifications/message", "notifications/tools/list_changed"])(
    "C5 T26 AU-7 with %s slows the others' calls by less than two",
    async (method) => {
      await middleMs();
      let ratio = Infinity;
      // What else the machine does shows in one round or another: what counts is the best of three sets of rounds.
      for (let set = 0; set < 3 && ratio >= LIMIT; set++) {
        const ratios: number[] = [];
        for (let round = 0; round < ROUNDS; round++) ratios.push((await besideFlood(method)) / (await besideWork()));
        ratio = Math.min(ratio, median(ratios));
      }
      process.stderr.write(`flood of ${method}: ${ratio.toFixed(2)} times as long\n`);
      expect(ratio).toBeLessThan(LIMIT);
    },
  );

  it("C5 T26 it is counted, told, and its own calls still work", { timeout: 60_000 }, async () => {
    // A burst is no flood yet.
    await call("flooder__flood", { method: "notifications/message" });
    await expect
      .poll(() => hub.stderr(), { timeout: 50_000 })
      .toMatch(/"flooder" sends more messages than it may \(resilience.messages_per_second 4000\)/);
    expect((await call("flooder__echo", { text: "here" })).result.content[0].text).toBe("here");
    await call("flooder__calm");
    const { data } = hubPaths({ env: home.env, platform: process.platform, home: home.dir });
    const headers = { authorization: `Bearer ${(await readManagementToken(data)) ?? ""}` };
    const metrics = await (await fetch(`${hub.url}/metrics`, { headers })).text();
    expect(metrics).toMatch(/hub_server_floods_total\{server="flooder"\} [1-9]/);
  });
});
