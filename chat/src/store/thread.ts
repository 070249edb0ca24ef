// What hangs together with a message: what it answers, what answers it, and what shares its thread; and so on from there.

import { keyOf } from "./columns.ts";
import type { Database } from "./driver.ts";

/** The nearest ones, so many at most, with the message itself first. */
export function findThread(db: Database, key: number, limit: number): readonly number[] {
  // The queue of a recursive query is first in, first out: what is nearest is found first, and a circle ends by itself.
  const rows = db.all(
    `WITH RECURSIVE linked (key, chat, id, reply_to, thread) AS (
       SELECT key, chat, id, reply_to, thread FROM message WHERE key = ?
       UNION
       SELECT m.key, m.chat, m.id, m.reply_to, m.thread FROM linked l JOIN message m ON m.chat = l.chat AND
         (m.id = l.reply_to OR m.id = l.thread OR m.reply_to = l.id OR m.thread = l.id OR m.thread = l.thread)
       LIMIT ?
     ) SELECT key FROM linked`,
    key,
    limit,
  );
  return rows.map(keyOf);
}
