// Reads that may visit every call: searches for text, counts, and figures over time. They work in short steps, with pauses in which the
// thread ingests, and end after a time limit.

import { setImmediate as nextTurn } from "node:timers/promises";
import type { Database, SqlRow } from "@plugboard/shared/sqlite/driver";
import { COLUMNS } from "../call-record.ts";
import type { CallCount, CallNeighbours, CallQuery } from "../port.ts";
import { conditions, parseBounds, textPattern } from "../query.ts";
import { SeriesBuilder, stepsOf, type CallSeries, type SeriesQuery } from "../series.ts";
import { CallStats, roundDuration, type CallStatsQuery, type ServerStats } from "../stats.ts";

/** Ids of one step: a few milliseconds. */
const STEP_IDS = 20_000;
const TEXT_STEP_IDS = 5000;
const MAX_MS = 1500;
/** Percentiles of a step with more calls are estimated from about this many. */
const SAMPLES = 500;
/** How far to look for the calls of the same session. */
const NEIGHBOUR_IDS = 200_000;
const TEXT = `(tool LIKE ? ESCAPE '\\' OR EXISTS (SELECT 1 FROM payload WHERE payload.call = call.id
  AND (params LIKE ? ESCAPE '\\' OR result LIKE ? ESCAPE '\\')))`;

interface Found {
  readonly rows: SqlRow[];
  /** Further calls have smaller ids than this. Undefined: there are none. */
  readonly next: number | undefined;
}

/** @param columns what to read of each call, besides its id */
export async function searchText(db: Database, query: CallQuery, columns: string): Promise<Found> {
  const { limit, below, above } = parseBounds(query);
  const { where, values } = toWhere(query);
  const select = db.prepare(`SELECT id, ${columns} FROM call WHERE ${where} ORDER BY id DESC LIMIT ?`);
  const rows: SqlRow[] = [];
  const deadline = performance.now() + MAX_MS;
  for (const { from, to } of windows(db, { ...query, below, above }, TEXT_STEP_IDS)) {
    const found = select.all(from, to, ...values, limit - rows.length + 1);
    if (rows.length + found.length > limit) {
      rows.push(...found.slice(0, limit - rows.length));
      return { rows, next: Number(rows.at(-1)?.["id"]) };
    }
    rows.push(...found);
    if (performance.now() > deadline) return { rows, next: from };
    await nextTurn();
  }
  return { rows, next: undefined };
}

export async function countCalls(db: Database, query: CallQuery): Promise<CallCount> {
  const { where, values } = toWhere(query);
  const select = db.prepare(`SELECT count(*) AS count FROM call WHERE ${where}`);
  const deadline = performance.now() + MAX_MS;
  const step = query.text === undefined ? STEP_IDS : TEXT_STEP_IDS;
  let total = 0;
  for (const { from, to } of windows(db, query, step)) {
    total += Number(select.get(from, to, ...values)?.["count"]);
    if (performance.now() > deadline) return { total, exact: false };
    await nextTurn();
  }
  return { total, exact: true };
}

export function findNeighbours(db: Database, id: number): CallNeighbours | undefined {
  const row = db.prepare("SELECT session FROM call WHERE id = ?").get(id);
  if (row === undefined) return undefined;
  const { session } = row;
  if (typeof session !== "string") return { previous: null, next: null };
  const before = "SELECT id FROM call WHERE id < ? AND id > ? AND session = ? ORDER BY id DESC LIMIT 1";
  const after = "SELECT id FROM call WHERE id > ? AND id < ? AND session = ? ORDER BY id LIMIT 1";
  return {
    previous: toId(db.prepare(before).get(id, id - NEIGHBOUR_IDS, session)),
    next: toId(db.prepare(after).get(id, id + NEIGHBOUR_IDS, session)),
  };
}

/** The durations of a group come as one text: one row for each of them takes twice as long. */
export async function readStats(db: Database, { server, since }: CallStatsQuery): Promise<ServerStats[]> {
  const { sql, values } = conditions({ server, since });
  const where = ["id >= ?", "id < ?", ...sql].join(" AND ");
  const groups = db.prepare(
    `SELECT server, tool, outcome, group_concat(duration_us) AS durations FROM call NOT INDEXED WHERE ${where} GROUP BY 1, 2, 3`,
  );
  const stats = new CallStats();
  for (const { from, to } of windows(db, { since }, STEP_IDS)) {
    for (const row of groups.all(from, to, ...values)) {
      const [name, tool] = [COLUMNS.server.read(row["server"]), COLUMNS.tool.read(row["tool"])];
      const outcome = COLUMNS.outcome.read(row["outcome"]);
      for (const us of String(row["durations"]).split(","))
        stats.add(name, tool, outcome, roundDuration(COLUMNS.durationUs.read(us)));
    }
    await nextTurn();
  }
  return stats.servers;
}

