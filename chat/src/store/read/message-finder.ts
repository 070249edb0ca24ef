// Finds the keys of messages: of a filter, a page at a time in time order; of all that were stored after a key; and those
// around a message, in time or in its thread. The FTS index yields hits in the order of time keys, so that a page reads only
// as many rows as it returns.

import { keyOf } from "./columns.ts";
import type { Database, SqlRow, SqlValue } from "@plugboard/shared/sqlite/driver";
import type { Criteria } from "./message-filter.ts";
import { toPlainText } from "./search-text.ts";
import { nthOf, timeOf, toTimeKey } from "./time-key.ts";

/**
 * A search for parts of words scans at most this many messages per call, since it blocks the event loop. It has no index: one
 * of trigrams would double the file and halve the speed of imports.
 */
const MAX_SCANNED = 10_000;
const SCAN_STEP = 2000;

interface TimePosition {
  readonly at: number;
  readonly nth: number;
}

export interface Found extends TimePosition {
  readonly key: number;
}

export interface FoundPage {
  readonly found: readonly Found[];
  /** The last position that was scanned, if there may be more. */
  readonly nextFrom: TimePosition | undefined;
  /** The part of the offset that is still to be skipped from there. */
  readonly offsetLeft: number;
}

export interface PageWindow {
  readonly order: "desc" | "asc";
  readonly limit: number;
  readonly offset: number;
}

export function findMessages(db: Database, criteria: Criteria, window: PageWindow): FoundPage {
  if (criteria.parts !== undefined) return scan(db, criteria, criteria.parts, window);
  const rows = select(db, criteria, { ...window, limit: window.limit + 1 });
  const found = rows.slice(0, window.limit).map(toFound);
  return { found, nextFrom: rows.length > window.limit ? found.at(-1) : undefined, offsetLeft: 0 };
}

/** Messages that were stored after this one, in that order. */
export function findAfter(db: Database, key: number, criteria: Criteria, limit: number): readonly number[] {
  const { sql, values } = afterQuery(criteria);
  const found: number[] = [];
  for (let from = key; found.length < limit;) {
    const rows = db.all(sql, from, ...values, SCAN_STEP);
    found.push(...rows.filter((row) => containsAll(row, criteria.parts)).map(keyOf));
    const last = rows.at(-1);
    if (last === undefined || rows.length < SCAN_STEP) break;
    from = keyOf(last);
  }
  return found.slice(0, limit);
}

/**
 * Walks the table in the order of keys: callers ask for what was stored last, which are few rows. The plus signs keep SQLite
 * from using the index of a chat, of which it would have to sort all messages.
 */
export function afterQuery(criteria: Criteria): { readonly sql: string; readonly values: readonly SqlValue[] } {
  const { chat, match, first, last } = criteria;
  const { sql, values } = conditions(criteria);
  const isChat = chat === undefined ? "" : " AND +m.chat = ?";
  const isMatch =
    match === undefined
      ? ""
      : " AND (SELECT count(*) FROM message_index WHERE message_index MATCH ? AND rowid = m.time_key) = 1";
  return {
    sql: `SELECT ${COLUMNS} FROM message m
      WHERE m.key > ? AND +m.time_key BETWEEN ? AND ?${sql}${isChat}${isMatch} ORDER BY m.key LIMIT ?`,
    values: [first, last, ...values, ...optional(chat), ...optional(match)],
  };
}

/** The neighbours of a message in its chat, oldest first, with the message itself between them. */
export function findAround(db: Database, key: number, before: number, after: number): readonly number[] {
  const find = (comparison: string, order: string, limit: number) =>
    db
      .all(
        `SELECT m.key FROM message m, message o
         WHERE o.key = ? AND m.chat = o.chat AND m.time_key ${comparison} o.time_key ORDER BY m.time_key ${order} LIMIT ?`,
        key,
        limit,
      )
      .map(keyOf);
  return [...find("<", "DESC", before).toReversed(), key, ...find(">", "ASC", after)];
}

/** How one message is linked to another. Each link has its own index, which one condition for all would not use. */
const LINKS = ["m.id = l.reply_to", "m.id = l.thread", "m.reply_to = l.id", "m.thread = l.id", "m.thread = l.thread"];

// The queue of a recursive query is first in, first out, so that the nearest messages come first. UNION ends cycles.
const LINKED = `
  WITH RECURSIVE linked (key, chat, id, reply_to, thread) AS (
    SELECT key, chat, id, reply_to, thread FROM message WHERE key = ?
    ${LINKS.map(
      (link) => `UNION SELECT m.key, m.chat, m.id, m.reply_to, m.thread
        FROM linked l CROSS JOIN message m ON m.chat = l.chat AND ${link}`,
    ).join("\n    ")}
    LIMIT ?
  ) SELECT key FROM linked`;

/** The message itself, then those that are linked to it by replies and threads, directly or not, nearest first. */
export function findThread(db: Database, key: number, limit: number): readonly number[] {
  return db.all(LINKED, key, limit).map(keyOf);
}

const COLUMNS = `m.key, ${timeOf("m.time_key")} AS at, ${nthOf("m.time_key")} AS nth, m.content`;

interface Rows {
  /** `FROM … WHERE …` */
  readonly from: string;
  readonly values: readonly SqlValue[];
  readonly timeKey: string;
}

