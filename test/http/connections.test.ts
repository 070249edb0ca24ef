// More clients than the hub has file descriptors for: the hub warns the user and keeps running.

import { once } from "node:events";
import { readFile } from "node:fs/promises";
import { connect as connectTcp, type Socket } from "node:net";
import { join } from "node:path";
import { afterAll, beforeAll, expect, it, vi } from "vitest";
import { tokenOf } from "../support/client.ts";
import { fixture, makeHome, plugboard, startHub, type Home, type RunningHub } from "../support/hub.ts";
import { connect, http } from "../support/rpc.ts";

const CLIENTS = 120;
const WARN = 40;
const DROPPED = /^(\d+) connections were dropped: the hub has nearly reached its limit of 64 open files\. .*ulimit -n/;

let home: Home;
let hub: RunningHub;
const crowd: Socket[] = [];

beforeAll(async () => {
  home = await makeHome({ echo: fixture("echo") });
  hub = await startHub(home, { through: ["sh", "-c", 'ulimit -n 64; exec "$@"', "sh"] });
});

afterAll(async () => {
  for (const socket of crowd) socket.destroy();
  expect(await hub?.stop()).toBe(0);
  await home?.remove();
});

async function get(path: string): Promise<string> {
  const authorization = `Bearer ${await tokenOf(home)}`;
  return (await http(`${hub.url}${path}`, { method: "GET", headers: { authorization } })).body;
}

it.runIf(process.platform === "linux")(
  "F44 connections dropped for lack of descriptors are in the log, the status and the metrics",
  async () => {
    const early = await connect(`${hub.url}/mcp`);
    expect(await get("/metrics")).toContain("hub_connections_dropped_total 0\n");
    const port = Number(new URL(hub.url).port);
    crowd.push(...Array.from({ length: CLIENTS }, () => connectTcp(port, "127.0.0.1").on("error", () => undefined)));
    let refused = 0;
    for (const socket of crowd) socket.resume().once("close", () => refused++);
    await Promise.all(crowd.map((socket) => Promise.race([once(socket, "connect"), once(socket, "close")])));

    const logged = await vi.waitFor(async () => {
      const lines = (await readFile(join(home.dir, "state/log.jsonl"), "utf8")).trim().split("\n");
      const found = lines.map((line) => JSON.parse(line)).filter(({ msg }) => DROPPED.test(msg));
      expect(found).toHaveLength(1);
      return found[0];
    }, 60_000);
    expect(logged.level).toBe(WARN);
    const count = Number(DROPPED.exec(logged.msg)?.[1]);
    await expect.poll(() => refused).toBeGreaterThanOrEqual(count);
    expect(refused).toBeLessThan(CLIENTS);

    for (const socket of crowd) socket.destroy();
    // The hub is notified of each closed connection separately.
    await vi.waitFor(async () => {
      const called = await early.request("tools/call", { name: "echo__echo", arguments: { text: "still here" } });
      expect(called.result.content[0].text).toBe("still here");
    }, 60_000);
    const total = Number(/^hub_connections_dropped_total (\d+)$/m.exec(await get("/metrics"))?.[1]);
    expect(total).toBeGreaterThanOrEqual(count);
    const { warnings } = JSON.parse(await get("/api/v1/status"));
    expect(warnings).toContainEqual(expect.stringMatching(DROPPED));
    expect((await plugboard(home, ["status"])).stdout).toMatch(/warning +\d+ connections were dropped/);
  },
);
