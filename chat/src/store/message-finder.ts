// Finds the messages of a filter in time order, a page at a time. The index gives its hits in the order of slots, which is
// that of time, so that only as many are looked at as are wanted.

import { keyOf } from "./columns.ts";
import type { Database, SqlRow, SqlValue } from "./driver.ts";
import { fold } from "./fold.ts";
import type { Criteria } from "./message-filter.ts";
import { AT, NTH, toSlot } from "./slot.ts";

/** A search for a part of a word looks at so many messages for one page, then says where to go on. */
const MAX_SCANNED = 50_000;
const SCAN_STEP = 1000;

export interface Found {
  readonly key: number;
  readonly at: number;
  readonly nth: number;
}

export interface FoundPage {
  readonly found: readonly Found[];
  /** The last place that was looked at, where there may be more. */
  readonly end: Found | undefined;
}

export interface Walk {
  readonly order: "desc" | "asc";
  readonly limit: number;
  readonly offset: number;
}

export function findMessages(db: Database, criteria: Criteria, walk: Walk): FoundPage {
  if (criteria.substring !== undefined) return scan(db, criteria, criteria.substring, walk);
  const rows = select(db, criteria, { ...walk, limit: walk.limit + 1 });
  const found = rows.slice(0, walk.limit).map(toFound);
  return { found, end: rows.length > walk.limit ? found.at(-1) : undefined };
}

/** Those that were stored after this one, in that order. */
export function findAfter(db: Database, key: number, criteria: Criteria, limit: number): readonly number[] {
  const { sql, values } = conditions(criteria);
  const chat = criteria.chat === undefined ? "" : " AND m.chat = ?";
  const match =
    criteria.match === undefined
      ? ""
      : " AND (SELECT count(*) FROM message_index WHERE message_index MATCH ? AND rowid = m.slot) = 1";
  const found: number[] = [];
  for (let from = key; found.length < limit;) {
    const rows = db.all(
      `SELECT ${COLUMNS} FROM message m WHERE m.key > ? AND m.slot BETWEEN ? AND ?${sql}${chat}${match}
       ORDER BY m.key LIMIT ?`,
      from,
      criteria.first,
      criteria.last,
      ...values,
      ...present(criteria.chat),
      ...present(criteria.match),
      SCAN_STEP,
    );
    found.push(...rows.filter((row) => contains(row, criteria.substring)).map(keyOf));
    const last = rows.at(-1);
    if (last === undefined || rows.length < SCAN_STEP) break;
    from = keyOf(last);
  }
  return found.slice(0, limit);
}

/** The neighbours of a message in its chat with itself between them, oldest first. */
export function findAround(db: Database, key: number, before: number, after: number): readonly number[] {
  const find = (comparison: string, order: string, limit: number) =>
    db
      .all(
        `SELECT m.key FROM message m, message o WHERE o.key = ? AND m.chat = o.chat AND m.slot ${comparison} o.slot
         ORDER BY m.slot ${order} LIMIT ?`,
        key,
        limit,
      )
      .map(keyOf);
  return [...find("<", "DESC", before).toReversed(), key, ...find(">", "ASC", after)];
}

const COLUMNS = `m.key, ${AT("m.slot")} AS at, ${NTH("m.slot")} AS nth, m.content`;

function select(db: Database, criteria: Criteria, { order, limit, offset }: Walk): SqlRow[] {
  const { sql, values } = conditions(criteria);
  const { match, chat, first, last } = criteria;
  if (match !== undefined) {
    // CROSS: the index is walked, and each hit looked up.
    const find = `SELECT ${COLUMNS} FROM message_index i CROSS JOIN message m ON m.slot = i.rowid
      WHERE i.message_index MATCH ? AND i.rowid BETWEEN ? AND ?${sql} ORDER BY i.rowid ${order} LIMIT ? OFFSET ?`;
    return db.all(find, match, first, last, ...values, limit, offset);
  }
  const find = `SELECT ${COLUMNS} FROM message m WHERE ${chat === undefined ? "" : "m.chat = ? AND "}m.slot BETWEEN ? AND ?${sql}
    ORDER BY m.slot ${order} LIMIT ? OFFSET ?`;
  return db.all(find, ...present(chat), first, last, ...values, limit, offset);
}

/** With a plus, so that these are never taken for the way to find something. */
function conditions({ includeSystem, chats }: Criteria): { sql: string; values: SqlValue[] } {
  const system = includeSystem ? "" : " AND +m.kind <> 'system'";
  if (chats === undefined) return { sql: system, values: [] };
  return { sql: `${system} AND +m.chat IN (SELECT value FROM json_each(?))`, values: [JSON.stringify(chats)] };
}

function scan(db: Database, criteria: Criteria, substring: string, { order, limit, offset }: Walk): FoundPage {
  const found: Found[] = [];
  let { first, last } = criteria;
  let skip = offset;
  for (let scanned = 0; scanned < MAX_SCANNED; scanned += SCAN_STEP) {
    const rows = select(db, { ...criteria, first, last }, { order, limit: SCAN_STEP, offset: 0 });
    for (const row of rows) {
      if (!contains(row, substring) || skip-- > 0) continue;
      if (found.length === limit) return { found, end: found.at(-1) };
      found.push(toFound(row));
    }
    const end = rows.at(-1);
    if (end === undefined || rows.length < SCAN_STEP) return { found, end: undefined };
    const { at, nth } = toFound(end);
    if (order === "desc") last = toSlot(at, nth) - 1n;
    else first = toSlot(at, nth) + 1n;
    if (scanned + SCAN_STEP >= MAX_SCANNED) return { found, end: toFound(end) };
  }
  return { found, end: undefined };
}

function contains(row: SqlRow, substring: string | undefined): boolean {
  return substring === undefined || fold(String(row["content"])).includes(substring);
}

function toFound(row: SqlRow): Found {
  return { key: keyOf(row), at: Number(row["at"]), nth: Number(row["nth"]) };
}

function present<T>(value: T | undefined): T[] {
  return value === undefined ? [] : [value];
}
