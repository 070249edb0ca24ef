// Opens a SQLite file: private, in WAL mode, migrated. One that is damaged or not ours is set aside, never written to.
// What is in it is left to the callers.

import { access, chmod, constants, mkdir, open, stat } from "node:fs/promises";
import { dirname } from "node:path";
import { setTimeout as sleep } from "node:timers/promises";
import { errorCode } from "../atomic.ts";
import { HubError } from "../errors.ts";
import { isBusy, loadDriver, SQLITE, sqliteCode, type Database, type Driver } from "./driver.ts";
import { setAside, type AsideReason } from "./set-aside.ts";

/** Waited for in all, and not on the event loop, where another process holds the file. */
const BUSY_MS = 200;
const BUSY_PAUSE_MS = 10;

export interface DatabaseForm {
  /** Marks the files of this kind, so that no other is taken for one. */
  readonly applicationId: number;
  /** SQL, in order; how many have run is kept in the file. Never change one that was released. */
  readonly migrations: readonly string[];
}

export interface OpenedDatabase {
  readonly db: Database;
  /** What was wrong with the file that stood there. */
  readonly warning?: string;
}

/** @example const { db, warning } = await openDatabase("/data/calls.db", CALL_LOG_FORM); */
export async function openDatabase(path: string, form: DatabaseForm): Promise<OpenedDatabase> {
  const driver = await loadDriver();
  try {
    await makePrivate(path);
    return { db: await openWhenFree(driver, path, form) };
  } catch (error) {
    const reason = await whySetAside(path, error);
    if (reason === undefined) throw failed(path, error);
    const warning = await setAside(path, reason);
    await makePrivate(path);
    return { db: await openWhenFree(driver, path, form), warning };
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

async function openWhenFree(driver: Driver, path: string, form: DatabaseForm): Promise<Database> {
  const deadline = performance.now() + BUSY_MS;
  for (;;) {
    try {
      return prepare(new driver.DatabaseSync(path), form);
    } catch (error) {
      if (!isBusy(error) || performance.now() > deadline) throw error;
    }
    await sleep(BUSY_PAUSE_MS);
  }
}

function prepare(db: Database, form: DatabaseForm): Database {
  try {
    // No waiting inside SQLite: it would block the event loop. Whoever meets a lock tries again later.
    db.exec("PRAGMA busy_timeout = 0; PRAGMA trusted_schema = OFF; PRAGMA cell_size_check = ON");
    const applied = appliedMigrations(db, form);
    // NORMAL: a commit outlives the process at once, and the machine's power within a second (wal-sync.ts).
    db.exec("PRAGMA journal_mode = WAL; PRAGMA synchronous = NORMAL; PRAGMA foreign_keys = ON");
    db.exec("PRAGMA journal_size_limit = 16777216");
    if (applied < form.migrations.length) migrate(db, form);
    return db;
  } catch (error) {
    db.close();
    throw error;
  }
}

/** A file that is not of this kind, in the terms of set-aside.ts. */
class NotOurs extends Error {
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
  if (id !== applicationId) throw new NotOurs("foreign");
  if (version > migrations.length) throw new NotOurs("newer");
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
  if (error instanceof NotOurs) return error.reason;
  const code = sqliteCode(error);
  if (DAMAGES.has(code)) return "damaged";
  // A version that SQLite can only read; unless it is the file's rights.
  if (code === SQLITE.readonly) return (await isWritable(path)) ? "damaged" : undefined;
  // Shorter than its own header says; unless it is the disk.
  if (code === SQLITE.ioError) return (await isCutOff(path)) ? "damaged" : undefined;
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

async function isCutOff(path: string): Promise<boolean> {
  const size = (await stat(path).catch(() => undefined))?.size ?? 0;
  return size > 0 && size % 512 !== 0;
}

function failed(path: string, error: unknown): HubError {
  const detail = error instanceof Error ? error.message : String(error);
  return new HubError("DatabaseError", `Cannot open the database ${path}`, { detail, cause: error });
}
