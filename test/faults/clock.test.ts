// F40: the wall clock jumps. Timers follow the monotonic clock, and records stay in order.

import { afterAll, describe, expect, it } from "vitest";
import { connect } from "../support/rpc.ts";
import { canSetClock, WallClock } from "../support/wall-clock.ts";
import { OTHER, type FaultHub, type Outcome } from "./fault-hub.ts";
import { family, requireSeen } from "./rows.ts";
import { Upstream, type Fault } from "./scenario.ts";

const DAY_MS = 86_400_000;
/** Longer than any wait of these tests. */
const MINUTE_MS = 60_000;
const LONG_MS = 600_000;
const SHORT_MS = 1000;
const CRASH = { do: "exit", code: 3 } as const;
const FAILURE: Fault = { do: "status", status: 500, ran: true };

const clock = new WallClock();
afterAll(() => clock.remove());

/** Seconds from now until a moment, as an offset of the clock. */
const until = (moment: string) => `+${Math.round((Date.parse(moment) - Date.now()) / 1000)}`;

/** The wall clock before and after the jump. The hub is in the Berlin time zone. */
const JUMPS: readonly (readonly [what: string, before: string, after: string])[] = [
  ["a day ahead", "+0", "+1d"],
  ["three days back", "+0", "-3d"],
  ["over the end of summer time", until("2027-10-31T00:59:59Z"), until("2027-10-31T01:00:01Z")],
];

describe.runIf(canSetClock)("clock jumps", () => {
  family(
    "the time of day jumps",
    ({ hub }) => {
      it.each(JUMPS)("F40 %s: timers are not affected", async (_, before, after) => {
        clock.set(before);
        const [soon, late, call, hang, start, session] = await Promise.all([
          makeFour(hub(), SHORT_MS),
          makeFour(hub(), LONG_MS),
          openCall(hub()),
          hangingCall(hub()),
          openStart(hub()),
          connect(`${hub().running.url}/mcp`),
        ]);
        const upBefore = await uptimeOf(hub());
        clock.set(after);
        await requireSoon(hub(), soon);
        await requireLate(hub(), late);
        // Durations of a call and of a start are not affected.
        expect(await call()).toBeLessThan(MINUTE_MS);
        expect(await start()).toBeLessThan(MINUTE_MS);
        requireSeen(await hang(), { code: "NETWORK_ERROR", kind: "Timeout" });
        expect((await session.request("tools/list")).result.tools).not.toEqual([]);
        const passedMs = (await uptimeOf(hub())) - upBefore;
        expect(passedMs).toBeGreaterThan(0);
        expect(passedMs).toBeLessThan(5 * MINUTE_MS);
      });

      it("F40 RS-4 calls stay in the order of arrival", async () => {
        const workflows: string[] = [];
        for (const offset of ["+0", "+1d", "-3d", "+0", until("2027-03-28T00:59:59Z"), "-1d"]) {
          clock.set(offset);
          workflows.push((await hub().call(OTHER, "echo")).workflow);
        }
        const { items } = (await hub().api(`/calls?limit=${workflows.length}`)).json;
        const newestFirst = items.map(({ workflow_id }: { workflow_id: string }) => workflow_id);
        expect(newestFirst).toEqual(workflows.toReversed());
        // The clock has jumped: the third call is days before the second.
        const times = items.map(({ timestamp }: { timestamp: string }) => Date.parse(timestamp)).toReversed();
        expect(times[1] - times[2]).toBeGreaterThan(3 * DAY_MS);
        for (const { duration_ms: ms } of items) expect(ms).toBeGreaterThanOrEqual(0);
      });
    },
    { env: { ...clock.env, TZ: "Europe/Berlin" } },
  );
});

type Four = Awaited<ReturnType<typeof makeFour>>;

