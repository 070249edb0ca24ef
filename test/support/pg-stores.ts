// PostgreSQL for contract tests: one server for a file, and for each test a prepared database with the adapters on it.

import { afterAll, beforeAll } from "vitest";
import { Changes } from "../../hub/src/database/changes.ts";
import { Database } from "../../hub/src/database/database.ts";
import { initDatabase } from "../../hub/src/database/migrate.ts";
import { parseDatabaseUrl, type DatabaseAddress } from "../../hub/src/database/url.ts";
import { Postgres, POSTGRES_PROGRAMS } from "./postgres.ts";

export const KEY = Buffer.alloc(32, 7);

export interface PgStores {
  readonly db: Database;
  readonly changes: Changes;
  readonly address: DatabaseAddress;
  readonly close: () => Promise<void>;
}

/** Undefined where PostgreSQL is not installed. */
export function usePostgres(): (() => Postgres) | undefined {
  if (POSTGRES_PROGRAMS === undefined) return undefined;
  let postgres: Postgres | undefined;
  beforeAll(async () => void (postgres = await Postgres.start()));
  afterAll(() => postgres?.stop());
  return () => {
    if (postgres === undefined) throw new Error("PostgreSQL has not been started");
    return postgres;
  };
}

/** A database of its own, or that of another hub. */
export async function openStores(postgres: Postgres, database?: string): Promise<PgStores> {
  const name = database ?? (await postgres.createDatabase());
  const address = parseDatabaseUrl(postgres.urlOf(name), "database.url");
  const db = new Database(address);
  await initDatabase(db);
  const changes = new Changes({ address, onProblem: () => {} });
  return {
    db,
    changes,
    address,
    close: async () => {
      await changes.close();
      await db.close();
    },
  };
}