/** The rows within the range of time keys, from the FTS index if there is something to match. */
function rowsOf({ match, chat, first, last }: Criteria): Rows {
  if (match === undefined) {
    const inChat = chat === undefined ? "" : "m.chat = ? AND ";
    const values = [...optional(chat), first, last];
    return { from: `FROM message m WHERE ${inChat}m.time_key BETWEEN ? AND ?`, values, timeKey: "m.time_key" };
  }
  // CROSS JOIN makes SQLite walk the FTS index and look each hit up.
  const joined = "FROM message_index i CROSS JOIN message m ON m.time_key = i.rowid";
  const from = `${joined} WHERE i.message_index MATCH ? AND i.rowid BETWEEN ? AND ?`;
  return { from, values: [match, first, last], timeKey: "i.rowid" };
}

function select(db: Database, criteria: Criteria, { order, limit, offset }: PageWindow): SqlRow[] {
  const { from, values, timeKey } = rowsOf(criteria);
  const more = conditions(criteria);
  const sql = `SELECT ${COLUMNS} ${from}${more.sql} ORDER BY ${timeKey} ${order} LIMIT ? OFFSET ?`;
  return db.all(sql, ...values, ...more.values, limit, offset);
}

/** Conditions that are checked row by row. The plus signs keep SQLite from choosing an index by them. */
function conditions({ includeSystem, chats, parts = [] }: Criteria): { sql: string; values: SqlValue[] } {
  const sql: string[] = includeSystem ? [] : ["+m.kind <> 'system'"];
  const values: SqlValue[] = [];
  if (chats !== undefined) {
    sql.push("+m.chat IN (SELECT value FROM json_each(?))");
    values.push(JSON.stringify(chats));
  }
  for (const part of parts) {
    if (!ASCII.test(part)) sql.push(IS_NOT_ASCII);
    else {
      sql.push(`(m.content LIKE ? ESCAPE '\\' OR ${IS_NOT_ASCII})`);
      values.push(`%${part.replace(/[\\%_]/g, "\\$&")}%`);
    }
  }
  return { sql: sql.map((condition) => ` AND ${condition}`).join(""), values };
}

/**
 * SQLite's LIKE folds the case of ASCII letters only, so it decides for ASCII texts; other texts are compared in containsAll().
 * A part that is not ASCII after normalization cannot be in an ASCII text.
 */
const IS_NOT_ASCII = "length(m.content) <> length(CAST(m.content AS BLOB))";
const ASCII = /^[\x20-\x7e]*$/;

function scan(db: Database, criteria: Criteria, parts: readonly string[], window: PageWindow): FoundPage {
  const { order, limit } = window;
  const found: Found[] = [];
  let { first, last } = criteria;
  let offsetLeft = window.offset;
  for (let scanned = SCAN_STEP; ; scanned += SCAN_STEP) {
    const end = findStepEnd(db, { ...criteria, first, last }, order);
    const step = { ...criteria, ...stepRange(order, { first, last }, end) };
    const candidates = mayContain(db, step, parts) ? select(db, step, { order, limit: SCAN_STEP, offset: 0 }) : [];
    for (const row of candidates) {
      if (!containsAll(row, parts)) continue;
      if (offsetLeft > 0) offsetLeft -= 1;
      else if (found.length === limit) return { found, nextFrom: found.at(-1), offsetLeft };
      else found.push(toFound(row));
    }
    if (end === undefined || scanned >= MAX_SCANNED) return { found, nextFrom: end, offsetLeft };
    if (order === "desc") last = step.first - 1n;
    else first = step.last + 1n;
  }
}

/** The position of the last row of a step; undefined if fewer rows are left. */
function findStepEnd(db: Database, criteria: Criteria, order: "desc" | "asc"): TimePosition | undefined {
  const { match, first, last } = criteria;
  // Without the join: the rowids alone are enough.
  const { from, values, timeKey } =
    match === undefined
      ? rowsOf(criteria)
      : {
          from: "FROM message_index WHERE message_index MATCH ? AND rowid BETWEEN ? AND ?",
          values: [match, first, last],
          timeKey: "rowid",
        };
  const columns = `${timeOf(timeKey)} AS at, ${nthOf(timeKey)} AS nth`;
  const sql = `SELECT ${columns} ${from} ORDER BY ${timeKey} ${order} LIMIT 1 OFFSET ?`;
  const row = db.get(sql, ...values, SCAN_STEP - 1);
  return row === undefined ? undefined : { at: Number(row["at"]), nth: Number(row["nth"]) };
}

function stepRange(
  order: "desc" | "asc",
  { first, last }: { first: bigint; last: bigint },
  end: TimePosition | undefined,
): { first: bigint; last: bigint } {
  if (end === undefined) return { first, last };
  const timeKey = toTimeKey(end.at, end.nth);
  return order === "desc" ? { first: timeKey, last } : { first, last: timeKey };
}

/** Checks all texts of a step at once, which costs a fraction of checking them one by one. */
function mayContain(db: Database, criteria: Criteria, parts: readonly string[]): boolean {
  const { from, values } = rowsOf(criteria);
  const more = conditions(criteria);
  const sql = `SELECT group_concat(m.content, char(10)) AS content ${from}${more.sql}`;
  const row = db.get(sql, ...values, ...more.values);
  return typeof row?.["content"] === "string" && containsAll(row, parts);
}

function containsAll(row: SqlRow, parts: readonly string[] | undefined): boolean {
  if (parts === undefined) return true;
  const plain = toPlainText(String(row["content"]));
  return parts.every((part) => plain.includes(part));
}

function toFound(row: SqlRow): Found {
  return { key: keyOf(row), at: Number(row["at"]), nth: Number(row["nth"]) };
}

function optional<T>(value: T | undefined): T[] {
  return value === undefined ? [] : [value];
}