/** Four servers: one with an open circuit, one that waits for a restart, one with health checks, one that is idle. */
async function makeFour(hub: FaultHub, ms: number) {
  const resilience = {
    breaker_cooldown_ms: ms,
    restart_first_ms: ms,
    restart_max_ms: ms,
    health_check_ms: ms,
    idle_ms: ms,
  };
  const [broken, crashing, checked, idle] = await Promise.all([
    hub.add({ transport: "http", steps: [{ ...FAILURE, first: 3 }] }, { resilience }),
    hub.add({ starts: [null, CRASH], steps: [{ ...CRASH, nth: 1 }] }, { resilience }),
    hub.add({}, { resilience }),
    hub.add({}, { resilience: { ...resilience, on_demand: true } }),
  ]);
  await hub.call(idle.name, "act");
  await hub.call(crashing.name, "act");
  // The first restart has no delay and crashes too.
  await hub.until(
    async () => (await hub.server(crashing.name)).next_try?.tries === 2 || crashing.up.count("start") > 2,
  );
  for (let n = 0; n < 3; n++) await hub.call(broken.name, "act");
  return { broken, crashing, checked, idle };
}

const uptimeOf = async (hub: FaultHub): Promise<number> => (await hub.api("/status")).json.uptime_ms;

const listings = (up: Upstream) => up.count("heard", { method: "tools/list" });

/** Requires that timers due soon fire, whatever the clock shows. */
async function requireSoon(hub: FaultHub, { broken, crashing, checked, idle }: Four): Promise<void> {
  await hub.until(async () => (await hub.call(broken.name, "act", { id: "x" })).error === undefined);
  await hub.untilState(crashing.name, "running");
  const before = listings(checked.up);
  await hub.until(() => listings(checked.up) > before);
  await hub.untilState(idle.name, "stopped");
}

/** Requires that timers due in ten minutes do not fire, and that the remaining time is reported correctly. */
async function requireLate(hub: FaultHub, { broken, crashing, checked, idle }: Four): Promise<void> {
  const refused = await hub.call(broken.name, "act");
  requireSeen(refused, { code: "SERVICE_UNAVAILABLE", kind: "CircuitOpen" });
  expect(Number(/(\d+) s/.exec(refused.error?.message ?? "")?.[1])).toBeLessThanOrEqual(LONG_MS / 1000);
  const down = await hub.call(crashing.name, "act");
  requireSeen(down, { code: "SERVICE_UNAVAILABLE", kind: "ServerNotRunning" });
  expect(down.error?.retry_after_ms).toBeGreaterThan(0);
  expect(down.error?.retry_after_ms).toBeLessThanOrEqual(2 * LONG_MS);
  expect(crashing.up.count("start")).toBe(2);
  // Only the listing at the start.
  expect(listings(checked.up)).toBe(1);
  expect((await hub.server(idle.name)).status).toBe("running");
}

/** Starts a call. Returns a function that lets it end and resolves to its recorded duration. */
async function openCall(hub: FaultHub): Promise<() => Promise<number>> {
  const { name, up } = await hub.add({ steps: [{ do: "hold", gate: "go" }] }, { timeouts: { requestMs: MINUTE_MS } });
  const call = hub.call(name, "act", { id: "x1", deadlineMs: MINUTE_MS });
  await up.until("ran");
  return async () => {
    up.open("go");
    const outcome = await call;
    requireSeen(outcome, "answer");
    const [row] = await hub.calls(outcome.workflow);
    expect(row.duration_ms).toBeGreaterThan(0);
    return row.duration_ms;
  };
}

/** Starts a call that is never answered. */
async function hangingCall(hub: FaultHub): Promise<() => Promise<Outcome>> {
  const { name, up } = await hub.add({ steps: [{ do: "silence" }] }, { timeouts: { requestMs: 5 * SHORT_MS } });
  const call = hub.call(name, "act", { deadlineMs: MINUTE_MS });
  await up.until("ran");
  return () => call;
}

/**
 * Starts a server whose handshake waits. Returns a function that lets it finish and resolves to the duration that the hub
 * reports.
 */
async function openStart(hub: FaultHub): Promise<() => Promise<number>> {
  const name = hub.nextName();
  const up = new Upstream(hub.home.dir, { steps: [{ on: "initialize", do: "hold", gate: "go" }] });
  hub.added.set(name, up);
  await hub.addEntry(name, { ...up.command });
  await up.until("heard", { method: "initialize" });
  return async () => {
    up.open("go");
    const { elapsed_ms: elapsedMs } = await hub.passed(name, "running");
    expect(elapsedMs).toBeGreaterThan(0);
    return elapsedMs;
  };
}
