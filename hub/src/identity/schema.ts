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
    {
      sql: `CREATE TABLE user (
      id TEXT PRIMARY KEY,
      issuer TEXT NOT NULL,
      subject TEXT NOT NULL,
      email TEXT,
      email_verified INTEGER NOT NULL,
      name TEXT,
      given_role TEXT,
      claimed_role TEXT,
      -- JSON: a list of names.
      claimed_teams TEXT NOT NULL,
      created_at INTEGER NOT NULL,
      seen_at INTEGER NOT NULL,
      disabled_at INTEGER,
      UNIQUE (issuer, subject)
    ) STRICT;
    -- AUTOINCREMENT: the number of a removed row is not used again.
    CREATE TABLE audit (
      n INTEGER PRIMARY KEY AUTOINCREMENT,
      at INTEGER NOT NULL,
      principal TEXT NOT NULL,
      role TEXT,
      token TEXT,
      client TEXT,
      address TEXT,
      action TEXT NOT NULL,
      object TEXT,
      outcome TEXT NOT NULL,
      detail TEXT,
      request_id TEXT,
      hash TEXT NOT NULL
    ) STRICT;
    CREATE TRIGGER audit_unchanged BEFORE UPDATE ON audit BEGIN SELECT raise(ABORT, 'the audit log is append-only'); END;
    CREATE TRIGGER audit_kept BEFORE DELETE ON audit BEGIN SELECT raise(ABORT, 'the audit log is append-only'); END;
    UPDATE token SET principal = 'service:' || principal
      WHERE principal <> 'local' AND principal NOT LIKE 'user:%' AND principal NOT LIKE 'service:%';`,
    },
    {
      sql: `CREATE TABLE oauth_client (
      id TEXT PRIMARY KEY,
      -- JSON, with a digest in place of the secret.
      metadata TEXT NOT NULL,
      created_at INTEGER NOT NULL,
      created_from TEXT NOT NULL,
      used_at INTEGER
    ) STRICT;
    CREATE TABLE oauth_login (
      id TEXT PRIMARY KEY,
      client TEXT NOT NULL,
      client_name TEXT NOT NULL,
      redirect_host TEXT NOT NULL,
      principal TEXT NOT NULL,
      -- JSON: a list of names.
      groups TEXT NOT NULL,
      read_only INTEGER NOT NULL,
      created_at INTEGER NOT NULL,
      expires_at INTEGER NOT NULL,
      used_at INTEGER,
      revoked_at INTEGER,
      revoked_by TEXT,
      -- JSON: the record of the protocol library.
      payload TEXT
    ) STRICT;
    CREATE TABLE oauth_refresh_token (
      digest TEXT PRIMARY KEY,
      login TEXT NOT NULL,
      payload TEXT NOT NULL,
      expires_at INTEGER NOT NULL,
      used_at INTEGER
    ) STRICT;
    CREATE INDEX oauth_refresh_token_login ON oauth_refresh_token (login);
    -- Of a token that was issued to a client: the login that it belongs to.
    ALTER TABLE token ADD COLUMN login TEXT;
    ALTER TABLE token ADD COLUMN client TEXT;
    DROP INDEX token_name;
    CREATE UNIQUE INDEX token_name ON token (name) WHERE revoked_at IS NULL AND login IS NULL;`,
    },
  ],
  settings: "PRAGMA journal_mode = WAL; PRAGMA synchronous = FULL; PRAGMA secure_delete = ON",
};
