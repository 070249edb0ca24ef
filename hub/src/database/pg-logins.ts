// Logins at remote servers in PostgreSQL. Only one hub of the cluster renews a login at a time: a refresh token that is used twice
// ends the login.

import { createHash } from "node:crypto";
import { parseJson } from "@plugboard/shared/lenient";
import { HubError } from "../errors.ts";
import { text, type Row } from "../identity/columns.ts";
import {
  loginRecordSchema,
  type LoginKey,
  type LoginRecord,
  type LoginSlot,
  type LoginStore,
} from "../secrets/login-store.ts";
import { openRecord, parseRecord, sealRecord } from "../secrets/record.ts";
import type { Database } from "./database.ts";

export class PgLogins implements LoginStore {
  readonly #db: Database;
  readonly #key: Buffer;
  /** The rows that were read last, still encrypted: for as long as the database is away. */
  readonly #known = new Map<string, Row>();

  constructor(db: Database, key: Buffer) {
    this.#db = db;
    this.#key = key;
  }

  async principals(server: string): Promise<string[]> {
    return (await this.keys()).flatMap((key) => (key.server === server ? [key.principal] : [])).toSorted();
  }

  async keys(): Promise<LoginKey[]> {
    const rows = await this.#db.rows("select name from plugboard.sealed where kind = 'oauth'");
    return rows.flatMap((row) => keyOf(text(row["name"])));
  }

  async read(key: LoginKey): Promise<LoginRecord | undefined> {
    const row = await this.#find(nameOf(key));
    if (row === undefined) return undefined;
    const record = parseRecord(text(row["record"]));
    const value = record?.name === nameOf(key) ? openRecord(text(row["id"]), record, this.#key) : undefined;
    const parsed = loginRecordSchema.safeParse(parseJson(value ?? ""));
    if (parsed.success) return parsed.data;
    throw new HubError("DatabaseError", `The login at "${key.server}" cannot be decrypted`, {
      hint: `Log in again: plugboard auth ${key.server}`,
    });
  }

  async edit<T>(key: LoginKey, edit: (slot: LoginSlot) => Promise<T>): Promise<T> {
    const name = nameOf(key);
    const slot: LoginSlot = {
      read: () => this.read(key),
      write: (record) => this.#write(name, record),
      delete: async () => {
        this.#known.delete(name);
        await this.#db.run("delete from plugboard.sealed where kind = 'oauth' and name = $1", name);
      },
    };
    return this.#db.withLock(`login ${name}`, () => edit(slot));
  }

  async #find(name: string): Promise<Row | undefined> {
    try {
      const [row] = await this.#db.rows(
        "select id, record from plugboard.sealed where kind = 'oauth' and name = $1",
        name,
      );
      if (row === undefined) this.#known.delete(name);
      else this.#known.set(name, row);
      return row;
    } catch (error) {
      const known = this.#known.get(name);
      if (known === undefined) throw error;
      return known;
    }
  }

  async #write(name: string, record: LoginRecord): Promise<void> {
    const id = uuidOf(name);
    // Servers of other hubs may wait for it.
    await this.#db.change("secret", (sql) =>
      sql.run(
        `insert into plugboard.sealed (kind, name, id, record, set_at) values ('oauth', $1, $2, $3, $4)
        on conflict (kind, name) do update set record = excluded.record, set_at = excluded.set_at`,
        name,
        id,
        sealRecord(id, { name, value: JSON.stringify(record), key: this.#key }),
        Date.now(),
      ),
    );
  }
}

function nameOf({ server, principal }: LoginKey): string {
  return JSON.stringify(["login", server, principal]);
}

function keyOf(name: string): LoginKey[] {
  const parts = parseJson(name);
  const [kind, server, principal] = Array.isArray(parts) ? parts : [];
  return kind === "login" && typeof server === "string" && typeof principal === "string" ? [{ server, principal }] : [];
}

/** The digest in the form of a uuid. */
function uuidOf(name: string): string {
  const hex = createHash("sha256").update(name).digest("hex");
  return [hex.slice(0, 8), hex.slice(8, 12), hex.slice(12, 16), hex.slice(16, 20), hex.slice(20, 32)].join("-");
}
