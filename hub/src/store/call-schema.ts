// The tables of the call log. There is no index on purpose: five of them cost four times what a call's own rows cost to
// write, and without its payloads a million calls are so small that a look at all of them takes less than 100 ms.

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

  -- AUTOINCREMENT: an id that was pruned must not come back, or a cursor would point to another call.
  CREATE TABLE call (
    id INTEGER PRIMARY KEY AUTOINCREMENT,
    at INTEGER NOT NULL,
    route INTEGER NOT NULL,
    duration_us INTEGER NOT NULL,
    workflow_id TEXT
  );

  -- The parameters and results of the calls from the first on that were entered together: see payload-pack.ts.
  CREATE TABLE payload (
    first INTEGER PRIMARY KEY,
    sizes TEXT NOT NULL,
    bytes BLOB NOT NULL
  );

  -- For people with an SQLite shell.
  CREATE VIEW mcp_call_log AS
    SELECT call.id, workflow_id, server AS server_name, tool AS tool_name, group_name,
      nullif(client, '') AS client,
      ${partOf("2 * (call.id - first)")} AS params, ${partOf("2 * (call.id - first) + 1")} AS result,
      success, duration_us / 1000.0 AS duration_ms, nullif(error_code, '') AS error_code, truncated,
      strftime('%Y-%m-%dT%H:%M:%fZ', at / 1000.0, 'unixepoch') AS timestamp
    FROM call LEFT JOIN route ON route.id = call.route
      LEFT JOIN payload ON first = (SELECT max(first) FROM payload WHERE first <= call.id);
`;

const JOURNALS = `
  -- How far each journal has been entered: part of the same commit as its calls, so that none is entered twice.
  CREATE TABLE journal (
    name TEXT PRIMARY KEY,
    done INTEGER NOT NULL
  );
`;

export const CALL_LOG_FORM: DatabaseForm = {
  applicationId: 0x504c4247,
  migrations: [TABLES, JOURNALS],
  // Twice the usual: what is written costs by the page, too.
  pageBytes: 8192,
};

/** Text of the n-th part of a pack. */
function partOf(n: string): string {
  const before = `SELECT coalesce(sum(value), 0) FROM json_each(sizes) WHERE key < ${n}`;
  return `CAST(substr(bytes, 1 + (${before}), sizes ->> (${n})) AS TEXT)`;
}
