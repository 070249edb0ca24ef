// Stores the spans of a chat that were not fetched from its network.

import { z } from "zod";
import { addSpan, olderThan, type Span } from "../model/unfetched.ts";
import { number } from "./read/columns.ts";
import type { Database } from "@plugboard/shared/sqlite/driver";

const Spans = z.array(z.object({ from: z.number(), to: z.number(), token: z.string().exactOptional() }));

export function readUnfetched(db: Database, chat: number): readonly Span[] {
  const json = db.get("SELECT spans FROM unfetched WHERE chat = ?", chat)?.["spans"];
  if (typeof json === "string") return Spans.parse(JSON.parse(json));
  return olderThan(number(db.get("SELECT oldest_at FROM chat WHERE key = ?", chat) ?? {}, "oldest_at"));
}

export function writeUnfetched(db: Database, chat: number, spans: readonly Span[]): void {
  db.run(
    "INSERT INTO unfetched (chat, spans) VALUES (?, ?) ON CONFLICT DO UPDATE SET spans = excluded.spans",
    chat,
    JSON.stringify(spans),
  );
}

export function anyUnfetched(db: Database, source: string): boolean {
  const row = db.get(
    `SELECT 1 FROM chat c JOIN source x ON x.key = c.source LEFT JOIN unfetched u ON u.chat = c.key
     WHERE x.id = ? AND coalesce(u.spans, '') <> '[]' LIMIT 1`,
    source,
  );
  return row !== undefined;
}

/** A sync skipped messages: from the newest stored message up to `to`. */
export function addUnfetched(db: Database, chat: number, { to, token }: { to: number; token: string }): void {
  const newest = number(db.get("SELECT newest_at FROM chat WHERE key = ?", chat) ?? {}, "newest_at");
  if (newest === null)
    return writeUnfetched(
      db,
      chat,
      olderThan(to).map((span) => ({ ...span, token })),
    );
  writeUnfetched(db, chat, addSpan(readUnfetched(db, chat), { from: newest, to, token }));
}
