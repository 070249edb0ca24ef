// Opens the store's file: private, in WAL mode, with its tables. One that is not ours, or of a newer version, is left alone.

import { chmod, mkdir, open } from "node:fs/promises";
import { dirname } from "node:path";
import { setTimeout as sleep } from "node:timers/promises";
import { ChatError } from "../errors.ts";
import { connect, isBusy, MEMORY, type Database } from "./driver.ts";
import { APPLICATION_ID, MIGRATIONS } from "./schema.ts";

/** Another process commits a batch in a fraction of this; the event loop stands still meanwhile. */
const BUSY_MS = 10_000;
const PAUSE_MS = 20;

export interface StoreOptions {
  /** How long to wait for another process that writes. */
  readonly busyMs?: number;
}

export async function openDatabase(path: string, { busyMs = BUSY_MS }: StoreOptions = {}): Promise<Database> {
  const deadline = performance.now() + busyMs;
  if (path !== MEMORY) await makePrivate(path);
  for (;;) {
    const db = await connect(path);
    try {
      prepare(db, path, busyMs);
      return db;
    } catch (error) {
      await db.close();
      // SQLite does not wait for others by itself when it makes a file one with a write-ahead log.
      if (!isBusy(error) || performance.now() > deadline) throw asChatError(error, path);
    }
    await sleep(PAUSE_MS);
  }
}

/** Somebody else writes for longer than anybody should wait. */
export function busy(cause: unknown): ChatError {
  const hint = "another plugboard-chat process is writing; try again";
  return new ChatError("BUSY", "The message store is in use by another process", { hint, retry_after_s: 1 }, cause);
}

/** SQLite gives its side files the rights of the main one, so that one must have them before. */
async function makePrivate(path: string): Promise<void> {
  const folder = dirname(path);
  if ((await mkdir(folder, { recursive: true, mode: 0o700 })) !== undefined) await chmod(folder, 0o700);
  try {
    const file = await open(path, "wx", 0o600);
    await file.close();
  } catch (error) {
    if (!hasCode(error, "EEXIST")) throw error;
  }
  // By name: opening and closing a database's file drops the locks that this process may hold on it.
  for (const name of [path, `${path}-wal`, `${path}-shm`]) {
    await chmod(name, 0o600).catch((error: unknown) => {
      if (!hasCode(error, "ENOENT")) throw error;
    });
  }
}

function hasCode(error: unknown, code: string): boolean {
  return error instanceof Error && "code" in error && error.code === code;
}

function prepare(db: Database, path: string, busyMs: number): void {
  db.exec(`PRAGMA busy_timeout = ${Math.trunc(busyMs)}; PRAGMA trusted_schema = OFF`);
  requireOurs(db, path);
  // FULL: what is committed is acknowledged to the network, which forgets it then; a power cut must not lose it either.
  db.exec("PRAGMA journal_mode = WAL; PRAGMA synchronous = FULL; PRAGMA journal_size_limit = 67108864");
  // An import touches pages all over the file: written back every 32 MB instead of 4, many of them are written once only.
  db.exec("PRAGMA wal_autocheckpoint = 8000; PRAGMA cache_size = -65536");
  db.exec("PRAGMA temp_store = MEMORY; PRAGMA secure_delete = FAST");
  if (readNumber(db, "PRAGMA user_version") < MIGRATIONS.length) migrate(db);
}

function requireOurs(db: Database, path: string): void {
  const version = readNumber(db, "PRAGMA user_version");
  const isEmpty = version === 0 && readNumber(db, "SELECT count(*) FROM sqlite_schema") === 0;
  if (!isEmpty && readNumber(db, "PRAGMA application_id") !== APPLICATION_ID) throw notOurs(path);
  if (version <= MIGRATIONS.length) return;
  const message = `${path} was written by a newer plugboard-chat (schema ${version}, this one knows ${MIGRATIONS.length})`;
  throw new ChatError("STORE_UNUSABLE", message, { hint: "update plugboard-chat, or give it another database" });
}

function notOurs(path: string, cause?: unknown): ChatError {
  const hint = "give the path of another file";
  return new ChatError("STORE_UNUSABLE", `${path} is no message store of plugboard-chat`, { hint }, cause);
}

function migrate(db: Database): void {
  db.transact(() => {
    // Read again, under the lock: another process may have been faster.
    const version = readNumber(db, "PRAGMA user_version");
    for (const migration of MIGRATIONS.slice(version)) db.exec(migration);
    db.exec(`PRAGMA user_version = ${MIGRATIONS.length}; PRAGMA application_id = ${APPLICATION_ID}`);
  });
}

function readNumber(db: Database, sql: string): number {
  return Number(Object.values(db.get(sql) ?? {})[0] ?? 0);
}

function asChatError(error: unknown, path: string): unknown {
  if (error instanceof ChatError) return error;
  return isBusy(error) ? busy(error) : notOurs(path, error);
}
