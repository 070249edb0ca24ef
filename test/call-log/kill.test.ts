// A kill of the hub under load loses no answered call. The built hub serves real HTTP clients and is killed with SIGKILL at random
// moments; the next one on the same home must have recorded every call whose answer arrived.

import { readdir } from "node:fs/promises";
import { join } from "node:path";
import { setTimeout as sleep } from "node:timers/promises";
import { expect, it } from "vitest";
import { connect } from "@plugboard/shared/sqlite/driver";
import type { HubClient } from "../../hub/src/api/client/client.ts";
import { clientOf } from "../support/client.ts";
import { fixture, makeHome, startHub, type Home } from "../support/hub.ts";
import { Load } from "../support/load.ts";
import { seesTags, untilNoneWithMark } from "../support/processes.ts";
import { withSeed } from "../support/random.ts";
import { isLongRun, scaled } from "../support/scale.ts";

const KILLS = scaled(8, 200);
const IN_FLIGHT = 16;
const MAX_ANSWERS = 400;
/** Longer than a call, so that a kill happens at any point of one. */
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
        // LC-5: the watchdog ends the servers of a killed hub.
        if (seesTags) await untilNoneWithMark(home.mark);
        hub = await startHub(home);
        const rows = await callsAfter(await clientOf(hub), lastId);
        const found = new Set(rows.map(({ workflow_id }) => workflow_id ?? ""));
        expect([run, load.answered.filter((marker) => !found.has(marker))]).toEqual([run, []]);
        // Each call once, and only of this run: a reused id would hide the row of another call.
        expect([found.size, rows.every(({ id }) => id > lastId)]).toEqual([rows.length, true]);
        expect([...found].filter((marker) => !marker.startsWith(run))).toEqual([]);
        // Calls in flight may be recorded without having been answered.
        expect(rows.length - load.answered.length).toBeLessThanOrEqual(IN_FLIGHT);
        expect(hub.stderr()).not.toMatch(/call log|database/i);
        lastId = Math.max(lastId, ...rows.map(({ id }) => id));
        tally.answered += load.answered.length;
        tally.unanswered += rows.length - load.answered.length;
      }
      await hub.stop();
      await expectWhole(home, tally.answered + tally.unanswered);
      if (isLongRun) {
        const seconds = (performance.now() - startedAt) / 1000;
        process.stdout.write(`${JSON.stringify({ ...tally, seconds, seed })}\n`);
      }
    } finally {
      await hub.kill();
      if (seesTags) await untilNoneWithMark(home.mark);
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
        client.calls.list({ workflow_id: last }),
        client.calls.list({ limit: 1000 }),
        client.calls.list({ success: false }),
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

/** Every recorded call after an id, newest first, page by page. */
async function callsAfter(client: HubClient, id: number) {
  const query = { after: id, limit: 1000 };
  let page = await client.calls.list(query);
  const rows = [...page.items];
  while (page.next_cursor !== null) {
    page = await client.calls.list({ ...query, cursor: page.next_cursor });
    rows.push(...page.items);
  }
  return rows;
}

/** All hubs wrote to the same file, and SQLite finds no fault in it. */
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
