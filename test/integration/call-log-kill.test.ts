// Figure 6: a kill of the hub under load loses no call that was answered. The built hub serves real HTTP clients and is
// killed with SIGKILL at random instants; the next one on the same home must know every call whose answer arrived.

import { readdir } from "node:fs/promises";
import { join } from "node:path";
import { setTimeout as sleep } from "node:timers/promises";
import { expect, it } from "vitest";
import { HubClient } from "../../hub/src/api/client.ts";
import { readManagementToken } from "../../hub/src/auth/management-token.ts";
import { connect } from "../../hub/src/store/driver.ts";
import { fixture, makeHome, startHub, type Home, type RunningHub } from "../support/hub.ts";
import { Load } from "../support/load.ts";
import { seesTags, untilNoneWithMark } from "../support/processes.ts";
import { withSeed } from "../support/random.ts";

/** KILLS=200 is the whole proof; it takes some minutes. */
const KILLS = Number(process.env["KILLS"] ?? 8);
const IN_FLIGHT = 16;
const MAX_ANSWERS = 400;
/** Longer than a call: a kill meets every part of one. */
const MAX_DELAY_MS = 20;

it(`RS-4 F41 ${KILLS} kills under load lose no answered call`, { timeout: 60_000 + KILLS * 10_000 }, () =>
  withSeed(async (random, seed) => {
    const home = await makeHome({ it: fixture("echo") });
    const startedAt = performance.now();
    const tally = { kills: 0, answered: 0, unanswered: 0 };
    let lastId = 0;
    let hub = await startHub(home);
    try {
      for (; tally.kills < KILLS; tally.kills++) {
        const run = `${tally.kills}.`;
        const load = new Load(`${hub.url}/mcp`, { inFlight: IN_FLIGHT, prefix: run });
        await load.untilAnswered(1 + Math.floor(random() * MAX_ANSWERS));
        await sleep(random() * MAX_DELAY_MS);
        await hub.kill();
        await load.broken();
        // LC-5: the guard ends them when it sees that the hub has gone.
        if (seesTags) await untilNoneWithMark(home.mark, 5000);
        hub = await startHub(home);
        const rows = await callsAfter(await clientOf(hub), lastId);
        const found = new Set(rows.map(({ workflow_id }) => workflow_id ?? ""));
        expect([run, load.answered.filter((marker) => !found.has(marker))]).toEqual([run, []]);
        // Each call once, and only of this run: an id that came back would hide another call's row.
        expect([found.size, rows.every(({ id }) => id > lastId)]).toEqual([rows.length, true]);
        expect([...found].filter((marker) => !marker.startsWith(run))).toEqual([]);
        // What was recorded but not answered was on its way.
        expect(rows.length - load.answered.length).toBeLessThanOrEqual(IN_FLIGHT);
        expect(hub.stderr()).not.toMatch(/call log|database/i);
        lastId = Math.max(lastId, ...rows.map(({ id }) => id));
        tally.answered += load.answered.length;
        tally.unanswered += rows.length - load.answered.length;
      }
      await hub.stop();
      await expectWhole(home, tally.answered + tally.unanswered);
      if (process.env["KILLS"] !== undefined) {
        const seconds = (performance.now() - startedAt) / 1000;
        process.stdout.write(`${JSON.stringify({ ...tally, seconds, seed })}\n`);
      }
    } finally {
      await hub.kill();
      if (seesTags) await untilNoneWithMark(home.mark, 5000);
      await home.remove();
    }
  }),
);

it("RS-4 RS-6 the log is read while it is written, the last answered call included", async () => {
  const home = await makeHome({ it: fixture("echo") });
  const hub = await startHub(home);
  try {
    const client = await clientOf(hub);
    const load = new Load(`${hub.url}/mcp`, { inFlight: IN_FLIGHT, prefix: "" });
    for (let round = 1; round <= 30; round++) {
      await load.untilAnswered(round * 20);
      const last = load.answered.at(-1) ?? "";
      const [byMarker, newest, failed] = await Promise.all([
        client.calls({ workflow_id: last }),
        client.calls({ limit: 1000 }),
        client.calls({ success: false }),
      ]);
      expect(byMarker.items.map(({ workflow_id }) => workflow_id)).toEqual([last]);
      expect(newest.items.length).toBeGreaterThanOrEqual(Math.min(1000, round * 20));
      expect(failed.items).toEqual([]);
    }
    await load.stop();
    expect((await callsAfter(client, 0)).length).toBe(load.answered.length);
  } finally {
    await hub.stop();
    await home.remove();
  }
});

async function clientOf(hub: RunningHub): Promise<HubClient> {
  const token = (await readManagementToken(join(hub.home.dir, "data"))) ?? "";
  return new HubClient({ url: hub.url, token });
}

/** Every recorded call after an id, newest first, page by page. */
async function callsAfter(client: HubClient, id: number) {
  const query = { after: id, limit: 1000 };
  let page = await client.calls(query);
  const rows = [...page.items];
  while (page.next_cursor !== null) {
    page = await client.calls({ ...query, cursor: page.next_cursor });
    rows.push(...page.items);
  }
  return rows;
}

/** The file is the one that all of them wrote, and SQLite finds no fault with it. */
async function expectWhole(home: Home, calls: number): Promise<void> {
  const data = join(home.dir, "data");
  expect((await readdir(data)).filter((name) => name.startsWith("calls.db"))).toEqual(["calls.db"]);
  const db = await connect(join(data, "calls.db"));
  expect(db.prepare("PRAGMA integrity_check").get()).toEqual({ integrity_check: "ok" });
  expect(
    db.prepare("SELECT count(*) AS count, count(DISTINCT workflow_id) AS markers FROM mcp_call_log").get(),
  ).toEqual({
    count: calls,
    markers: calls,
  });
  await db.close();
}
