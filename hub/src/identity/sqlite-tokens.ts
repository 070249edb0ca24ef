// Access tokens in identity.db.

import type { Database } from "@plugboard/shared/sqlite/driver";
import type { StoredToken, TokenStore, TokenUse } from "../auth/token-store.ts";
import type { IdentityFile } from "./identity-file.ts";
import { tokenNameTaken, toToken } from "./rows.ts";

const COLUMNS = `id, digest, start, name, principal, role, groups, read_only, created_at, created_by, expires_at, used_at,
  used_from, login, client`;
const DAY_MS = 86_400_000;

export class SqliteTokens implements TokenStore {
  readonly #file: IdentityFile;
  readonly #now: () => number;
  /** Of the file, when tokens were listed last. */
  #version = 0;

  constructor(file: IdentityFile, { now = Date.now }: { readonly now?: () => number } = {}) {
    this.#file = file;
    this.#now = now;
  }

  list(): Promise<readonly StoredToken[]> {
    return this.#file.run((db) => {
      this.#version = this.#file.version;
      const rows = db.all(`SELECT ${COLUMNS} FROM token WHERE revoked_at IS NULL ORDER BY created_at, id`);
      return rows.map(toToken);
    });
  }

  add(token: StoredToken): Promise<void> {
    const { id, digest, start, name, principal, role, groups, readOnly, createdAt, createdBy, expiresAt, issued } =
      token;
    return this.#file.run((db) =>
      db.transact(() => {
        if (issued === undefined) this.#freeName(db, name);
        // There is one more of these every hour, for each client.
        else db.run("DELETE FROM token WHERE login IS NOT NULL AND expires_at <= ?", this.#now() - DAY_MS);
        db.run(
          `INSERT INTO token (${COLUMNS}) VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, NULL, NULL, ?, ?)`,
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
          issued?.login ?? null,
          issued?.client ?? null,
        );
      }),
    );
  }

  revoke(id: string, by: string): Promise<boolean> {
    const sql = "UPDATE token SET revoked_at = ?, revoked_by = ? WHERE id = ? AND revoked_at IS NULL";
    return this.#file.run((db) => db.run(sql, this.#now(), by, id) > 0);
  }

  used(uses: readonly TokenUse[]): Promise<void> {
    return this.#file.run((db) =>
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

  /** An expired token no longer holds its name. */
  #freeName(db: Database, name: string): void {
    const isNamed = "name = ? AND revoked_at IS NULL AND login IS NULL";
    db.run(`UPDATE token SET revoked_at = expires_at WHERE ${isNamed} AND expires_at <= ?`, name, this.#now());
    if (db.get(`SELECT 1 FROM token WHERE ${isNamed}`, name) !== undefined) throw tokenNameTaken(name);
  }

  watch(onChange: () => void): () => void {
    return this.#file.watch(() => this.#version, onChange);
  }
}
