// Opens a SQLite file: private, in WAL mode, migrated. One that is damaged or not ours is set aside, never written to.
// What is in it is left to the callers.

import { access, chmod, constants, mkdir, open, stat } from "node:fs/promises";
import { dirname } from "node:path";
import { setTimeout as sleep } from "node:timers/promises";
import { errorCode } from "../atomic.ts";
import { HubError } from "../errors.ts";
import { connect, isBusy, MEMORY, SQLITE, sqliteCode, type Database } from "./driver.ts";
import { setAside, type AsideReason } from "./set-aside.ts";

/** Waited for in all, and not on the event loop, where another process holds the file. */
const BUSY_MS = 5000;
const BUSY_PAUSE_MS = 10;

export interface DatabaseForm {
  /** Marks the files of this kind, so that no other is taken for one. */
  readonly applicationId: number;
  /** SQL, in order; how many have run is kept in the file. Never change one that was released. */
  readonly migrations: readonly string[];
  /** Of files that are made from now on. */
  readonly pageBytes: number;
}

export interface OpenedDatabase {
  readonly db: Database;
  /** What was wrong with the file that stood there. */
  readonly warning?: string;
}

/** @example const { db, warning } = await openDatabase("/data/calls.db", CALL_LOG_FORM); */
export async function openDatabase(path: string, form: DatabaseForm): Promise<OpenedDatabase> {
  try {
    const wasEmptied = (await stat(path).catch(() => undefined))?.size === 0;
    await makePrivate(path);
    const db = await openWhenFree(path, form);
    return wasEmptied
      ? { db, warning: `The database ${path} was empty: if it held anything before, that is gone` }
      : { db };
  } catch (error) {
    const reason = await whySetAside(path, error);
    if (reason === undefined) throw failed(path, error);
    const warning = await setAside(path, reason);
    await makePrivate(path);
    return { db: await openWhenFree(path, form), warning };
  }
}

/** Why a file could not be used, every page of it looked at; undefined where it can, or is somebody else's just now. */
export async function findDamage(path: string, form: DatabaseForm): Promise<AsideReason | undefined> {
  try {
    const sizeBytes = await knownSize(path);
    const db = await connect(path);
    try {
      db.exec("PRAGMA busy_timeout = 0; PRAGMA trusted_schema = OFF; PRAGMA cell_size_check = ON");
      const applied = appliedMigrations(db, form);
      if (isCutOff(db, sizeBytes)) return "damaged";
      const isWhole = applied < form.migrations.length || schemaOf(db) === (await expectedSchema(form));
      const [verdict] = Object.values(db.prepare("PRAGMA quick_check(1)").get() ?? {});
      return isWhole && verdict === "ok" ? undefined : "damaged";
    } finally {
      await db.close();
    }
  } catch (error) {
    return whySetAside(path, error);
  }
}

/** SQLite gives its side files the rights of the main one, so that one must have them before. */
async function makePrivate(path: string): Promise<void> {
  const folder = dirname(path);
  if ((await mkdir(folder, { recursive: true, mode: 0o700 })) !== undefined) await chmod(folder, 0o700);
  try {
    const file = await open(path, "wx", 0o600);
    await file.close();
  } catch (error) {
    if (errorCode(error) !== "EEXIST") throw error;
  }
  // By name: opening and closing a database's file drops the locks that this process may hold on it.
  for (const name of [path, `${path}-wal`, `${path}-shm`]) {
    await chmod(name, 0o600).catch((error: unknown) => {
      if (errorCode(error) !== "ENOENT") throw error;
    });
  }
}

async function openWhenFree(path: string, form: DatabaseForm): Promise<Database> {
  const deadline = performance.now() + BUSY_MS;
  for (;;) {
    try {
      const sizeBytes = await knownSize(path);
      return await prepare(await connect(path), form, sizeBytes);
    } catch (error) {
      if (!isBusy(error) || performance.now() > deadline) throw error;
    }
    await sleep(BUSY_PAUSE_MS);
  }
}

