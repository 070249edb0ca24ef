// F48: a day in ten minutes. The hub's clock runs SPEED times as fast as those of its servers and clients: periodic work must
// happen as often as intended, and memory must not grow.

import { existsSync, readFileSync, statSync } from "node:fs";
import { mkdir, writeFile } from "node:fs/promises";
import { join } from "node:path";
import { setTimeout as sleep } from "node:timers/promises";
import { expect, it } from "vitest";
import { fixture, makeHome } from "../../support/hub.ts";
import { processesWithMark } from "../../support/processes.ts";
import { connect } from "../../support/rpc.ts";
import { canSetClock, knock, spedUp } from "../../support/wall-clock.ts";
import { FaultHub, OTHER, type Outcome } from "../fault-hub.ts";
import type { Upstream } from "../scenario.ts";
import { COLLECTING, collectGarbage, growth, heapOf, lowest, toMegabytes } from "./memory.ts";
import { upTo } from "../../support/scale.ts";

const SPEED = 144;
const HOURS = upTo(24);
const HOUR_MS = 3_600_000 / SPEED;
const TICK_MS = 50;
const CHECK_SECONDS = 300;
const LOG_BYTES = 16 << 20;
/** Allowed growth of the minimum heap between eighths of the run. */
const GROWTH = 0.1;

/** For servers that start and answer in real time. */
const PATIENT = { timeouts: { requestMs: 30_000 * SPEED, startMs: 30_000 * SPEED } };

it.runIf(canSetClock)(
  `F48 ${HOURS} hours at ${SPEED} times the speed: checks, restarts, idle servers, sessions, log files, memory`,
  async () => {
    const hub = await openFast();
    try {
      await soak(hub);
    } finally {
      expect(await hub.end()).toBe(0);
    }
    expect(processesWithMark(hub.home.mark)).toEqual([]);
  },
);

async function soak(hub: FaultHub): Promise<void> {
  const { checked, remote, idle, crashing } = await addServers(hub);
  const asked = await connect(`${hub.running.url}/mcp`);
  const silent = await connect(`${hub.running.url}/mcp`);
  const listed = [checked.up, remote.up].map(listings);
  const startedAt = performance.now();
  const hoursPassed = () => (performance.now() - startedAt) / HOUR_MS;
  const heap: number[] = [];
  let hour = 0;
  let calls = 0;
  while (hoursPassed() < HOURS) {
    expect((await ask(hub, OTHER, "echo")).error).toBeUndefined();
    expect((await knock(() => asked.request("tools/list"))).result.tools).not.toEqual([]);
    calls++;
    if (hoursPassed() > hour) {
      hour++;
      await collectGarbage(hub);
      heap.push(await heapOf(hub));
      expect((await ask(hub, idle.name, "act", { id: "x" })).error).toBeUndefined();
      await ask(hub, crashing.name, "act", { id: "x" });
    }
    await sleep(TICK_MS);
  }
  const expected = (HOURS * 3600) / CHECK_SECONDS;
  const checks = [checked.up, remote.up].map((up, n) => listings(up) - (listed[n] ?? 0));
  const starts = idle.up.count("start");
  const lows = lowest(heap);
  process.stderr.write(
    `${HOURS} h in ${Math.round((HOURS * HOUR_MS) / 1000)} s, ${calls} calls: health checks ${checks.join(" and ")} of ${expected}, ` +
      `idle server started ${starts} times in ${hour} hours, heap at its lowest ${toMegabytes(lows)}\n`,
  );
  for (const count of checks) {
    expect(count).toBeLessThanOrEqual(expected + 1);
    // Each check takes time, and the next waits for it.
    expect(count).toBeGreaterThan(expected * 0.75);
  }
  // The server stopped ten minutes after each call.
  expect(starts).toBe(hour);
  expect(crashing.up.count("start")).toBeGreaterThanOrEqual(hour);
  await hub.untilState(crashing.name, "running");
  // A session expires after an hour without requests; the active one is kept.
  if (HOURS > 2) expect(await statusOf(hub, silent.headers)).toBe(404);
  requireRolled(hub);
  if (HOURS >= 12) expect(growth(lows)).toBeLessThan(GROWTH);
}

async function openFast(): Promise<FaultHub> {
  const home = await makeHome({ [OTHER]: { ...fixture("echo"), ...PATIENT } });
  // Nearly full, so that it is rotated during the run.
  await mkdir(join(home.dir, "state"), { recursive: true });
  const line = `${JSON.stringify({ level: 30, msg: "from before" })}\n`;
  await writeFile(logOf(home.dir), line.repeat(Math.floor((LOG_BYTES - 20_000) / line.length)));
  const hub = await FaultHub.open({ home, env: { ...spedUp(SPEED), ...COLLECTING } });
  await hub.untilState(OTHER, "running");
  return hub;
}

async function addServers(hub: FaultHub) {
  return {
    checked: await hub.add({}, PATIENT),
    remote: await hub.add({ transport: "http", era: "modern" }, PATIENT),
    idle: await hub.add({}, { ...PATIENT, resilience: { on_demand: true } }),
    crashing: await hub.add({ steps: [{ do: "exit", code: 3 }] }, PATIENT),
  };
}

const logOf = (dir: string) => join(dir, "state/log.jsonl");
const listings = (up: Upstream) => up.count("heard", { method: "tools/list" });

/** Requires that the full file was rotated and a new one is being written. */
function requireRolled({ home }: FaultHub): void {
  const path = logOf(home.dir);
  expect(existsSync(`${path}.1`)).toBe(true);
  expect(statSync(path).size).toBeLessThan(LOG_BYTES);
  const [last = ""] = readFileSync(path, "utf8").trimEnd().split("\n").slice(-1);
  expect(JSON.parse(last)).toMatchObject({ name: "plugboard" });
}

async function ask(hub: FaultHub, server: string, tool: string, options: { id?: string } = {}): Promise<Outcome> {
  const outcome = await knock(
    () => hub.call(server, tool, options),
    ({ answers }) => answers === 1,
  );
  hub.outcomes.splice(0);
  hub.read.splice(0);
  hub.events.messages.all.splice(0, Math.max(0, hub.events.messages.all.length - 1000));
  return outcome;
}

async function statusOf(hub: FaultHub, headers: Readonly<Record<string, string>>): Promise<number> {
  const list = { jsonrpc: "2.0", id: 1, method: "tools/list", params: {} };
  const { status } = await knock(
    () => hub.post(list, headers),
    (answer) => answer.status !== 408,
  );
  return status;
}
