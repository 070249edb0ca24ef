// Secrets in PostgreSQL, encrypted by the hub. While the database is away, those that this hub has read before can still be read.

import { randomUUID } from "node:crypto";
import { numberOrNothing, text, type Row } from "../identity/columns.ts";
import { HubError } from "../errors.ts";
import { openRecord, parseRecord, sealRecord } from "../secrets/record.ts";
import { requireSecret } from "../secrets/rules.ts";
import type { SecretStore } from "../secrets/store.ts";
import type { Changes } from "./changes.ts";
import type { Database } from "./database.ts";

export type SecretKind = "key" | "user";

export class PgSecrets implements SecretStore {
  readonly #db: Database;
  readonly #changes: Changes;
  readonly #key: Buffer;
  readonly #kind: SecretKind;
  #failures = 0;
  /** The rows that were read last, still encrypted. */
  readonly #known = new Map<string, Row>();
  #values: { readonly version: number; readonly values: readonly string[] } | undefined;

  constructor(
    db: Database,
    changes: Changes,
    { key, kind = "key" }: { readonly key: Buffer; readonly kind?: SecretKind },
  ) {
    this.#db = db;
    this.#changes = changes;
    this.#key = key;
    this.#kind = kind;
  }

  get failures(): number {
    return this.#failures;
  }

  async get(name: string): Promise<string | undefined> {
    try {
      const row = await this.#read(name);
      return row === undefined ? undefined : this.#open(name, row);
    } catch (error) {
      this.#failures++;
      throw error;
    }
  }

  async set(name: string, value: string): Promise<void> {
    requireSecret(name, value);
    await this.#db.change("secret", async (sql) => {
      const [row] = await sql.rows(
        "select id from plugboard.sealed where kind = $1 and name = $2 for update",
        this.#kind,
        name,
      );
      const id = row === undefined ? randomUUID() : text(row["id"]);
      await sql.run(
        `insert into plugboard.sealed (kind, name, id, record, set_at) values ($1, $2, $3, $4, $5)
          on conflict (kind, name) do update set record = excluded.record, set_at = excluded.set_at`,
        this.#kind,
        name,
        id,
        sealRecord(id, { name, value, key: this.#key }),
        Date.now(),
      );
    });
  }

  async delete(name: string): Promise<boolean> {
    this.#known.delete(name);
    return this.#db.change("secret", async (sql) => {
      const count = await sql.run("delete from plugboard.sealed where kind = $1 and name = $2", this.#kind, name);
      return count > 0;
    });
  }

  async list(): Promise<string[]> {
    return [...(await this.times()).keys()].toSorted();
  }

  async times(): Promise<ReadonlyMap<string, number>> {
    const rows = await this.#db.rows("select name, set_at from plugboard.sealed where kind = $1", this.#kind);
    return new Map(rows.map((row) => [text(row["name"]), numberOrNothing(row["set_at"]) ?? 0]));
  }

  watch(onChange: () => void): () => void {
    let seen: number | undefined;
    return this.#changes.watch("secret", {
      isCurrent: (version) => version === (seen ??= version),
      onChange: (version) => {
        seen = version;
        onChange();
      },
    });
  }

  async values(): Promise<readonly string[]> {
    const version = await this.#db.versionOf("secret");
    if (this.#values?.version === version) return this.#values.values;
    const rows = await this.#db.rows("select id, name, record from plugboard.sealed where kind = $1", this.#kind);
    const values = rows.flatMap((row) => this.#tryOpen(row) ?? []);
    this.#values = { version, values };
    return values;
  }

  async #read(name: string): Promise<Row | undefined> {
    try {
      const sql = "select id, name, record from plugboard.sealed where kind = $1 and name = $2";
      const [row] = await this.#db.rows(sql, this.#kind, name);
      if (row === undefined) this.#known.delete(name);
      else this.#known.set(name, row);
      return row;
    } catch (error) {
      const known = this.#known.get(name);
      if (known === undefined) throw error;
      return known;
    }
  }

  #open(name: string, row: Row): string {
    const value = this.#tryOpen(row);
    if (value !== undefined) return value;
    throw new HubError("DatabaseError", `Secret ${JSON.stringify(name)} cannot be decrypted`, {
      hint: `Set it again: plugboard secret set '${name}'`,
    });
  }

  #tryOpen(row: Row): string | undefined {
    const record = parseRecord(text(row["record"]));
    if (record === undefined || record.name !== row["name"]) return undefined;
    return openRecord(text(row["id"]), record, this.#key);
  }
}
