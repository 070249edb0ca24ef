// A call log that cannot be read any more: set aside, as a hub does when it meets one. While a hub runs it is the hub's.

import { access, readdir } from "node:fs/promises";
import { join } from "node:path";
import { isStale } from "./leftovers.ts";
import { readRecord, type Places } from "./record.ts";
import type { Repair } from "./repair.ts";

const PROBLEMS = {
  damaged: "is damaged",
  foreign: "is not one of this program",
  newer: "was written by a newer version of this program",
} as const;

export async function findUnreadableLog({ data, state }: Places): Promise<Repair[]> {
  const path = join(data, "calls.db");
  const isThere = await access(path).then(
    () => true,
    () => false,
  );
  if (!isThere || (await isHubRunning({ data, state }))) return [];
  const [{ CALL_LOG_FORM }, { findDamage, openDatabase }, { setAside }] = await Promise.all([
    import("../store/call-schema.ts"),
    import("../store/sqlite.ts"),
    import("../store/set-aside.ts"),
  ]);
  const reason = await findDamage(path, CALL_LOG_FORM);
  if (reason === undefined) return [];
  const run = async () => {
    const said = await setAside(path, reason);
    const { db } = await openDatabase(path, CALL_LOG_FORM);
    await db.close();
    return said;
  };
  return [{ name: "call log", state: "problem", message: `${path} ${PROBLEMS[reason]}`, run }];
}

/** Whatever config it is for: they share the log. */
async function isHubRunning({ data, state }: Pick<Places, "data" | "state">): Promise<boolean> {
  const names = (await readdir(state).catch((): string[] => [])).filter((name) => /^hub.*\.json$/.test(name));
  const records = await Promise.all(names.map((name) => readRecord(join(state, name)).catch(() => undefined)));
  const running = records.map(async (record) => record !== undefined && !(await isStale(record, data)));
  return (await Promise.all(running)).includes(true);
}
