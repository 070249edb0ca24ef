// The way through the log that everybody takes who looks for calls: from the newest pack of heads to the oldest, past those
// that hold no call of the time that is asked for, with pauses in which others get their turn.

import { setImmediate as nextTurn } from "node:timers/promises";
import type { Database } from "./driver.ts";
import { HeadPack, MAX_HEADS } from "./head-pack.ts";

/** After this long, others get their turn. */
const MAX_HOLD_MS = 2;
/** Packs that one statement reads. The first ones are few, since the newest calls are often all that is wanted; then more, which cost less each. */
const FIRST_STEP = 2;
const MAX_STEP = 128;

const READ = `SELECT first, heads FROM head WHERE first < ? AND first > ? AND latest >= ? AND earliest < ?
  ORDER BY first DESC LIMIT ?`;

export interface WalkBounds {
  /** Ids of calls, not included. */
  readonly below?: number | undefined;
  readonly above?: number | undefined;
  /** Milliseconds since the epoch; the first is included, the second is not. */
  readonly since?: number | undefined;
  readonly until?: number | undefined;
}

/** Packs that may hold calls within the bounds; which of their calls do is for the caller to see. */
export async function* walkHeads(db: Database, bounds: WalkBounds): AsyncGenerator<HeadPack> {
  const { above = 0, since = -Number.MAX_VALUE, until = Number.MAX_VALUE } = bounds;
  const read = db.prepare(READ);
  let below = bounds.below ?? Number.MAX_SAFE_INTEGER;
  let turnAt = performance.now();
  // A pack that begins before may reach beyond.
  const oldest = Math.max(0, above - MAX_HEADS);
  for (let step = FIRST_STEP; ; step = Math.min(2 * step, MAX_STEP)) {
    const rows = read.all(below, oldest, since, until, step);
    const newest = below;
    for (const row of rows) {
      const pack = new HeadPack(row["first"], row["heads"]);
      yield pack;
      below = Math.min(below, pack.first);
    }
    // In a damaged file they may stand in any order.
    if (rows.length < step || below === newest) return;
    if (performance.now() - turnAt < MAX_HOLD_MS) continue;
    await nextTurn();
    turnAt = performance.now();
  }
}
