// The tables of the call log. There is no index on purpose: five of them cost four times what a call's own rows cost to
// write, and without its payloads a million calls are so small that a look at all of them takes less than 100 ms.

import type { DatabaseForm } from "./sqlite.ts";

const TABLES = `
  -- Where a call went and how it failed: few different ones, so a call holds only a number.
  CREATE TABLE route (
    id INTEGER PRIMARY KEY,
    server TEXT NOT NULL,
    tool TEXT NOT NULL,
    group_name TEXT NOT NULL,
    error_code TEXT NOT NULL,
    UNIQUE (server, tool, group_name, error_code)
  );

  -- AUTOINCREMENT: an id that was pruned must not come back, or a cursor would point to another call.
  CREATE TABLE call (
    id INTEGER PRIMARY KEY AUTOINCREMENT,
    at INTEGER NOT NULL,
    route INTEGER NOT NULL,
    duration_us INTEGER NOT NULL,
    success INTEGER NOT NULL,
    truncated INTEGER NOT NULL,
    client TEXT,
    workflow_id TEXT
  );

  CREATE TABLE payload (
    id INTEGER PRIMARY KEY,
    params BLOB,
    result BLOB
  );

  -- For people with an SQLite shell.
  CREATE VIEW mcp_call_log AS
    SELECT call.id, workflow_id, server AS server_name, tool AS tool_name, group_name, client,
      CAST(params AS TEXT) AS params, CAST(result AS TEXT) AS result, success, duration_us / 1000.0 AS duration_ms,
      nullif(error_code, '') AS error_code, truncated, strftime('%Y-%m-%dT%H:%M:%fZ', at / 1000.0, 'unixepoch') AS timestamp
    FROM call LEFT JOIN route ON route.id = call.route LEFT JOIN payload ON payload.id = call.id;
`;

const JOURNALS = `
  -- How far each journal has been entered: part of the same commit as its calls, so that none is entered twice.
  CREATE TABLE journal (
    name TEXT PRIMARY KEY,
    done INTEGER NOT NULL
  );
`;

export const CALL_LOG_FORM: DatabaseForm = { applicationId: 0x504c4247, migrations: [TABLES, JOURNALS] };
