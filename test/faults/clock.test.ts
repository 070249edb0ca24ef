// The time of day jumps: F40 of the catalogue. Whatever waits goes by the time that has passed, and what is told to people
// by the time of day stays in order.

import { afterAll, describe, expect, it } from "vitest";
import { connect } from "../support/rpc.ts";
import { canSetClock, WallClock } from "../support/wall-clock.ts";
import { OTHER, type FaultHub, type Outcome } from "./fault-hub.ts";
import { family, requireSeen } from "./rows.ts";
import { Upstream, type Fault } from "./scenario.ts";

const DAY_MS = 86_400_000;
/** No wait of these tests is as long. */
const MINUTE_MS = 60_000;
const LONG_MS = 600_000;
const SHORT_MS = 1000;
const CRASH = { do: "exit", code: 3 } as const;
const FAILURE: Fault = { do: "status", status: 500, ran: true };

const clock = new WallClock();
afterAll(() => clock.remove());

/** Seconds from now until a moment, as the clock is set. */
const until = (moment: string) => `+${Math.round((Date.parse(moment) - Date.now()) / 1000)}`;

/** The time of day before and after. The hub is in Berlin. */
const JUMPS: readonly (readonly [what: string, before: string, after: string])[] = [
  ["a day ahead", "+0", "+1d"],
  ["three days back", "+0", "-3d"],
  ["over the end of summer time", until("2027-10-31T00:59:59Z"), until("2027-10-31T01:00:01Z")],
];

describe.runIf(canSetClock)("the time of day", () => {
  family(
    "the time of day jumps",
    ({ hub }) => {
      it.each(JUMPS)("F40 %s: whatever waits does not notice", async (_, before, after) => {
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
        // A call and a start take as long as they take.
        expect(await call()).toBeLessThan(MINUTE_MS);
        expect(await start()).toBeLessThan(MINUTE_MS);
        requireSeen(await hang(), { code: "NETWORK_ERROR", kind: "Timeout" });
        expect((await session.request("tools/list")).result.tools).not.toEqual([]);
        const passedMs = (await uptimeOf(hub())) - upBefore;
        expect(passedMs).toBeGreaterThan(0);
        expect(passedMs).toBeLessThan(5 * MINUTE_MS);
      });

      it("F40 RS-4 calls are in the order in which they came, whatever the clock said", async () => {
        const workflows: string[] = [];
        for (const offset of ["+0", "+1d", "-3d", "+0", until("2027-03-28T00:59:59Z"), "-1d"]) {
          clock.set(offset);
          workflows.push((await hub().call(OTHER, "echo")).workflow);
        }
        const { items } = (await hub().api(`/calls?limit=${workflows.length}`)).json;
        const newestFirst = items.map(({ workflow_id }: { workflow_id: string }) => workflow_id);
        expect(newestFirst).toEqual(workflows.toReversed());
        // The clock did jump: the third call is days before the second.
        const times = items.map(({ timestamp }: { timestamp: string }) => Date.parse(timestamp)).toReversed();
        expect(times[1] - times[2]).toBeGreaterThan(3 * DAY_MS);
        for (const { duration_ms: ms } of items) expect(ms).toBeGreaterThanOrEqual(0);
      });
    },
    { env: { ...clock.env, TZ: "Europe/Berlin" } },
  );
});

type Four = Awaited<ReturnType<typeof makeFour>>;

/** A server whose circuit is open, one that waits to be started again, one that is checked, one that nobody calls. */
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
  // The first restart is at once, and crashes too.
  await hub.until(
    async () => (await hub.server(crashing.name)).next_try?.tries === 2 || crashing.up.count("start") > 2,
  );
  for (let n = 0; n < 3; n++) await hub.call(broken.name, "act");
  return { broken, crashing, checked, idle };
}

const uptimeOf = async (hub: FaultHub): Promise<number> => (await hub.api("/status")).json.uptime_ms;

const listings = (up: Upstream) => up.count("heard", { method: "tools/list" });

/** What is due soon happens, wherever the clock went. */
async function requireSoon(hub: FaultHub, { broken, crashing, checked, idle }: Four): Promise<void> {
  await hub.until(async () => (await hub.call(broken.name, "act", { id: "x" })).error === undefined);
  await hub.untilState(crashing.name, "running");
  const before = listings(checked.up);
  await hub.until(() => listings(checked.up) > before);
  await hub.untilState(idle.name, "stopped");
}

/** What is due in ten minutes does not happen, and the time that is left is said rightly. */
async function requireLate(hub: FaultHub, { broken, crashing, checked, idle }: Four): Promise<void> {
  const refused = await hub.call(broken.name, "act");
  requireSeen(refused, { code: "SERVICE_UNAVAILABLE", kind: "CircuitOpen" });
  expect(Number(/(\d+) s/.exec(refused.error?.message ?? "")?.[1])).toBeLessThanOrEqual(LONG_MS / 1000);
  const down = await hub.call(crashing.name, "act");
  requireSeen(down, { code: "SERVICE_UNAVAILABLE", kind: "ServerNotRunning" });
  expect(down.error?.retry_after_ms).toBeGreaterThan(0);
  expect(down.error?.retry_after_ms).toBeLessThanOrEqual(2 * LONG_MS);
  expect(crashing.up.count("start")).toBe(2);
  // At its start, and never again.
  expect(listings(checked.up)).toBe(1);
  expect((await hub.server(idle.name)).status).toBe("running");
}

/** A call that is under way. What comes back lets it end, and gives how long it took by the hub's own record. */
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

/** A call that is under way and never answered. */
async function hangingCall(hub: FaultHub): Promise<() => Promise<Outcome>> {
  const { name, up } = await hub.add({ steps: [{ do: "silence" }] }, { timeouts: { requestMs: 5 * SHORT_MS } });
  const call = hub.call(name, "act", { deadlineMs: MINUTE_MS });
  await up.until("ran");
  return () => call;
}

/** A server in the middle of its handshake. What comes back lets it go on, and gives how long the hub says it took. */
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
