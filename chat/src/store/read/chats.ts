// Lists chats, latest active first, and finds them by id, name or person; totals and gaps of sources.

import { z } from "zod";
import type { ChatQuery, Page, SourceTotals, StoredChat, StoredGap } from "../../model/store-port.ts";
import { CHAT_TYPES } from "../../model/source.ts";
import { keyOf, number, text } from "./columns.ts";
import { parseCursor, toCursor, type Position } from "./cursor.ts";
import type { Database, SqlRow, SqlValue } from "@plugboard/shared/sqlite/driver";
import { fold } from "./fold.ts";

/** SQL of the other person of a private chat. */
const PERSON = `CASE WHEN c.type IN ('direct', 'bot') THEN coalesce((SELECT person FROM address WHERE key = c.counterpart),
    (SELECT person FROM address WHERE source = c.source AND id = c.id)) END`;
const SELECT = `
  SELECT c.*, x.id AS source_id,
    (SELECT json_group_array(value) FROM chat_alias WHERE chat = c.key AND kind <> 'name') AS other_ids,
    (SELECT json_group_array(value) FROM chat_alias WHERE chat = c.key AND kind = 'name') AS other_names,
    ${PERSON} AS person
  FROM chat c JOIN source x ON x.key = c.source`;
/** Empty chats come last. */
const ACTIVE_AT = "coalesce(c.newest_at, -9007199254740991)";

export function listChats(db: Database, query: ChatQuery): Page<StoredChat> {
  const { source, type, namePattern, activeSince, limit, cursor } = query;
  const fingerprint = ["chats", source ?? null, type ?? null, namePattern ?? null];
  const bounds = { since: activeSince };
  const parsed = cursor === undefined ? { position: undefined, bounds } : parseCursor(cursor, fingerprint, bounds);
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
  return { items, nextCursor: toCursor(fingerprint, parsed.bounds, [last.newestAt, last.key]) };
}

const ALIAS = "c.key IN (SELECT chat FROM chat_alias WHERE source = c.source AND ";
/** In order of precedence: ids before names, current before former. The first lookup that finds something decides. */
const LOOKUPS = [
  ["c.id = ?", false],
  [`${ALIAS}kind = 'id' AND value = ?)`, false],
  [`${ALIAS}kind = 'former_id' AND value = ?)`, false],
  ["c.name = ?", false],
  [`${ALIAS}kind = 'name' AND value = ?)`, false],
  ["c.folded_name = ?", true],
  [`${ALIAS}kind = 'name' AND folded = ?)`, true],
] as const;

export function findChats(db: Database, source: string, idOrName: string): readonly StoredChat[] {
  const folded = fold(idOrName.trim());
  for (const [condition, isFolded] of LOOKUPS) {
    const sql = `${SELECT} WHERE x.id = ? AND ${condition} ORDER BY ${ACTIVE_AT} DESC, c.key`;
    const found = db.all(sql, source, isFolded ? folded : idOrName);
    if (found.length > 0) return found.map(toChat);
  }
  return [];
}

export function findPrivateChats(db: Database, source: string, person: number): readonly StoredChat[] {
  // By the addresses, of which a person has few: the condition on the person alone would scan every chat.
  const sql = `${SELECT} WHERE x.id = ?1 AND c.type IN ('direct', 'bot')
    AND (c.counterpart IN (SELECT key FROM address WHERE person = ?2)
      OR c.id IN (SELECT id FROM address WHERE person = ?2 AND source = c.source)) AND ${PERSON} = ?2
    ORDER BY c.counterpart IS NOT NULL, ${ACTIVE_AT} DESC, c.key`;
  return db.all(sql, source, person).map(toChat);
}

export function findChatByKey(db: Database, key: number): StoredChat | undefined {
  const row = db.get(`${SELECT} WHERE c.key = ?`, key);
  return row === undefined ? undefined : toChat(row);
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

/** A pattern with wildcards matches the whole name, one without them a part of it. */
function toGlob(pattern: string): string {
  const glob = fold(pattern).replaceAll("[", "[[]");
  return /[*?]/.test(glob) ? glob : `*${glob}*`;
}

const StringArray = z.array(z.string()).catch([]);

function parseTexts(json: unknown): readonly string[] {
  return json === "[]" || typeof json !== "string" ? [] : StringArray.parse(JSON.parse(json));
}

function toChat(row: SqlRow): StoredChat {
  return {
    key: keyOf(row),
    source: String(row["source_id"]),
    id: String(row["id"]),
    name: text(row, "name") ?? String(row["id"]),
    otherIds: parseTexts(row["other_ids"]),
    otherNames: parseTexts(row["other_names"]),
    person: number(row, "person"),
    type: CHAT_TYPES.find((type) => type === row["type"]) ?? "direct",
    participantCount: number(row, "participant_count"),
    messageCount: number(row, "message_count") ?? 0,
    oldestAt: number(row, "oldest_at"),
    newestAt: number(row, "newest_at"),
  };
}
