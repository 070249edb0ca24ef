// Texts in PostgreSQL that only save work: what one replica has found out about a server, the others need not. The last one to write wins.

import { HubError } from "../errors.ts";
import { textOrNothing } from "../identity/columns.ts";
import type { KeptText } from "../lib/files/kept-text.ts";
import { MAX_LISTING_BYTES, MAX_LISTINGS, type ListingStore } from "../servers/resilience/listing-store.ts";
import type { Database } from "./database.ts";

const LISTING = "listing ";

export function keptInDatabase(db: Database, name: string): KeptText {
  return {
    name: `${name} in the database ${db.name}`,
    read: () => read(db, name),
    write: (text) => write(db, name, text),
  };
}

export class PgListings implements ListingStore {
  readonly #db: Database;

  constructor(db: Database) {
    this.#db = db;
  }

  get name(): string {
    return `the database ${this.#db.name}`;
  }

  read(key: string): Promise<string | undefined> {
    return read(this.#db, LISTING + key);
  }

  async write(key: string, text: string): Promise<void> {
    if (text.length > MAX_LISTING_BYTES) throw new HubError("IoError", "The listing is too large to be kept");
    await write(this.#db, LISTING + key, text);
    await this.#db.run(
      `delete from plugboard.kept where name in (select name from plugboard.kept where starts_with(name, $1)
        order by at desc offset $2)`,
      LISTING,
      MAX_LISTINGS,
    );
  }

  async remove(key: string): Promise<void> {
    await this.#db.run("delete from plugboard.kept where name = $1", LISTING + key);
  }
}

async function read(db: Database, name: string): Promise<string | undefined> {
  const [row] = await db.rows("select text from plugboard.kept where name = $1", name);
  return textOrNothing(row?.["text"]);
}

async function write(db: Database, name: string, text: string): Promise<void> {
  await db.run(
    `insert into plugboard.kept (name, text) values ($1, $2)
      on conflict (name) do update set text = excluded.text, at = now()`,
    name,
    text,
  );
}
