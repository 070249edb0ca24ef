// The tables of the call log. There is no index on purpose: five of them cost four times what a call's own rows cost to
// write, and the heads of a million calls are so small that a look at all of them takes less than 100 ms.

import { HEAD, MAX_HEADS } from "./head-pack.ts";
import type { DatabaseForm } from "./sqlite.ts";

const TABLES = `
  -- Whose call it was, where it went and how it came out: few different ones, so a call holds only a number.
  CREATE TABLE route (
    id INTEGER PRIMARY KEY,
    server TEXT NOT NULL,
    tool TEXT NOT NULL,
    group_name TEXT NOT NULL,
    client TEXT NOT NULL,
    error_code TEXT NOT NULL,
    success INTEGER NOT NULL,
    truncated INTEGER NOT NULL,
    UNIQUE (server, tool, group_name, client, error_code, success, truncated)
  );

  -- Calls that follow one another, from the first on: see head-pack.ts. The newest row stays when its calls are pruned,
  -- since an id must not come back, or a cursor would point to another call.
  CREATE TABLE head (
    first INTEGER PRIMARY KEY,
    earliest INTEGER NOT NULL,
    latest INTEGER NOT NULL,
    heads BLOB NOT NULL
  );

  -- Of the calls that have one; most have none.
  CREATE TABLE workflow (
    call INTEGER PRIMARY KEY,
    id TEXT NOT NULL
  );

  -- The parameters and results of the calls from the first on that were entered together: see payload-pack.ts.
  CREATE TABLE payload (
    first INTEGER PRIMARY KEY,
    sizes TEXT NOT NULL,
    bytes BLOB NOT NULL
  );

  -- For people with an SQLite shell.
  CREATE VIEW mcp_call_log AS
    WITH RECURSIVE
      place (n) AS (VALUES (0) UNION ALL SELECT n + 1 FROM place WHERE n < ${MAX_HEADS - 1}),
      call AS (
        SELECT first + n AS id, ${numberOf(HEAD.at)} AS at, ${numberOf(HEAD.route)} AS route,
          ${numberOf(HEAD.durationUs)} AS duration_us
        FROM head JOIN place ON n < length(heads) / ${HEAD.bytes}
      )
    SELECT call.id, workflow.id AS workflow_id, server AS server_name, tool AS tool_name, group_name,
      nullif(client, '') AS client,
      ${partOf("2 * (call.id - first)")} AS params, ${partOf("2 * (call.id - first) + 1")} AS result,
      success, duration_us / 1000.0 AS duration_ms, nullif(error_code, '') AS error_code, truncated,
      strftime('%Y-%m-%dT%H:%M:%fZ', at / 1000.0, 'unixepoch') AS timestamp
    FROM call LEFT JOIN route ON route.id = call.route LEFT JOIN workflow ON workflow.call = call.id
      LEFT JOIN payload ON first = (SELECT max(first) FROM payload WHERE first <= call.id);
`;

const JOURNALS = `
  -- How far each journal has been entered: part of the same commit as its calls, so that none is entered twice.
  CREATE TABLE journal (
    name TEXT PRIMARY KEY,
    done INTEGER NOT NULL
  );
`;

/** Calls of before are told apart by their code alone: those that have none are the tool's own errors. */
const OUTCOMES = `
  DROP VIEW mcp_call_log;
  ALTER TABLE route RENAME TO old_route;
  CREATE TABLE route (
    id INTEGER PRIMARY KEY,
    server TEXT NOT NULL,
    tool TEXT NOT NULL,
    group_name TEXT NOT NULL,
    client TEXT NOT NULL,
    error_code TEXT NOT NULL,
    outcome TEXT NOT NULL,
    truncated INTEGER NOT NULL,
    UNIQUE (server, tool, group_name, client, error_code, outcome, truncated)
  );
  INSERT INTO route
    SELECT id, server, tool, group_name, client, error_code,
      CASE WHEN success = 1 THEN 'ok' WHEN error_code = '' THEN 'tool_error' ELSE 'failed' END, truncated
    FROM old_route;
  DROP TABLE old_route;

  -- For people with an SQLite shell.
  CREATE VIEW mcp_call_log AS
    WITH RECURSIVE
      place (n) AS (VALUES (0) UNION ALL SELECT n + 1 FROM place WHERE n < ${MAX_HEADS - 1}),
      call AS (
        SELECT first + n AS id, ${numberOf(HEAD.at)} AS at, ${numberOf(HEAD.route)} AS route,
          ${numberOf(HEAD.durationUs)} AS duration_us
        FROM head JOIN place ON n < length(heads) / ${HEAD.bytes}
      )
    SELECT call.id, workflow.id AS workflow_id, server AS server_name, tool AS tool_name, group_name,
      nullif(client, '') AS client,
      ${partOf("2 * (call.id - first)")} AS params, ${partOf("2 * (call.id - first) + 1")} AS result,
      outcome, outcome = 'ok' AS success, duration_us / 1000.0 AS duration_ms, nullif(error_code, '') AS error_code, truncated,
      strftime('%Y-%m-%dT%H:%M:%fZ', at / 1000.0, 'unixepoch') AS timestamp
    FROM call LEFT JOIN route ON route.id = call.route LEFT JOIN workflow ON workflow.call = call.id
      LEFT JOIN payload ON first = (SELECT max(first) FROM payload WHERE first <= call.id);
`;

export const CALL_LOG_FORM: DatabaseForm = {
  applicationId: 0x504c4247,
  migrations: [TABLES, JOURNALS, OUTCOMES],
  // Twice the usual: what is written costs by the page, too.
  pageBytes: 8192,
};

/** Of the n-th call of a pack of heads. */
function numberOf({ from, digits }: { readonly from: number; readonly digits: number }): string {
  return `CAST(substr(heads, ${HEAD.bytes} * n + ${from + 1}, ${digits}) AS INTEGER)`;
}

/** Text of the n-th part of a pack. */
function partOf(n: string): string {
  const before = `SELECT coalesce(sum(value), 0) FROM json_each(sizes) WHERE key < ${n}`;
  return `CAST(substr(bytes, 1 + (${before}), sizes ->> (${n})) AS TEXT)`;
}
