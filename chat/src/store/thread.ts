// What hangs together with a message: what it answers, what answers it, and what shares its thread; and so on from there.

import { keyOf } from "./columns.ts";
import type { Database } from "./driver.ts";

/** How one message is linked to another; each has an index of its own, which one condition for all would not use. */
const LINKS = ["m.id = l.reply_to", "m.id = l.thread", "m.reply_to = l.id", "m.thread = l.id", "m.thread = l.thread"];

// The queue of a recursive query is first in, first out: what is nearest is found first. A circle ends by itself.
const NEAREST = `
  WITH RECURSIVE linked (key, chat, id, reply_to, thread) AS (
    SELECT key, chat, id, reply_to, thread FROM message WHERE key = ?
    ${LINKS.map(
      (link) => `UNION SELECT m.key, m.chat, m.id, m.reply_to, m.thread
        FROM linked l CROSS JOIN message m ON m.chat = l.chat AND ${link}`,
    ).join("\n    ")}
    LIMIT ?
  ) SELECT key FROM linked`;

/** The nearest ones, so many at most, with the message itself first. */
export function findThread(db: Database, key: number, limit: number): readonly number[] {
  return db.all(NEAREST, key, limit).map(keyOf);
}
