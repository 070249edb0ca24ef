// The tables of the call log.

import type { DatabaseForm } from "@plugboard/shared/sqlite/open";

export const CALL_LOG_FORM: DatabaseForm = {
  applicationId: 0x504c4247,
  // Versions 1 to 4 packed many calls into one row. Their files are set aside.
  oldestVersion: 5,
  // Literal text: a migration must never change once it is released.
  migrations: [
    {
      sql: `CREATE TABLE call (
      id INTEGER PRIMARY KEY,
      at INTEGER NOT NULL,
      duration_us INTEGER NOT NULL,
      server TEXT NOT NULL,
      tool TEXT NOT NULL,
      outcome TEXT NOT NULL,
      group_name TEXT NOT NULL,
      client TEXT,
      workflow_id TEXT,
      error_code TEXT,
      truncated INTEGER NOT NULL,
      -- CRC-32 of the row and its payload.
      checksum INTEGER NOT NULL
    );
    CREATE INDEX call_at ON call (at);
    CREATE INDEX call_workflow ON call (workflow_id) WHERE workflow_id IS NOT NULL;

    -- Apart from the call, so that a scan of all calls does not read their payloads.
    CREATE TABLE payload (
      call INTEGER PRIMARY KEY,
      params TEXT,
      result TEXT
    );

    -- The last id that was given: the newest call may have been pruned.
    CREATE TABLE sequence (last INTEGER NOT NULL);
    INSERT INTO sequence VALUES (0);

    -- How many bytes of each journal are ingested, committed together with its calls.
    CREATE TABLE journal (
      name TEXT PRIMARY KEY,
      done INTEGER NOT NULL
    );

    -- For people with an SQLite shell.
    CREATE VIEW mcp_call_log AS
      SELECT id, workflow_id, server AS server_name, tool AS tool_name, group_name, client, params, result,
        outcome, outcome = 'ok' AS success, duration_us / 1000.0 AS duration_ms, error_code, truncated,
        strftime('%Y-%m-%dT%H:%M:%fZ', at / 1000.0, 'unixepoch') AS timestamp
      FROM call LEFT JOIN payload ON payload.call = call.id;`,
    },
    // Version 6.
    {
      sql: `ALTER TABLE call ADD COLUMN session TEXT;
    ALTER TABLE call ADD COLUMN about TEXT;
    ALTER TABLE call ADD COLUMN origin TEXT;
    ALTER TABLE call ADD COLUMN facts TEXT;`,
    },
    // Version 7.
    {
      sql: `ALTER TABLE call ADD COLUMN principal TEXT;
    ALTER TABLE call ADD COLUMN token TEXT;`,
    },
  ],
  // NORMAL: a commit survives a kill of the process; store.ts syncs for the case of a power loss.
  settings: `PRAGMA cell_size_check = ON; PRAGMA page_size = 8192; PRAGMA journal_mode = WAL; PRAGMA synchronous = NORMAL;
    PRAGMA journal_size_limit = 16777216`,
};
