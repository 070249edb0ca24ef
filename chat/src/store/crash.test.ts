// Crash safety: a kill at any time neither loses nor duplicates a message, and several processes share one file. Real
// processes apply batches, are killed with SIGKILL at random times, and continue from the checkpoint.

import { spawn } from "node:child_process";
import { once } from "node:events";
import { existsSync } from "node:fs";
import { mkdtemp, rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { setTimeout as sleep } from "node:timers/promises";
import { fileURLToPath } from "node:url";
import { afterEach, beforeEach, expect, it } from "vitest";
import { message } from "../../../test/support/chat/events.ts";
import { connect } from "@plugboard/shared/sqlite/driver";
import { openStore } from "./store.ts";
import { scaled } from "../../../test/support/scale.ts";

const KILLS = scaled(12, 200);
const DIST = fileURLToPath(new URL("../../dist", import.meta.url));
const APPLY_LOOP = fileURLToPath(new URL("../../../test/fixtures/apply-loop.mjs", import.meta.url));
/** The same as in apply-loop.mjs. */
const PER_BATCH = 20;
const MAX_DELAY_MS = 80;

let folder: string;
let path: string;

beforeEach(async () => {
  expect(existsSync(join(DIST, "store", "store.js")), "built by `npm run build`").toBe(true);
  folder = await mkdtemp(join(tmpdir(), "plugboard-chat-crash-"));
  path = join(folder, "chat.db");
});

afterEach(async () => {
  await rm(folder, { recursive: true, force: true });
});

it(
  `CH-12 ${KILLS} kills lose and double nothing, and the checkpoint agrees`,
  { timeout: 60_000 + KILLS * 3000 },
  async () => {
    let committed = 0;
    for (let kill = 0; kill < KILLS; kill++) {
      const said = await applyUntilKilled();
      const done = await checkStored();
      // Every acknowledged batch is stored, and at most the one in flight in addition.
      expect([kill, done - Math.max(said, committed)]).toEqual([
        kill,
        expect.toSatisfy((more: number) => more === 0 || more === 1),
      ]);
      committed = done;
    }
    expect(committed).toBeGreaterThan(KILLS);
  },
);

it("CH-12 several processes can write to one store", async () => {
  const batches = 40;
  const sources = ["a", "b", "c"];
  const store = await openStore(path);
  const running = new Set(sources);
  const exits = sources.map(async (source) => {
    const args = [APPLY_LOOP, DIST, path, source, String(batches)];
    const child = spawn(process.execPath, args, { stdio: ["ignore", "ignore", "inherit"] });
    const [code] = (await once(child, "exit")) as unknown[];
    running.delete(source);
    return code;
  });
  // This process reads and writes at the same time.
  let live = 0;
  while (running.size > 0) {
    store.apply("live", [message({ id: String(++live), content: "live" }, "live")]);
    store.messages({ order: "desc", limit: 20, search: "text", includeSystem: false });
    await sleep(5);
  }
  expect(await Promise.all(exits)).toEqual([0, 0, 0]);
  for (const source of sources) {
    expect([source, store.totals(source).messages, store.checkpoint(source)]).toEqual([
      source,
      batches * (PER_BATCH - 1) + 1,
      { batch: String(batches) },
    ]);
  }
  expect(store.totals("live").messages).toBe(live);
  const found = store.messages({ order: "desc", limit: 10_000, search: "live", includeSystem: false });
  expect(found.items).toHaveLength(live);
  await store.close();
});

/** The number of the last acknowledged batch of a killed process. */
async function applyUntilKilled(): Promise<number> {
  const child = spawn(process.execPath, [APPLY_LOOP, DIST, path, "a"], { stdio: ["ignore", "pipe", "inherit"] });
  const exited = once(child, "exit");
  let output = "";
  child.stdout.setEncoding("utf8").on("data", (text: string) => {
    output += text;
  });
  const ended = once(child.stdout, "end");
  // A child that fails by itself is detected by its exit code.
  await Promise.race([once(child.stdout, "data"), exited]);
  await sleep(Math.random() * MAX_DELAY_MS);
  child.kill("SIGKILL");
  expect(await exited).toEqual([null, "SIGKILL"]);
  await ended;
  // The last line may be incomplete.
  return Number(output.split("\n").at(-2) ?? 0);
}

/** The number of stored batches; each must be complete, in the tables and in the index. */
async function checkStored(): Promise<number> {
  const store = await openStore(path);
  const done = Number(store.checkpoint("a")["batch"] ?? 0);
  // Each batch deletes one message of the previous batch.
  const expected = done === 0 ? 0 : done * (PER_BATCH - 1) + 1;
  expect(store.totals("a").messages).toBe(expected);
  const find = (search: string) => store.messages({ order: "desc", limit: 100, search, includeSystem: false }).items;
  expect(find(`word${done}`)).toHaveLength(done === 0 ? 0 : PER_BATCH);
  expect(find(`word${done + 1}`)).toEqual([]);
  if (done > 1) {
    expect(find(`word${done - 1}`)).toHaveLength(PER_BATCH - 2);
    expect(find(`edited${done - 1}`)).toHaveLength(1);
  }
  await store.close();
  const db = await connect(path);
  const counts = "SELECT count(*) AS count, count(DISTINCT id) AS ids FROM message";
  expect(db.get(counts)).toEqual({ count: expected, ids: expected });
  expect(db.get("SELECT count(*) AS count FROM message_index")).toEqual({ count: expected });
  expect(db.get("PRAGMA integrity_check")).toEqual({ integrity_check: "ok" });
  await db.close();
  return done;
}
