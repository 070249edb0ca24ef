// A kill of the hub loses no acknowledged call. Real processes append in a loop and are killed with SIGKILL at random moments;
// the next process must find every acknowledged call exactly once, in an intact file.

import { spawn } from "node:child_process";
import { once } from "node:events";
import { existsSync } from "node:fs";
import { mkdtemp, rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { setTimeout as sleep } from "node:timers/promises";
import { fileURLToPath } from "node:url";
import { expect, it } from "vitest";
import { Redactor } from "../../redaction/redactor.ts";
import { SqliteCallLog } from "./sqlite-call-log.ts";
import { connect } from "@plugboard/shared/sqlite/driver";
import { scaled } from "../../../../test/support/scale.ts";

const KILLS = scaled(15, 200);
const DIST = process.env["PLUGBOARD_DIST"] ?? fileURLToPath(new URL("../../../dist", import.meta.url));
const APPEND_LOOP = fileURLToPath(new URL("../../../../test/fixtures/append-loop.mjs", import.meta.url));
const LANES = 3;
const MAX_DELAY_MS = 80;

it(`RS-4 F41 ${KILLS} kills lose no acknowledged call`, { timeout: 60_000 + KILLS * 2000 }, async () => {
  expect(existsSync(join(DIST, "call-log/sqlite/sqlite-call-log.js")), "built by `npm run build`").toBe(true);
  const dir = await mkdtemp(join(tmpdir(), "plugboard-crash-"));
  try {
    const tally = { kills: 0, acknowledged: 0 };
    const lanes = Array.from({ length: LANES }, (_, lane) => runLane(join(dir, `${lane}.db`), tally));
    // All lanes end before the folder is removed, also after a failure.
    for (const lane of await Promise.allSettled(lanes)) if (lane.status === "rejected") throw lane.reason;
    expect(tally.acknowledged).toBeGreaterThan(KILLS * 10);
  } finally {
    await rm(dir, { recursive: true, force: true });
  }
});

async function runLane(path: string, tally: { kills: number; acknowledged: number }): Promise<void> {
  for (let run = 0; tally.kills < KILLS; run++) {
    tally.kills++;
    const names = await appendUntilKilled(path, run);
    const next = new SqliteCallLog(path, { redactor: new Redactor() });
    await next.query({});
    await next.close();
    const db = await connect(path);
    const ofThisRun = "SELECT workflow_id, error_code FROM mcp_call_log WHERE workflow_id GLOB ?";
    const rows = db.prepare(ofThisRun).all(`${run}.*`);
    const found = new Set(rows.map((row) => row["workflow_id"]));
    expect([run, found.size]).toEqual([run, rows.length]);
    const unknown = rows.filter((row) => row["error_code"] === "UNKNOWN").map((row) => row["workflow_id"]);
    expect([run, names.filter((name) => unknown.includes(name))]).toEqual([run, []]);
    expect([run, names.filter((name) => !found.has(name))]).toEqual([run, []]);
    // Calls in flight may be recorded without having been acknowledged.
    expect(rows.length - names.length).toBeLessThanOrEqual(6);
    const orphans =
      "SELECT count(*) AS count FROM mcp_call_log WHERE params IS NULL OR (result IS NULL AND error_code IS NULL)";
    expect(db.prepare(orphans).get()).toEqual({ count: 0 });
    tally.acknowledged += names.length;
    await db.close();
  }
  const db = await connect(path);
  expect(db.prepare("PRAGMA integrity_check").get()).toEqual({ integrity_check: "ok" });
  await db.close();
}

/** The calls that were acknowledged to one process. */
async function appendUntilKilled(path: string, run: number): Promise<string[]> {
  const child = spawn(process.execPath, [APPEND_LOOP, DIST, path, String(run)], {
    stdio: ["ignore", "pipe", "inherit"],
  });
  const exited = once(child, "exit");
  let output = "";
  child.stdout.setEncoding("utf8").on("data", (text: string) => {
    output += text;
  });
  const ended = once(child.stdout, "end");
  // The exit code below shows a child that fails by itself.
  await Promise.race([once(child.stdout, "data"), exited]);
  await sleep(Math.random() * MAX_DELAY_MS);
  child.kill("SIGKILL");
  expect(await exited).toEqual([null, "SIGKILL"]);
  await ended;
  expect(output).not.toContain("degraded");
  // The last line may be incomplete.
  return output.split("\n").slice(0, -1);
}
