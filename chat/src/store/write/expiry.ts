// Deletes expired messages: text, earlier texts, reactions and index entries. The sender has set the time.

import type { Database } from "@plugboard/shared/sqlite/driver";
import { MessageWriter } from "./message-writer.ts";

/** Per transaction, to keep locks short. */
const MAX_BATCH = 1000;

/** Returns the number of deleted messages; `commit` runs its argument in a transaction. */
export function expireMessages(db: Database, now: number, commit: (work: () => number) => number): number {
  let deleted = 0;
  // Usually there is nothing to do, and reading needs no lock.
  while (db.get("SELECT 1 FROM message WHERE expires_at <= ? LIMIT 1", now) !== undefined) {
    deleted += commit(() => expireSome(db, now));
  }
  return deleted;
}

function expireSome(db: Database, now: number): number {
  const sql = "SELECT chat, id FROM message WHERE expires_at <= ? ORDER BY expires_at LIMIT ?";
  const due = db.all(sql, now, MAX_BATCH);
  const writer = new MessageWriter(db);
  for (const row of due) writer.delete(Number(row["chat"]), String(row["id"]));
  writer.finish();
  return due.length;
}
