// Finds an unreadable call log and moves it away, as a hub does at its start. Skipped while a hub runs, which owns the log.

import { readdir } from "node:fs/promises";
import { join } from "node:path";
import { exists } from "@plugboard/shared/files/exists";
import { isStale } from "./stale-files.ts";
import { readRecord } from "../run-file.ts";
import type { HubPaths } from "../config/files/paths.ts";
import type { Repair } from "./repair.ts";

export async function findUnreadableLog({ data, state }: HubPaths): Promise<Repair[]> {
  const path = join(data, "calls.db");
  if (!(await exists(path)) || (await isHubRunning({ data, state }))) return [];
  const [{ scrub }, { findDamage, openLog }, { ASIDE_REASONS, setAside }] = await Promise.all([
    import("../call-log/sqlite/call-table.ts"),
    import("../call-log/sqlite/open-log.ts"),
    import("../call-log/sqlite/quarantine.ts"),
  ]);
  const reason = await findDamage(path, (db) => scrub(db));
  if (reason === undefined) return [];
  const run = async () => {
    const message = await setAside(path, reason);
    const { db } = await openLog(path);
    await db.close();
    return message;
  };
  return [
    { section: "files", name: "call log", state: "problem", message: `${path} ${ASIDE_REASONS[reason].text}`, run },
  ];
}

/** Hubs of all configs count: they share the log. */
async function isHubRunning({ data, state }: Pick<HubPaths, "data" | "state">): Promise<boolean> {
  const names = (await readdir(state).catch((): string[] => [])).filter((name) => /^hub.*\.json$/.test(name));
  const records = await Promise.all(names.map((name) => readRecord(join(state, name)).catch(() => undefined)));
  const running = records.map(async (record) => record !== undefined && !(await isStale(record, data)));
  return (await Promise.all(running)).includes(true);
}
