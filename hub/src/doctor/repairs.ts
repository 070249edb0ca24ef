// Finds and runs repairs that are safe.

import { toHubError } from "../errors.ts";
import type { CheckResult, Examined } from "./checks.ts";
import { findLeftovers } from "./stale-files.ts";
import { findOpenFiles } from "./open-files.ts";
import type { Repair } from "./repair.ts";
import { declareVariablesRepairs } from "./undeclared-variables.ts";
import { findUnreadableLog } from "./unreadable-log.ts";

export interface Repaired {
  readonly fixed: Pick<CheckResult, "name" | "message">[];
  readonly failed: Pick<CheckResult, "name" | "message">[];
}

/** A repair may reveal another problem, such as a folder that could not be read before. */
const MAX_ROUNDS = 3;

export async function findRepairs({ user, folders, hub }: Examined): Promise<Repair[]> {
  // A running hub owns its call log.
  const isRunning = (await hub().catch(() => undefined)) !== undefined;
  const found = await Promise.all([
    findOpenFiles(folders),
    findLeftovers(folders),
    isRunning ? [] : findUnreadableLog(folders),
    declareVariablesRepairs(user, folders),
  ]);
  return found.flat();
}

/** `isWanted`: which of the repairs to run; all by default. */
export async function repairAll(
  examined: Examined,
  isWanted: (repair: Repair) => boolean = () => true,
): Promise<Repaired> {
  const repaired: Repaired = { fixed: [], failed: [] };
  for (let round = 0; round < MAX_ROUNDS && repaired.failed.length === 0; round++) {
    const repairs = (await findRepairs(examined)).filter(isWanted);
    if (repairs.length === 0) break;
    for (const { name, message, run } of repairs) {
      try {
        repaired.fixed.push({ name, message: await run() });
      } catch (thrown) {
        const { message: reason, detail } = toHubError(thrown);
        repaired.failed.push({ name, message: `${message}: ${detail ?? reason}` });
      }
    }
  }
  return repaired;
}
