// Clients and logins of the embedded authorization server in identity.db.

import type {
  ClientLogin,
  IssuerStore,
  Payload,
  StoredClient,
  StoredRefreshToken,
} from "../auth/issuer/issuer-store.ts";
import { numberOrNothing } from "./columns.ts";
import type { IdentityFile } from "./identity-file.ts";
import { CLIENT_IDLE_MS, CLIENT_UNUSED_MS, toClient, toLogin, toPayload } from "./rows.ts";

const LOGIN = `id, client, client_name, redirect_host, principal, groups, read_only, created_at, expires_at, used_at`;
const IS_VALID = "revoked_at IS NULL AND expires_at > ?";

export class SqliteIssuer implements IssuerStore {
  readonly #file: IdentityFile;
  readonly #now: () => number;

  constructor(file: IdentityFile, { now = () => Date.now() }: { readonly now?: () => number } = {}) {
    this.#file = file;
    this.#now = now;
  }

  findClient(id: string): Promise<StoredClient | undefined> {
    return this.#file.run((db) => {
      const row = db.get("SELECT id, metadata, created_at, created_from, used_at FROM oauth_client WHERE id = ?", id);
      return row === undefined ? undefined : toClient(row);
    });
  }

  addClient({ id, metadata, createdAt, createdFrom }: StoredClient, maxUnused: number): Promise<void> {
    const now = this.#now();
    return this.#file.run((db) =>
      db.transact(() => {
        db.run("DELETE FROM oauth_client WHERE used_at IS NULL AND created_at <= ?", now - CLIENT_UNUSED_MS);
        db.run(
          `DELETE FROM oauth_client WHERE used_at <= ? AND id NOT IN (SELECT client FROM oauth_login WHERE ${IS_VALID})`,
          now - CLIENT_IDLE_MS,
          now,
        );
        db.run(
          `DELETE FROM oauth_client WHERE id IN
            (SELECT id FROM oauth_client WHERE used_at IS NULL ORDER BY created_at DESC, id LIMIT -1 OFFSET ?)`,
          maxUnused - 1,
        );
        db.run(
          "INSERT INTO oauth_client (id, metadata, created_at, created_from) VALUES (?, ?, ?, ?)",
          id,
          JSON.stringify(metadata),
          createdAt,
          createdFrom,
        );
      }),
    );
  }

  addLogin(login: ClientLogin): Promise<void> {
    const { id, client, clientName, redirectHost, principal, groups, readOnly, createdAt, expiresAt } = login;
    return this.#file.run((db) =>
      db.transact(() => {
        db.run("UPDATE oauth_client SET used_at = ? WHERE id = ?", createdAt, client);
        db.run(
          `INSERT INTO oauth_login (${LOGIN}) VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?, NULL)`,
          id,
          client,
          clientName,
          redirectHost,
          principal,
          JSON.stringify(groups),
          Number(readOnly),
          createdAt,
          expiresAt,
        );
      }),
    );
  }

  findLogin(id: string): Promise<{ readonly login: ClientLogin; readonly payload: Payload | undefined } | undefined> {
    return this.#file.run((db) => {
      const row = db.get(`SELECT ${LOGIN}, payload FROM oauth_login WHERE id = ? AND ${IS_VALID}`, id, this.#now());
      if (row === undefined) return undefined;
      return { login: toLogin(row), payload: row["payload"] === null ? undefined : toPayload(row["payload"]) };
    });
  }

  keepPayload(id: string, payload: Payload): Promise<void> {
    const sql = "UPDATE oauth_login SET payload = ? WHERE id = ?";
    return this.#file.run((db) => void db.run(sql, JSON.stringify(payload), id));
  }

  listLogins(): Promise<readonly ClientLogin[]> {
    const sql = `SELECT ${LOGIN} FROM oauth_login WHERE ${IS_VALID} ORDER BY created_at, id`;
    return this.#file.run((db) => db.all(sql, this.#now()).map(toLogin));
  }

  revokeLogin(id: string, by: string): Promise<boolean> {
    const now = this.#now();
    return this.#file.run((db) =>
      db.transact(() => {
        db.run("DELETE FROM oauth_refresh_token WHERE login = ?", id);
        const sql = "UPDATE oauth_login SET revoked_at = ?, revoked_by = ? WHERE id = ? AND revoked_at IS NULL";
        return db.run(sql, now, by, id) > 0;
      }),
    );
  }

  usedLogin(id: string): Promise<void> {
    const now = this.#now();
    return this.#file.run((db) => {
      db.run("UPDATE oauth_login SET used_at = ? WHERE id = ?", now, id);
      db.run("UPDATE oauth_client SET used_at = ? WHERE id = (SELECT client FROM oauth_login WHERE id = ?)", now, id);
    });
  }

  addRefreshToken(digest: string, login: string, payload: Payload, expiresAt: number): Promise<void> {
    const now = this.#now();
    return this.#file.run((db) =>
      db.transact(() => {
        db.run("DELETE FROM oauth_refresh_token WHERE expires_at <= ?", now);
        db.run("UPDATE oauth_login SET used_at = ? WHERE id = ?", now, login);
        db.run(
          "UPDATE oauth_client SET used_at = ? WHERE id = (SELECT client FROM oauth_login WHERE id = ?)",
          now,
          login,
        );
        db.run(
          "INSERT INTO oauth_refresh_token (digest, login, payload, expires_at) VALUES (?, ?, ?, ?)",
          digest,
          login,
          JSON.stringify(payload),
          expiresAt,
        );
      }),
    );
  }

  findRefreshToken(digest: string): Promise<StoredRefreshToken | undefined> {
    return this.#file.run((db) => {
      const row = db.get("SELECT payload, used_at FROM oauth_refresh_token WHERE digest = ?", digest);
      if (row === undefined) return undefined;
      return { payload: toPayload(row["payload"]), usedAt: numberOrNothing(row["used_at"]) };
    });
  }

  useRefreshToken(digest: string): Promise<void> {
    const sql = "UPDATE oauth_refresh_token SET used_at = ? WHERE digest = ? AND used_at IS NULL";
    return this.#file.run((db) => void db.run(sql, this.#now(), digest));
  }

  removeRefreshToken(digest: string): Promise<void> {
    return this.#file.run((db) => void db.run("DELETE FROM oauth_refresh_token WHERE digest = ?", digest));
  }

  removeRefreshTokensOf(login: string): Promise<void> {
    return this.#file.run((db) => void db.run("DELETE FROM oauth_refresh_token WHERE login = ?", login));
  }
}
