// What `plugboard doctor --fix` can put right by itself: found here, and done, one thing after the other.

import { toHubError } from "../errors.ts";
import type { CheckResult } from "./checks.ts";
import type { GlobalOptions, Io } from "./io.ts";
import { findLeftovers } from "./leftovers.ts";
import { findOpenFiles } from "./open-files.ts";
import { placesOf } from "./record.ts";
import type { Repair } from "./repair.ts";
import { findUndeclaredVariables } from "./undeclared-variables.ts";
import { findUnreadableLog } from "./unreadable-log.ts";

export interface Repaired {
  readonly fixed: Pick<CheckResult, "name" | "message">[];
  readonly failed: Pick<CheckResult, "name" | "message">[];
}

/** What was wrong may have hidden something else, such as a folder that could not be read. */
const MAX_ROUNDS = 3;

export async function findRepairs(io: Io, options: GlobalOptions): Promise<Repair[]> {
  const places = placesOf(io, options);
  const found = await Promise.all([
    findOpenFiles(places),
    findLeftovers(places),
    findUnreadableLog(places),
    findUndeclaredVariables(io, places),
  ]);
  return found.flat();
}

export async function repairAll(io: Io, options: GlobalOptions): Promise<Repaired> {
  const repaired: Repaired = { fixed: [], failed: [] };
  for (let round = 0; round < MAX_ROUNDS && repaired.failed.length === 0; round++) {
    const repairs = await findRepairs(io, options);
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
