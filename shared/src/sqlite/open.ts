// Opens a SQLite file: private, with the settings of its form, migrated. A file that must not be used is refused and not changed.

import { chmod, mkdir, open, stat } from "node:fs/promises";
import { dirname } from "node:path";
import { setTimeout as sleep } from "node:timers/promises";
import { errorCode } from "../error-code.ts";
import { connect, isBusy, MEMORY, SQLITE, sqliteCode, type Database } from "./driver.ts";

const PAUSE_MS = 10;

/** One version of a file. Never changes once it is released. */
export interface Migration {
  readonly sql?: string;
  /** Changes rows, in code. All SQL runs first, so that a repair always works on the current tables. */
  readonly repair?: (db: Database) => void;
}

export interface DatabaseForm {
  /** `PRAGMA application_id` of the files of this kind. */
  readonly applicationId: number;
  /** `PRAGMA user_version` after the first migration. Files of older versions are refused. */
  readonly oldestVersion: number;
  /** One for each version, in order. */
  readonly migrations: readonly Migration[];
  /** Pragmas of every connection. */
  readonly settings: string;
}

export interface OpenOptions {
  /** How long to wait for a lock of another process. */
  readonly waitMs: number;
  /** How long each statement waits for one. This blocks the event loop. */
  readonly busyTimeoutMs?: number;
}

/** Why a file must not be used. */
export type Unusability = "damaged" | "foreign" | "newer" | "older";

export class UnusableDatabase extends Error {
  override readonly name = "UnusableDatabase";
  readonly reason: Unusability;
  /** `PRAGMA user_version` of the file, if that is the reason. */
  readonly version: number | undefined;

  constructor(reason: Unusability, { version, cause }: { version?: number; cause?: unknown } = {}) {
    super(`The database is ${reason}`, { cause });
    this.reason = reason;
    this.version = version;
  }
}

/**
 * Rejects with UnusableDatabase, or with the error of SQLite or the file system.
 *
 * @example const db = await openDatabase("/data/chat.db", FORM, { waitMs: 5000 });
 */
export async function openDatabase(path: string, form: DatabaseForm, options: OpenOptions): Promise<Database> {
  const deadline = performance.now() + options.waitMs;
  if (path !== MEMORY) await makePrivate(path);
  for (;;) {
    const db = await connect(path);
    try {
      await prepare(db, path, form, options);
      return db;
    } catch (error) {
      await db.close();
      // The busy timeout does not apply to switching a file to WAL mode.
      if (sqliteCode(error) === SQLITE.corrupt) throw new UnusableDatabase("damaged", { cause: error });
      if (!isBusy(error) || performance.now() > deadline) throw error;
    }
    await sleep(PAUSE_MS);
  }
}

async function prepare(
  db: Database,
  path: string,
  form: DatabaseForm,
  { busyTimeoutMs = 0 }: OpenOptions,
): Promise<void> {
  db.exec(`PRAGMA busy_timeout = ${Math.trunc(busyTimeoutMs)}; PRAGMA trusted_schema = OFF`);
  const applied = appliedMigrations(db, form);
  if (await isCutOff(db, path)) throw new UnusableDatabase("damaged");
  db.exec(form.settings);
  if (applied < form.migrations.length) migrate(db, form);
}

/** SQLite creates the -wal and -shm files with the mode of the main file. */
async function makePrivate(path: string): Promise<void> {
  const folder = dirname(path);
  if ((await mkdir(folder, { recursive: true, mode: 0o700 })) !== undefined) await chmod(folder, 0o700);
  // By name: closing a descriptor of the file would drop all POSIX locks of this process on it.
  for (const name of [path, `${path}-wal`, `${path}-shm`]) {
    await chmod(name, 0o600).catch((error: unknown) => {
      if (errorCode(error) !== "ENOENT") throw error;
    });
  }
  // Last, right before SQLite fills it: an empty file that was written to later has lost its content.
  try {
    const file = await open(path, "wx", 0o600);
    await file.close();
  } catch (error) {
    if (errorCode(error) !== "EEXIST") throw error;
  }
}

/** SQLite notices a truncated file only when it reads a missing page, and reports an I/O error then. */
export async function isCutOff(db: Database, path: string): Promise<boolean> {
  const bytes = db.number("PRAGMA page_count") * db.number("PRAGMA page_size");
  // The sizes after the count: another process may let the file grow in the meantime.
  if (path === MEMORY || (await sizeOf(`${path}-wal`)) > 0) return false; // missing pages may be in the write-ahead log
  return bytes > (await sizeOf(path));
}

/** Throws if the file has another format, or a version that this program does not support. */
export function appliedMigrations(db: Database, form: DatabaseForm): number {
  const id = db.number("PRAGMA application_id");
  const version = db.number("PRAGMA user_version");
  const isEmpty = db.number("SELECT count(*) FROM sqlite_schema") === 0;
  if (isEmpty && version === 0 && id === 0) return 0;
  if (id !== form.applicationId) throw new UnusableDatabase("foreign");
  requireKnownVersion(version, form);
  if (version < form.oldestVersion) throw new UnusableDatabase("older", { version });
  return version - form.oldestVersion + 1;
}

/** Another process may have migrated the open file. Writing to it with the old rules could damage it. */
export function requireCurrentVersion(db: Database, form: DatabaseForm): void {
  requireKnownVersion(db.number("PRAGMA user_version"), form);
}

function requireKnownVersion(version: number, form: DatabaseForm): void {
  if (version > versionOf(form)) throw new UnusableDatabase("newer", { version });
}

function versionOf({ oldestVersion, migrations }: DatabaseForm): number {
  return oldestVersion + migrations.length - 1;
}

function migrate(db: Database, form: DatabaseForm): void {
  db.transact(() => {
    // Read again under the lock: another process may have migrated it.
    const missing = form.migrations.slice(appliedMigrations(db, form));
    for (const { sql } of missing) if (sql !== undefined) db.exec(sql);
    for (const { repair } of missing) repair?.(db);
    db.exec(`PRAGMA user_version = ${versionOf(form)}; PRAGMA application_id = ${form.applicationId}`);
  });
}

async function sizeOf(path: string): Promise<number> {
  return (await stat(path).catch(() => undefined))?.size ?? 0;
}
