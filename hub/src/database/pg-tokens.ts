// Access tokens in PostgreSQL.

import { tokenNameTaken, toToken } from "../identity/rows.ts";
import type { StoredToken, TokenStore, TokenUse } from "../auth/token-store.ts";
import type { Changes } from "./changes.ts";
import type { Database, Sql } from "./database.ts";

const COLUMNS = `id, digest, start, name, principal, role, groups, read_only, created_at, created_by, expires_at, used_at,
  used_from, login, client`;
const DAY_MS = 86_400_000;

export class PgTokens implements TokenStore {
  readonly #db: Database;
  readonly #changes: Changes;
  readonly #now: () => number;
  /** When tokens were listed last. */
  #version = 0;

  constructor(db: Database, changes: Changes, { now = Date.now }: { readonly now?: () => number } = {}) {
    this.#db = db;
    this.#changes = changes;
    this.#now = now;
  }

  async list(): Promise<readonly StoredToken[]> {
    // First: what changes meanwhile is listed again.
    const version = await this.#db.versionOf("identity");
    const rows = await this.#db.rows(
      `select ${COLUMNS} from plugboard.token where revoked_at is null order by created_at, id`,
    );
    this.#version = version;
    return rows.map(toToken);
  }

  add(token: StoredToken): Promise<void> {
    const { id, digest, start, name, principal, role, groups, readOnly } = token;
    const { createdAt, createdBy, expiresAt, issued } = token;
    return this.#db.change("identity", async (sql) => {
      if (issued === undefined) await this.#freeName(sql, name);
      // There is one more of these every hour, for each client.
      else {
        const expired = "delete from plugboard.token where login is not null and expires_at <= $1";
        await sql.run(expired, this.#now() - DAY_MS);
      }
      await sql.run(
        `insert into plugboard.token (${COLUMNS}) values ($1, $2, $3, $4, $5, $6, $7, $8, $9, $10, $11, null, null, $12, $13)`,
        id,
        digest,
        start,
        name,
        principal,
        role,
        JSON.stringify(groups),
        readOnly,
        createdAt,
        createdBy,
        expiresAt ?? null,
        issued?.login ?? null,
        issued?.client ?? null,
      );
    });
  }

  revoke(id: string, by: string): Promise<boolean> {
    return this.#db.change("identity", async (sql) => {
      const revoke = "update plugboard.token set revoked_at = $1, revoked_by = $2 where id = $3 and revoked_at is null";
      return (await sql.run(revoke, this.#now(), by, id)) > 0;
    });
  }

  /** Does not count as a change: every hub knows the uses that it has seen. */
  async used(uses: readonly TokenUse[]): Promise<void> {
    await this.#db.run(
      `update plugboard.token set used_at = greatest(used_at, use.at), used_from = coalesce(use.origin, used_from)
        from unnest($1::text[], $2::bigint[], $3::text[]) as use (id, at, origin) where token.id = use.id`,
      uses.map(({ id }) => id),
      uses.map(({ at }) => at),
      uses.map(({ from }) => from ?? null),
    );
  }

  watch(onChange: () => void): () => void {
    return this.#changes.watch("identity", { isCurrent: (version) => version === this.#version, onChange });
  }

  /** An expired token no longer holds its name. */
  async #freeName(sql: Sql, name: string): Promise<void> {
    const isNamed = "name = $1 and revoked_at is null and login is null";
    await sql.run(
      `update plugboard.token set revoked_at = expires_at where ${isNamed} and expires_at <= $2`,
      name,
      this.#now(),
    );
    const taken = await sql.rows(`select 1 from plugboard.token where ${isNamed}`, name);
    if (taken.length > 0) throw tokenNameTaken(name);
  }
}
