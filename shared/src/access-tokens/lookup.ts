// Looks up access tokens in the hub's identity.db, for programs beside the hub. Reads only: the hub alone makes, changes and migrates
// the file.

import { exists } from "../files/exists.ts";
import { connect, type Database } from "../sqlite/driver.ts";
import { accessTokenDigest, isAccessToken, looksMade } from "./form.ts";

/** A token that is valid now. */
export interface ValidToken {
  readonly id: string;
  readonly name: string;
  /** The person or program that it stands for. */
  readonly principal: string;
  readonly readOnly: boolean;
}

const BUSY_MS = 2000;
const USER = "user:";
const VALID = `SELECT id, name, principal, read_only FROM token
  WHERE revoked_at IS NULL AND (expires_at IS NULL OR expires_at > ?)`;

export class AccessTokenLookup {
  readonly #path: string;
  readonly #now: () => number;
  #db: Promise<Database> | undefined;

  constructor(path: string, { now = Date.now }: { readonly now?: () => number } = {}) {
    this.#path = path;
    this.#now = now;
  }

  /** Undefined: it is none, was revoked, has expired, or its person may not use the hub any more. */
  find(token: string): Promise<ValidToken | undefined> {
    if (!looksMade(token) || !isAccessToken(token)) return Promise.resolve(undefined);
    return this.#select(`${VALID} AND digest = ?`, accessTokenDigest(token));
  }

  isValid(id: string): Promise<boolean> {
    return this.#select(`${VALID} AND id = ?`, id).then((found) => found !== undefined);
  }

  async close(): Promise<void> {
    await (await this.#db?.catch(() => undefined))?.close();
  }

  async #select(sql: string, value: string): Promise<ValidToken | undefined> {
    // The hub has made no token yet, and nothing else may create the file.
    if (this.#db === undefined && !(await exists(this.#path))) return undefined;
    const db = await this.#open();
    const row = db.get(sql, this.#now(), value);
    if (row === undefined) return undefined;
    const { id, name, principal, read_only: readOnly } = row;
    if (typeof id !== "string" || typeof name !== "string" || typeof principal !== "string") return undefined;
    if (principal.startsWith(USER) && !isActive(db, principal.slice(USER.length))) return undefined;
    return { id, name, principal, readOnly: readOnly !== 0 };
  }

  #open(): Promise<Database> {
    this.#db ??= connect(this.#path).then(
      (db) => {
        db.exec(`PRAGMA busy_timeout = ${BUSY_MS}; PRAGMA query_only = ON`);
        return db;
      },
      (error: unknown) => {
        this.#db = undefined;
        throw error;
      },
    );
    return this.#db;
  }
}

function isActive(db: Database, user: string): boolean {
  return db.get("SELECT 1 FROM user WHERE id = ? AND disabled_at IS NULL", user) !== undefined;
}
