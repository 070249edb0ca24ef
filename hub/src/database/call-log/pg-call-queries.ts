// Reads of the call log in PostgreSQL. Those that may visit every call work in steps and end after a time limit.

import { COLUMNS, joinCall, readEnd, readStart, sizeBytes, toCallRow, toSummary } from "../../call-log/call-record.ts";
import type { CallHead } from "../../call-log/call-record.ts";
import type { CallCount, CallNeighbours, CallPage, CallQuery, CallSummaryPage } from "../../call-log/port.ts";
import { PREVIEW_SOURCE } from "../../call-log/preview.ts";
import { conditions, parseBounds, textPattern, toCursor } from "../../call-log/query.ts";
import { SeriesBuilder, stepsOf, type CallSeries, type SeriesQuery } from "../../call-log/series.ts";
import { CallStats, type CallStatsQuery, type ServerStats } from "../../call-log/stats.ts";
import { textOrNothing, type Row } from "../../identity/columns.ts";
import type { Sql } from "../database.ts";

/** Bounds the memory of one page. */
const MAX_PAGE_BYTES = 8 * 1024 * 1024;
const PAGE_ROWS = 64;
/** Ids of one step. */
const STEP_IDS = 100_000;
const TEXT_STEP_IDS = 10_000;
const MAX_MS = 1500;
/** Percentiles of a step with more calls are estimated from about this many. */
const SAMPLES = 500;

type Values = (string | number)[];

// eslint-disable-next-line typescript/no-unsafe-type-assertion -- the keys of COLUMNS are those of a head
const KEYS = Object.keys(COLUMNS) as (keyof CallHead)[];
const HEAD = KEYS.map((key) => `${COLUMNS[key].name} as "${key}"`).join(", ");

export async function queryCalls(sql: Sql, query: CallQuery): Promise<CallPage> {
  return page(sql, query, "params, result", (id, row) => {
    const call = joinCall(readStart(row), readEnd(row), payloadOf(row));
    return { row: toCallRow(id, call), bytes: sizeBytes(call) };
  });
}

export async function summarizeCalls(sql: Sql, query: CallQuery): Promise<CallSummaryPage> {
  const columns = `left(params, ${PREVIEW_SOURCE}) as params, case when outcome = 'ok' then null else result end as result,
    octet_length(params) as "paramBytes", octet_length(result) as "resultBytes"`;
  return page(sql, query, columns, (id, row) => {
    const call = joinCall(readStart(row), readEnd(row), payloadOf(row));
    const sizes = { params: sizeOf(row["paramBytes"]), result: sizeOf(row["resultBytes"]) };
    return { row: toSummary(id, call, sizes), bytes: 0 };
  });
}

async function page<R extends { readonly id: number }>(
  sql: Sql,
  query: CallQuery,
  columns: string,
  toRow: (id: number, row: Row) => { readonly row: R; readonly bytes: number },
): Promise<{ items: R[]; next_cursor: string | null }> {
  const { limit, below, above } = parseBounds(query);
  const { where, values } = toWhere(query);
  const select = numbered(
    `select id, ${HEAD}, ${columns} from plugboard.call where id < ? and id > ? and ${where} order by id desc limit ?`,
  );
  const isSearch = query.text !== undefined;
  const items: R[] = [];
  let bytes = 0;
  const deadline = performance.now() + MAX_MS;
  const steps = isSearch ? windows(sql, { ...query, below, above }, TEXT_STEP_IDS) : [{ from: above + 1, to: below }];
  for await (const { from, to } of steps) {
    for (let end = to; ;) {
      const wanted = Math.min(limit - items.length + 1, PAGE_ROWS);
      const rows = await sql.rows(select, end, from - 1, ...values, wanted);
      for (const row of rows) {
        const last = items.at(-1);
        if (last !== undefined && (items.length === limit || bytes > MAX_PAGE_BYTES)) {
          return { items, next_cursor: toCursor(last.id) };
        }
        const next = toRow(Number(row["id"]), row);
        bytes += next.bytes;
        items.push(next.row);
      }
      if (rows.length < wanted) break;
      end = Number(rows.at(-1)?.["id"]);
    }
    if (isSearch && performance.now() > deadline) return { items, next_cursor: toCursor(from) };
  }
  return { items, next_cursor: null };
}

export async function countCalls(sql: Sql, query: CallQuery): Promise<CallCount> {
  const { where, values } = toWhere(query);
  const select = numbered(`select count(*) as count from plugboard.call where id >= ? and id < ? and ${where}`);
  const deadline = performance.now() + MAX_MS;
  let total = 0;
  for await (const { from, to } of windows(sql, query, query.text === undefined ? STEP_IDS : TEXT_STEP_IDS)) {
    const [row] = await sql.rows(select, from, to, ...values);
    total += Number(row?.["count"]);
    if (performance.now() > deadline) return { total, exact: false };
  }
  return { total, exact: true };
}

