// The list of chats, the latest active first, and how a chat is found by what it is called.

import type { ChatQuery, Page, SourceTotals, StoredChat, StoredGap } from "../query.ts";
import { CHAT_TYPES } from "../source.ts";
import { keyOf, number, text } from "./columns.ts";
import { parseCursor, toCursor, type Position } from "./cursor.ts";
import type { Database, SqlRow, SqlValue } from "./driver.ts";
import { fold } from "./fold.ts";

const SELECT = `SELECT c.*, x.id AS source_id FROM chat c JOIN source x ON x.key = c.source`;
/** Empty chats come last. */
const ACTIVE_AT = "coalesce(c.newest_at, -9007199254740991)";

export function listChats(db: Database, query: ChatQuery): Page<StoredChat> {
  const { source, type, namePattern, activeSince, limit, cursor } = query;
  const question = ["chats", source ?? null, type ?? null, namePattern ?? null];
  const bounds = { since: activeSince };
  const parsed = cursor === undefined ? { position: undefined, bounds } : parseCursor(cursor, question, bounds);
  const conditions: [sql: string, ...values: SqlValue[]][] = [];
  if (source !== undefined) conditions.push(["x.id = ?", source]);
  if (type !== undefined) conditions.push(["c.type = ?", type]);
  if (namePattern !== undefined) conditions.push(["c.folded_name GLOB ?", toGlob(namePattern)]);
  if (parsed.bounds.since !== undefined) conditions.push(["c.newest_at >= ?", parsed.bounds.since]);
  if (parsed.position !== undefined) conditions.push(belowPosition(parsed.position));
  const where = conditions.length === 0 ? "" : ` WHERE ${conditions.map(([sql]) => sql).join(" AND ")}`;
  const rows = db.all(
    `${SELECT}${where} ORDER BY ${ACTIVE_AT} DESC, c.key DESC LIMIT ?`,
    ...conditions.flatMap(([, ...values]) => values),
    limit + 1,
  );
  const items = rows.slice(0, limit).map(toChat);
  const last = items.at(-1);
  if (last === undefined || rows.length <= limit) return { items };
  return { items, nextCursor: toCursor(question, parsed.bounds, [last.newestAt, last.key]) };
}

/** By id, then by exact name, then without case: several where the name does not decide. */
export function findChats(db: Database, source: string, idOrName: string): readonly StoredChat[] {
  const find = (condition: string, value: string) =>
    db.all(`${SELECT} WHERE x.id = ? AND ${condition} ORDER BY ${ACTIVE_AT} DESC, c.key`, source, value).map(toChat);
  const byId = find("c.id = ?", idOrName);
  if (byId.length > 0) return byId;
  const byName = find("c.name = ?", idOrName);
  return byName.length > 0 ? byName : find("c.folded_name = ?", fold(idOrName.trim()));
}

export function sourceTotals(db: Database, source: string): SourceTotals {
  const row =
    db.get(
      `SELECT count(*) AS chats, sum(message_count) AS messages, min(oldest_at) AS oldest_at, max(newest_at) AS newest_at
       FROM chat WHERE source = (SELECT key FROM source WHERE id = ?)`,
      source,
    ) ?? {};
  return {
    chats: number(row, "chats") ?? 0,
    messages: number(row, "messages") ?? 0,
    oldestAt: number(row, "oldest_at"),
    newestAt: number(row, "newest_at"),
  };
}

export function sourceGaps(db: Database, source: string, limit: number): readonly StoredGap[] {
  const rows = db.all(
    `SELECT nullif(chat, 0) AS chat, from_at, to_at, reason FROM gap
     WHERE source = (SELECT key FROM source WHERE id = ?) ORDER BY to_at DESC, from_at DESC LIMIT ?`,
    source,
    limit,
  );
  return rows.map((row) => ({
    chat: number(row, "chat"),
    from: Number(row["from_at"]),
    to: Number(row["to_at"]),
    reason: String(row["reason"]),
  }));
}

function belowPosition([newestAt, key]: Position): [sql: string, ...values: SqlValue[]] {
  return [`(${ACTIVE_AT}, c.key) < (?, ?)`, newestAt ?? Number.MIN_SAFE_INTEGER, key];
}

/** With wildcards it is the whole name, without them a part of it. */
function toGlob(pattern: string): string {
  const glob = fold(pattern).replaceAll("[", "[[]");
  return /[*?]/.test(glob) ? glob : `*${glob}*`;
}

function toChat(row: SqlRow): StoredChat {
  return {
    key: keyOf(row),
    source: String(row["source_id"]),
    id: String(row["id"]),
    name: text(row, "name") ?? String(row["id"]),
    type: CHAT_TYPES.find((type) => type === row["type"]) ?? "direct",
    participantCount: number(row, "participant_count"),
    messageCount: number(row, "message_count") ?? 0,
    oldestAt: number(row, "oldest_at"),
    newestAt: number(row, "newest_at"),
  };
}