/** Counts are exact; percentiles of steps with many calls are estimated. */
export async function readSeries(db: Database, query: SeriesQuery): Promise<CallSeries> {
  const { server, tool, client, group, by, since, until, buckets } = query;
  const { sql, values } = conditions({ server, tool, client, group });
  const key = by === "none" ? "NULL" : COLUMNS[by].name;
  const where = ["at >= ?", "at < ?", "outcome IN ('ok', 'tool_error', 'failed')", ...sql].join(" AND ");
  const counts = db.prepare(
    `SELECT ${key} AS key, count(*) AS calls, sum(outcome = 'failed') AS failed, sum(outcome = 'tool_error') AS tool_error
      FROM call INDEXED BY call_at WHERE ${where} ${by === "none" ? "" : "GROUP BY 1"}`,
  );
  // Spread over the ids: calls of one kind may come in a regular order.
  const sample = db.prepare(
    `SELECT ${key} AS key, duration_us AS us FROM call INDEXED BY call_at
      WHERE ${where} AND ((id * 40503) & 65535) % ? = 0`,
  );
  const builder = new SeriesBuilder(buckets);
  for (const [bucket, { from, to }] of stepsOf(query).entries()) {
    let total = 0;
    for (const row of counts.all(from, to, ...values)) {
      const [calls, failed, toolErrors] = [row["calls"], row["failed"], row["tool_error"]].map(Number);
      if (calls === undefined || failed === undefined || toolErrors === undefined || calls === 0) continue;
      total += calls;
      builder.count(toKey(row), bucket, "ok", calls - failed - toolErrors);
      builder.count(toKey(row), bucket, "failed", failed);
      builder.count(toKey(row), bucket, "tool_error", toolErrors);
    }
    if (total === 0) continue;
    for (const row of sample.all(from, to, ...values, Math.max(1, Math.floor(total / SAMPLES)))) {
      builder.duration(toKey(row), bucket, COLUMNS.durationUs.read(row["us"]));
    }
    await nextTurn();
  }
  return { step_ms: (until - since) / buckets, series: builder.series };
}

function toKey({ key }: SqlRow): string | null {
  return typeof key === "string" ? key : null;
}

function toId(row: SqlRow | undefined): number | null {
  return row === undefined ? null : Number(row["id"]);
}

function toWhere(query: CallQuery): { readonly where: string; readonly values: (string | number)[] } {
  const { sql, values } = conditions(query);
  const { text } = query;
  const parts = ["id >= ?", "id < ?", ...sql];
  if (text === undefined) return { where: parts.join(" AND "), values };
  const { tool, payload } = textPattern(text);
  return { where: [...parts, TEXT].join(" AND "), values: [...values, tool, payload, payload] };
}

interface Span {
  /** The ids are smaller. */
  readonly below?: number;
  /** The ids are larger. */
  readonly above?: number;
  readonly since?: number | undefined;
  readonly until?: number | undefined;
}

/** Ranges of ids with all calls of a span, newest first. `from` is inclusive, `to` exclusive. */
function* windows(
  db: Database,
  { below = Number.MAX_SAFE_INTEGER, above = 0, since, until }: Span,
  size: number,
): Generator<{ readonly from: number; readonly to: number }> {
  const { sql, values } = conditions({ since, until });
  // Alone, min and max are one look-up each. The index on time has the ids as well, and is a fraction of the table.
  const select =
    sql.length === 0
      ? "SELECT (SELECT min(id) FROM call) AS first, (SELECT max(id) FROM call) AS last"
      : `SELECT min(id) AS first, max(id) AS last FROM call INDEXED BY call_at WHERE ${sql.join(" AND ")}`;
  const ends = db.prepare(select).get(...values);
  if (typeof ends?.["last"] !== "number") return;
  const first = Math.max(Number(ends["first"]), above + 1);
  for (let to = Math.min(ends["last"] + 1, below); to > first; to -= size) {
    yield { from: Math.max(first, to - size), to };
  }
}
