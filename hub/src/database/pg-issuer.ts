// Clients and logins of the embedded authorization server in PostgreSQL: a login that one replica has begun, another continues.

import type {
  ClientLogin,
  IssuerStore,
  Payload,
  StoredClient,
  StoredRefreshToken,
} from "../auth/issuer/issuer-store.ts";
import { numberOrNothing } from "../identity/columns.ts";
import { CLIENT_IDLE_MS, CLIENT_UNUSED_MS, toClient, toLogin, toPayload } from "../identity/rows.ts";
import type { Database } from "./database.ts";

const LOGIN = `id, client, client_name, redirect_host, principal, groups, read_only, created_at, expires_at, used_at`;

export class PgIssuer implements IssuerStore {
  readonly #db: Database;
  readonly #now: () => number;

  constructor(db: Database, { now = () => Date.now() }: { readonly now?: () => number } = {}) {
    this.#db = db;
    this.#now = now;
  }

  async findClient(id: string): Promise<StoredClient | undefined> {
    const sql = "select id, metadata, created_at, created_from, used_at from plugboard.oauth_client where id = $1";
    const [row] = await this.#db.rows(sql, id);
    return row === undefined ? undefined : toClient(row);
  }

  addClient({ id, metadata, createdAt, createdFrom }: StoredClient, maxUnused: number): Promise<void> {
    const now = this.#now();
    return this.#db.transact(async (sql) => {
      await sql.run(
        "delete from plugboard.oauth_client where used_at is null and created_at <= $1",
        now - CLIENT_UNUSED_MS,
      );
      await sql.run(
        `delete from plugboard.oauth_client where used_at <= $1 and id not in
          (select client from plugboard.oauth_login where revoked_at is null and expires_at > $2)`,
        now - CLIENT_IDLE_MS,
        now,
      );
      await sql.run(
        `delete from plugboard.oauth_client where id in
          (select id from plugboard.oauth_client where used_at is null order by created_at desc, id offset $1)`,
        maxUnused - 1,
      );
      await sql.run(
        "insert into plugboard.oauth_client (id, metadata, created_at, created_from) values ($1, $2, $3, $4)",
        id,
        JSON.stringify(metadata),
        createdAt,
        createdFrom,
      );
    });
  }

  addLogin(login: ClientLogin): Promise<void> {
    const { id, client, clientName, redirectHost, principal, groups, readOnly, createdAt, expiresAt } = login;
    return this.#db.transact(async (sql) => {
      await sql.run("update plugboard.oauth_client set used_at = $1 where id = $2", createdAt, client);
      await sql.run(
        `insert into plugboard.oauth_login (${LOGIN}) values ($1, $2, $3, $4, $5, $6, $7, $8, $9, null)`,
        id,
        client,
        clientName,
        redirectHost,
        principal,
        JSON.stringify(groups),
        readOnly,
        createdAt,
        expiresAt,
      );
    });
  }

  async findLogin(
    id: string,
  ): Promise<{ readonly login: ClientLogin; readonly payload: Payload | undefined } | undefined> {
    const [row] = await this.#db.rows(
      `select ${LOGIN}, payload from plugboard.oauth_login where id = $1 and revoked_at is null and expires_at > $2`,
      id,
      this.#now(),
    );
    if (row === undefined) return undefined;
    return { login: toLogin(row), payload: row["payload"] === null ? undefined : toPayload(row["payload"]) };
  }

  async keepPayload(id: string, payload: Payload): Promise<void> {
    await this.#db.run("update plugboard.oauth_login set payload = $1 where id = $2", JSON.stringify(payload), id);
  }

  async usedLogin(id: string): Promise<void> {
    const now = this.#now();
    await this.#db.transact(async (sql) => {
      await sql.run("update plugboard.oauth_login set used_at = $1 where id = $2", now, id);
      await sql.run(
        `update plugboard.oauth_client set used_at = $1
          where id = (select client from plugboard.oauth_login where id = $2)`,
        now,
        id,
      );
    });
  }

  async listLogins(): Promise<readonly ClientLogin[]> {
    const rows = await this.#db.rows(
      `select ${LOGIN} from plugboard.oauth_login where revoked_at is null and expires_at > $1 order by created_at, id`,
      this.#now(),
    );
    return rows.map(toLogin);
  }

  revokeLogin(id: string, by: string): Promise<boolean> {
    return this.#db.transact(async (sql) => {
      await sql.run("delete from plugboard.oauth_refresh_token where login = $1", id);
      const revoke =
        "update plugboard.oauth_login set revoked_at = $1, revoked_by = $2 where id = $3 and revoked_at is null";
      return (await sql.run(revoke, this.#now(), by, id)) > 0;
    });
  }

  addRefreshToken(digest: string, login: string, payload: Payload, expiresAt: number): Promise<void> {
    const now = this.#now();
    return this.#db.transact(async (sql) => {
      await sql.run("delete from plugboard.oauth_refresh_token where expires_at <= $1", now);
      await sql.run("update plugboard.oauth_login set used_at = $1 where id = $2", now, login);
      await sql.run(
        `update plugboard.oauth_client set used_at = $1
          where id = (select client from plugboard.oauth_login where id = $2)`,
        now,
        login,
      );
      await sql.run(
        "insert into plugboard.oauth_refresh_token (digest, login, payload, expires_at) values ($1, $2, $3, $4)",
        digest,
        login,
        JSON.stringify(payload),
        expiresAt,
      );
    });
  }

  async findRefreshToken(digest: string): Promise<StoredRefreshToken | undefined> {
    const sql = "select payload, used_at from plugboard.oauth_refresh_token where digest = $1";
    const [row] = await this.#db.rows(sql, digest);
    if (row === undefined) return undefined;
    return { payload: toPayload(row["payload"]), usedAt: numberOrNothing(row["used_at"]) };
  }

  async useRefreshToken(digest: string): Promise<void> {
    const sql = "update plugboard.oauth_refresh_token set used_at = $1 where digest = $2 and used_at is null";
    await this.#db.run(sql, this.#now(), digest);
  }

  async removeRefreshToken(digest: string): Promise<void> {
    await this.#db.run("delete from plugboard.oauth_refresh_token where digest = $1", digest);
  }

  async removeRefreshTokensOf(login: string): Promise<void> {
    await this.#db.run("delete from plugboard.oauth_refresh_token where login = $1", login);
  }
}
