// Forgets messages whose time, set by their sender, is up: text, earlier texts, reactions, and what the index knows.

import type { Database } from "./driver.ts";
import { MessageWriter } from "./message-writer.ts";

/** For one commit, so that nobody waits long for it. */
const MAX_AT_ONCE = 1000;

/** How many were forgotten; `commit` runs what it is given in a transaction. */
export function expireMessages(db: Database, now: number, commit: (work: () => number) => number): number {
  let forgotten = 0;
  // Most of the time there is nothing to do, and then nobody's lock is needed.
  while (db.get("SELECT 1 FROM message WHERE expires_at <= ? LIMIT 1", now) !== undefined) {
    forgotten += commit(() => expireSome(db, now));
  }
  return forgotten;
}

function expireSome(db: Database, now: number): number {
  const sql = "SELECT chat, id FROM message WHERE expires_at <= ? ORDER BY expires_at LIMIT ?";
  const due = db.all(sql, now, MAX_AT_ONCE);
  const writer = new MessageWriter(db);
  for (const row of due) writer.delete(Number(row["chat"]), String(row["id"]));
  writer.finish();
  return due.length;
}