async function prepare(db: Database, form: DatabaseForm, sizeBytes: number): Promise<Database> {
  try {
    // No waiting inside SQLite: it would block the event loop. Whoever meets a lock tries again later.
    db.exec("PRAGMA busy_timeout = 0; PRAGMA trusted_schema = OFF; PRAGMA cell_size_check = ON");
    const applied = appliedMigrations(db, form);
    if (isCutOff(db, sizeBytes)) throw new Unusable("damaged");
    // NORMAL: a commit outlives the process at once, and the machine's power within a second (wal-sync.ts).
    db.exec(`PRAGMA page_size = ${form.pageBytes}; PRAGMA journal_mode = WAL; PRAGMA synchronous = NORMAL`);
    db.exec("PRAGMA journal_size_limit = 16777216");
    if (applied < form.migrations.length) migrate(db, form);
    // A table that lost a column would fail at every call, and for a reason that nobody could see.
    if (schemaOf(db) !== (await expectedSchema(form))) throw new Unusable("damaged");
    return db;
  } catch (error) {
    await db.close();
    throw error;
  }
}

/** SQLite notices only when it comes to a page that is not there, and takes that for a fault of the disk. */
function isCutOff(db: Database, sizeBytes: number): boolean {
  return readNumber(db, "PRAGMA page_count") * readNumber(db, "PRAGMA page_size") > sizeBytes;
}

/** What is missing in the file may be in its log. */
async function knownSize(path: string): Promise<number> {
  return (await sizeOf(`${path}-wal`)) === 0 ? sizeOf(path) : Infinity;
}

/** A file that must not be used, in the terms of set-aside.ts. */
class Unusable extends Error {
  readonly reason: AsideReason;

  constructor(reason: AsideReason) {
    super(reason);
    this.reason = reason;
  }
}

function appliedMigrations(db: Database, { applicationId, migrations }: DatabaseForm): number {
  const id = readNumber(db, "PRAGMA application_id");
  const version = readNumber(db, "PRAGMA user_version");
  const isEmpty = readNumber(db, "SELECT count(*) FROM sqlite_schema") === 0;
  if (isEmpty && version === 0 && id === 0) return 0;
  if (id !== applicationId) throw new Unusable("foreign");
  if (version > migrations.length) throw new Unusable("newer");
  return version;
}

function migrate(db: Database, { applicationId, migrations }: DatabaseForm): void {
  db.exec("BEGIN IMMEDIATE");
  try {
    // Read again, under the lock: another process may have been faster.
    const version = readNumber(db, "PRAGMA user_version");
    for (const migration of migrations.slice(version)) db.exec(migration);
    db.exec(`PRAGMA user_version = ${migrations.length}; PRAGMA application_id = ${applicationId}; COMMIT`);
  } catch (error) {
    rollBack(db);
    throw error;
  }
}

async function expectedSchema({ migrations }: DatabaseForm): Promise<string> {
  const db = await connect(MEMORY);
  for (const migration of migrations) db.exec(migration);
  const schema = schemaOf(db);
  await db.close();
  return schema;
}

function schemaOf(db: Database): string {
  return JSON.stringify(db.prepare("SELECT type, name, tbl_name, sql FROM sqlite_schema ORDER BY name").all());
}

/** Some failures have rolled back already; the failure itself is what matters. */
export function rollBack(db: Database): void {
  try {
    db.exec("ROLLBACK");
  } catch {
    // no transaction is open any more
  }
}

export function readNumber(db: Database, sql: string): number {
  return Number(Object.values(db.prepare(sql).get() ?? {})[0] ?? 0);
}

const DAMAGES: ReadonlySet<number | undefined> = new Set([
  SQLITE.error,
  SQLITE.corrupt,
  SQLITE.schema,
  SQLITE.mismatch,
  SQLITE.format,
  SQLITE.notADatabase,
]);

async function whySetAside(path: string, error: unknown): Promise<AsideReason | undefined> {
  if (error instanceof Unusable) return error.reason;
  const code = sqliteCode(error);
  if (DAMAGES.has(code)) return "damaged";
  // A version that SQLite can only read; unless it is the file's rights.
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

async function sizeOf(path: string): Promise<number> {
  return (await stat(path).catch(() => undefined))?.size ?? 0;
}

function failed(path: string, error: unknown): HubError {
  const detail = error instanceof Error ? error.message : String(error);
  return new HubError("DatabaseError", `Cannot open the database ${path}`, { detail, cause: error });
}
