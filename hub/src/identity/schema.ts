// The tables of identity.db.

import type { DatabaseForm } from "@plugboard/shared/sqlite/open";

export const IDENTITY_FORM: DatabaseForm = {
  applicationId: 0x504c4249,
  oldestVersion: 1,
  // Literal text: a migration must never change once it is released.
  migrations: [
    {
      sql: `CREATE TABLE token (
      id TEXT PRIMARY KEY,
      digest TEXT NOT NULL UNIQUE,
      start TEXT NOT NULL,
      name TEXT NOT NULL,
      principal TEXT NOT NULL,
      role TEXT NOT NULL,
      -- JSON: a list of names, or "*".
      groups TEXT NOT NULL,
      read_only INTEGER NOT NULL,
      -- Milliseconds since the epoch.
      created_at INTEGER NOT NULL,
      created_by TEXT NOT NULL,
      expires_at INTEGER,
      used_at INTEGER,
      used_from TEXT,
      revoked_at INTEGER,
      revoked_by TEXT
    ) STRICT;
    CREATE UNIQUE INDEX token_name ON token (name) WHERE revoked_at IS NULL;`,
    },
  ],
  settings: "PRAGMA journal_mode = WAL; PRAGMA synchronous = FULL; PRAGMA secure_delete = ON",
};
