// Access tokens in the SQLite file `identity.db` of the data folder: apart from the call log, so that a damaged log takes no access
// with it.

import { parseJson } from "@plugboard/shared/lenient";
import { MEMORY, SQLITE, sqliteCode, type Database, type SqlRow } from "@plugboard/shared/sqlite/driver";
import { openDatabase, UnusableDatabase, type Unusability } from "@plugboard/shared/sqlite/open";
import { isRole } from "../auth/grant.ts";
import type { StoredToken, TokenStore, TokenUse } from "../auth/token-store.ts";
import { HubError } from "../errors.ts";
import { IDENTITY_FORM } from "./schema.ts";

/** How long to wait for a lock of another process. */
const BUSY_MS = 2000;
const COLUMNS = `id, digest, start, name, principal, role, groups, read_only, created_at, created_by, expires_at, used_at,
  used_from`;

export class SqliteIdentity implements TokenStore {
  readonly #path: string;
  readonly #db: Database;
  readonly #now: () => number;
  /** Of the rows that were listed last. */
  #version = 0;

  private constructor(path: string, db: Database, now: () => number) {
    this.#path = path;
    this.#db = db;
    this.#now = now;
  }

  /** `path`: undefined for a database without a file. */
  static async open(
    path: string = MEMORY,
    { now = Date.now }: { readonly now?: () => number } = {},
  ): Promise<SqliteIdentity> {
    try {
      const db = await openDatabase(path, IDENTITY_FORM, { waitMs: BUSY_MS, busyTimeoutMs: BUSY_MS });
      return new SqliteIdentity(path, db, now);
    } catch (error) {
      throw failure(path, error);
    }
  }

  list(): Promise<readonly StoredToken[]> {
    return this.#run((db) => {
      this.#version = db.number("PRAGMA data_version");
      const rows = db.all(`SELECT ${COLUMNS} FROM token WHERE revoked_at IS NULL ORDER BY created_at, id`);
      return rows.map(toToken);
    });
  }

  add(token: StoredToken): Promise<void> {
    const { id, digest, start, name, principal, role, groups, readOnly, createdAt, createdBy, expiresAt } = token;
    return this.#run((db) =>
      db.transact(() => {
        // An expired token no longer holds its name.
        db.run(
          "UPDATE token SET revoked_at = expires_at WHERE name = ? AND revoked_at IS NULL AND expires_at <= ?",
          name,
          this.#now(),
        );
        if (db.get("SELECT 1 FROM token WHERE name = ? AND revoked_at IS NULL", name) !== undefined) throw taken(name);
        db.run(
          `INSERT INTO token (${COLUMNS}) VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, NULL, NULL)`,
          id,
          digest,
          start,
          name,
          principal,
          role,
          JSON.stringify(groups),
          Number(readOnly),
          createdAt,
          createdBy,
          expiresAt ?? null,
        );
      }),
    );
  }

  revoke(id: string, by: string): Promise<boolean> {
    const sql = "UPDATE token SET revoked_at = ?, revoked_by = ? WHERE id = ? AND revoked_at IS NULL";
    return this.#run((db) => db.run(sql, this.#now(), by, id) > 0);
  }

  used(uses: readonly TokenUse[]): Promise<void> {
    return this.#run((db) =>
      db.transact(() => {
        for (const { id, at, from } of uses) {
          db.run(
            "UPDATE token SET used_at = max(coalesce(used_at, 0), ?), used_from = coalesce(?, used_from) WHERE id = ?",
            at,
            from ?? null,
            id,
          );
        }
      }),
    );
  }

  hasChanged(): boolean {
    return this.#db.number("PRAGMA data_version") !== this.#version;
  }

  close(): Promise<void> {
    return this.#db.close();
  }

  /** All methods of the port are asynchronous, and reject. */
  #run<T>(work: (db: Database) => T): Promise<T> {
    try {
      return Promise.resolve(work(this.#db));
    } catch (error) {
      return Promise.reject(failure(this.#path, error));
    }
  }
}

function failure(path: string, error: unknown): HubError {
  if (error instanceof HubError) return error;
  if (error instanceof UnusableDatabase) {
    return new HubError("DatabaseError", `${path} ${UNUSABLE[error.reason]}`, {
      hint: "Restore it from a backup, or move it away and make new tokens: plugboard token add",
      cause: error,
    });
  }
  const kind = sqliteCode(error) === SQLITE.full ? "DiskFull" : "DatabaseError";
  const detail = error instanceof Error ? error.message : String(error);
  return new HubError(kind, `Cannot use ${path}`, { detail, cause: error });
}

const UNUSABLE: Readonly<Record<Unusability, string>> = {
  damaged: "is damaged",
  foreign: "is a database of another program",
  newer: "was written by a newer version of Plugboard",
  older: "was written by a version of Plugboard that is too old",
};

function taken(name: string): HubError {
  return new HubError("Conflict", `There is already a token ${JSON.stringify(name)}`, {
    field: "name",
    hint: `Choose another name, or revoke it first: plugboard token rm '${name}'`,
  });
}

/** A row that makes no sense gives no rights. */
function toToken(row: SqlRow): StoredToken {
  const { role, read_only: readOnly } = row;
  return {
    id: text(row["id"]),
    digest: text(row["digest"]),
    start: text(row["start"]),
    name: text(row["name"]),
    principal: text(row["principal"]),
    role: isRole(role) ? role : "user",
    groups: groupsOf(row["groups"]),
    readOnly: readOnly !== 0,
    createdAt: Number(row["created_at"]),
    createdBy: text(row["created_by"]),
    expiresAt: row["expires_at"] === null ? undefined : Number(row["expires_at"]),
    usedAt: row["used_at"] === null ? undefined : Number(row["used_at"]),
    usedFrom: row["used_from"] === null ? undefined : text(row["used_from"]),
  };
}

function groupsOf(column: unknown): StoredToken["groups"] {
  const groups = parseJson(text(column));
  if (groups === "*") return "*";
  return Array.isArray(groups) ? groups.filter((each): each is string => typeof each === "string") : [];
}

function text(column: unknown): string {
  return typeof column === "string" ? column : "";
}