export async function findNeighbours(sql: Sql, id: number): Promise<CallNeighbours | undefined> {
  const [row] = await sql.rows("select session from plugboard.call where id = $1", id);
  if (row === undefined) return undefined;
  const { session } = row;
  if (typeof session !== "string") return { previous: null, next: null };
  const near = async (comparison: string, order: string) => {
    const select = `select id from plugboard.call where ${comparison} and session = $2 order by id ${order} limit 1`;
    const [found] = await sql.rows(select, id, session);
    return found === undefined ? null : Number(found["id"]);
  };
  return {
    previous: await near(`id < $1 and id > $1::bigint - ${STEP_IDS}`, "desc"),
    next: await near(`id > $1 and id < $1::bigint + ${STEP_IDS}`, "asc"),
  };
}

/** Durations are rounded as in CallStats: three digits, and the middle of the values that share them. */
export async function readStats(sql: Sql, { server, since }: CallStatsQuery): Promise<ServerStats[]> {
  const { sql: parts, values } = conditions({ server, since });
  const rows = await sql.rows(
    numbered(`select server, tool, outcome, us, count(*) as count from (
        select server, tool, outcome, case when duration_us < 1000 then duration_us
          else duration_us / step * step + step / 2 end as us
        from plugboard.call, lateral (select (10 ^ greatest(length(duration_us::text) - 3, 0))::bigint as step) as rounded
        where ${["true", ...parts].join(" and ")}) as calls
      group by 1, 2, 3, 4`),
    ...values,
  );
  const stats = new CallStats();
  for (const row of rows) {
    const [name, tool] = [COLUMNS.server.read(row["server"]), COLUMNS.tool.read(row["tool"])];
    stats.add(name, tool, COLUMNS.outcome.read(row["outcome"]), Number(row["us"]), Number(row["count"]));
  }
  return stats.servers;
}

/** Counts are exact; percentiles of steps with many calls are estimated. */
export async function readSeries(sql: Sql, query: SeriesQuery): Promise<CallSeries> {
  const { server, tool, client, group, by, since, until, buckets } = query;
  const { sql: parts, values } = conditions({ server, tool, client, group });
  const key = by === "none" ? "null::text" : COLUMNS[by].name;
  const where = ["at >= ?", "at < ?", "outcome in ('ok', 'tool_error', 'failed')", ...parts].join(" and ");
  const counts = numbered(
    `select ${key} as key, outcome, count(*) as calls from plugboard.call where ${where} group by 1, 2`,
  );
  // Spread over the ids: calls of one kind may come in a regular order.
  const sample = numbered(
    `select ${key} as key, duration_us as us from plugboard.call where ${where} and ((id * 40503) & 65535) % ?::int = 0`,
  );
  const builder = new SeriesBuilder(buckets);
  for (const [bucket, { from, to }] of stepsOf(query).entries()) {
    let total = 0;
    for (const row of await sql.rows(counts, from, to, ...values)) {
      const calls = Number(row["calls"]);
      total += calls;
      builder.count(keyOf(row), bucket, COLUMNS.outcome.read(row["outcome"]), calls);
    }
    if (total === 0) continue;
    for (const row of await sql.rows(sample, from, to, ...values, Math.max(1, Math.floor(total / SAMPLES)))) {
      builder.duration(keyOf(row), bucket, COLUMNS.durationUs.read(row["us"]));
    }
  }
  return { step_ms: (until - since) / buckets, series: builder.series };
}

function keyOf({ key }: Row): string | null {
  return textOrNothing(key) ?? null;
}

function payloadOf({ params, result }: Row): { readonly params: string | null; readonly result: string | null } {
  return { params: textOrNothing(params) ?? null, result: textOrNothing(result) ?? null };
}

function sizeOf(value: unknown): number | null {
  return typeof value === "number" ? value : null;
}

function toWhere(query: CallQuery): { readonly where: string; readonly values: Values } {
  const { sql, values } = conditions(query);
  const { text } = query;
  const parts = ["true", ...sql];
  if (text === undefined) return { where: parts.join(" and "), values };
  const { tool, payload } = textPattern(text);
  return {
    where: [...parts, "(tool ilike ? or params ilike ? or result ilike ?)"].join(" and "),
    values: [...values, tool, payload, payload],
  };
}

/** The filters have a question mark for each parameter; PostgreSQL numbers them. */
function numbered(sql: string): string {
  let count = 0;
  return sql.replaceAll("?", () => `$${++count}`);
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
async function* windows(
  sql: Sql,
  { below = Number.MAX_SAFE_INTEGER, above = 0, since, until }: Span,
  size: number,
): AsyncGenerator<{ readonly from: number; readonly to: number }> {
  const { sql: parts, values } = conditions({ since, until });
  const where = ["true", ...parts].join(" and ");
  const [ends] = await sql.rows(
    numbered(`select min(id) as first, max(id) as last from plugboard.call where ${where}`),
    ...values,
  );
  if (ends?.["last"] === null || ends === undefined) return;
  const first = Math.max(Number(ends["first"]), above + 1);
  for (let to = Math.min(Number(ends["last"]) + 1, below); to > first; to -= size) {
    yield { from: Math.max(first, to - size), to };
  }
}
