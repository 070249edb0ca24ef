// Opens the database of the call log. A file that is damaged or of another program is set aside, never changed.

import { access, constants, stat } from "node:fs/promises";
import { dirname } from "node:path";
import { connect, MEMORY, SQLITE, sqliteCode, type Database } from "@plugboard/shared/sqlite/driver";
import {
  appliedMigrations,
  isCutOff,
  openDatabase,
  UnusableDatabase,
  type DatabaseForm,
  type Unusability,
} from "@plugboard/shared/sqlite/open";
import { HubError } from "../../errors.ts";
import { setAside } from "./quarantine.ts";
import { CALL_LOG_FORM } from "./schema.ts";

/** How long to wait for a lock of another process. */
const BUSY_MS = 5000;

export interface OpenedLog {
  readonly db: Database;
  /** The problem of the file. */
  readonly warning?: string;
}

export async function openLog(path: string): Promise<OpenedLog> {
  try {
    const wasEmptied = await isEmptied(path);
    const db = await openIntact(path);
    return wasEmptied
      ? { db, warning: `The database ${path} was empty: calls that were recorded before are lost` }
      : { db };
  } catch (error) {
    const reason = await whySetAside(path, error);
    if (reason === undefined) throw failed(path, error);
    const warning = await setAside(path, reason);
    return { db: await openIntact(path), warning };
  }
}

async function openIntact(path: string): Promise<Database> {
  const db = await openDatabase(path, CALL_LOG_FORM, { waitMs: BUSY_MS });
  try {
    // A table with a missing column would fail at every call.
    if (schemaOf(db) !== (await expectedSchema(CALL_LOG_FORM))) throw new UnusableDatabase("damaged");
    return db;
  } catch (error) {
    await db.close();
    throw error;
  }
}

/**
 * Checks every page of a file. Returns why it cannot be used; undefined if it can be, or is locked by another process.
 *
 * @param findFault checks the rows of a file of the current version
 */
export async function findDamage(
  path: string,
  findFault?: (db: Database) => Promise<unknown>,
): Promise<Unusability | undefined> {
  try {
    const db = await connect(path);
    try {
      db.exec("PRAGMA busy_timeout = 0; PRAGMA trusted_schema = OFF; PRAGMA cell_size_check = ON");
      const applied = appliedMigrations(db, CALL_LOG_FORM);
      if (await isCutOff(db, path)) return "damaged";
      const isOlder = applied < CALL_LOG_FORM.migrations.length;
      const isWhole = isOlder || schemaOf(db) === (await expectedSchema(CALL_LOG_FORM));
      const [verdict] = Object.values(db.get("PRAGMA quick_check(1)") ?? {});
      if (!isWhole || verdict !== "ok") return "damaged";
      return isOlder || (await findFault?.(db)) === undefined ? undefined : "damaged";
    } finally {
      await db.close();
    }
  } catch (error) {
    return whySetAside(path, error);
  }
}

/** An empty file that was never written to is left by a kill between its creation and SQLite's first write: nothing is lost. */
async function isEmptied(path: string): Promise<boolean> {
  const info = await stat(path).catch(() => undefined);
  return info !== undefined && info.size === 0 && info.mtimeMs > info.birthtimeMs;
}

async function expectedSchema({ migrations }: DatabaseForm): Promise<string> {
  const db = await connect(MEMORY);
  for (const { sql } of migrations) if (sql !== undefined) db.exec(sql);
  const schema = schemaOf(db);
  await db.close();
  return schema;
}

function schemaOf(db: Database): string {
  return JSON.stringify(db.all("SELECT type, name, tbl_name, sql FROM sqlite_schema ORDER BY name"));
}

const DAMAGES: ReadonlySet<number | undefined> = new Set([
  SQLITE.error,
  SQLITE.corrupt,
  SQLITE.schema,
  SQLITE.mismatch,
  SQLITE.format,
  SQLITE.notADatabase,
]);

async function whySetAside(path: string, error: unknown): Promise<Unusability | undefined> {
  if (error instanceof UnusableDatabase) return error.reason;
  const code = sqliteCode(error);
  if (DAMAGES.has(code)) return "damaged";
  // Either the file is not writable, or its header has a format version that SQLite only reads.
  if (code === SQLITE.readonly) return (await isWritable(path)) ? "damaged" : undefined;
  return undefined;
}

async function isWritable(path: string): Promise<boolean> {
  try {
    for (const name of [path, dirname(path)]) await access(name, constants.W_OK);
    return true;
  } catch {
    return false;
  }
}

function failed(path: string, error: unknown): HubError {
  const detail = error instanceof Error ? error.message : String(error);
  return new HubError("DatabaseError", `Cannot open the database ${path}`, { detail, cause: error });
}
