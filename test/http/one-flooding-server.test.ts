// One server floods the hub while others are called. Speeds are compared within the run only: with a quiet phase beside a program
// that uses the processor as much as the flood does.

import { spawn } from "node:child_process";
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { tokenOf } from "../support/client.ts";
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

/** The duration of a call to the honest server among many others. */
async function middleMs(): Promise<number> {
  const times: number[] = [];
  for (let n = 0; n < CALLS; n++) {
    const from = performance.now();
    expect((await call("honest__echo", { text: "honest" })).result.content[0].text).toBe("honest");
    times.push(performance.now() - from);
  }
  return median(times);
}

/** The same beside a program that only uses the processor. */
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
    "T26 AU-7 with %s slows the calls of others by less than a factor of two",
    async (method) => {
      await middleMs();
      let ratio = Infinity;
      // Other load on the machine affects some rounds, so the best of three sets counts.
      for (let set = 0; set < 3 && ratio >= LIMIT; set++) {
        const ratios: number[] = [];
        for (let round = 0; round < ROUNDS; round++) ratios.push((await besideFlood(method)) / (await besideWork()));
        ratio = Math.min(ratio, median(ratios));
      }
      process.stderr.write(`flood of ${method}: ${ratio.toFixed(2)} times as long\n`);
      expect(ratio).toBeLessThan(LIMIT);
    },
  );

  it("T26 is counted and reported, and its own calls still work", { timeout: 60_000 }, async () => {
    // A burst is not a flood.
    await call("flooder__flood", { method: "notifications/message" });
    await expect
      .poll(() => hub.stderr())
      .toMatch(/"flooder" exceeds its message rate \(resilience.messages_per_second 4000\)/);
    expect((await call("flooder__echo", { text: "here" })).result.content[0].text).toBe("here");
    await call("flooder__calm");
    const headers = { authorization: `Bearer ${await tokenOf(home)}` };
    const metrics = await (await fetch(`${hub.url}/metrics`, { headers })).text();
    expect(metrics).toMatch(/hub_server_floods_total\{server="flooder"\} [1-9]/);
  });
});
