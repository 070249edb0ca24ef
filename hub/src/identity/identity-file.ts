// The SQLite file `identity.db` of the data folder: who may use the hub, and what was done with that. Apart from the call log, so
// that a damaged log takes no access with it.

import { MEMORY, SQLITE, sqliteCode, type Database } from "@plugboard/shared/sqlite/driver";
import { openDatabase, UnusableDatabase, type Unusability } from "@plugboard/shared/sqlite/open";
import { HubError } from "../errors.ts";
import { IDENTITY_FORM } from "./schema.ts";

/** What other processes change is noticed within this time. */
const CHECK_MS = 500;
/** How long to wait for a lock of another process. */
const BUSY_MS = 2000;

export class IdentityFile {
  readonly #path: string;
  readonly #db: Database;

  private constructor(path: string, db: Database) {
    this.#path = path;
    this.#db = db;
  }

  /** `path`: undefined for a database without a file. */
  static async open(path: string = MEMORY): Promise<IdentityFile> {
    try {
      const db = await openDatabase(path, IDENTITY_FORM, { waitMs: BUSY_MS, busyTimeoutMs: BUSY_MS });
      return new IdentityFile(path, db);
    } catch (error) {
      throw failure(path, error);
    }
  }

  /** All methods of the ports are asynchronous, and reject. */
  run<T>(work: (db: Database) => T): Promise<T> {
    try {
      return Promise.resolve(work(this.#db));
    } catch (error) {
      return Promise.reject(failure(this.#path, error));
    }
  }

  /** Changes when another process has written. */
  get version(): number {
    return this.#db.number("PRAGMA data_version");
  }

  /** Calls `onChange` while the version is another one than that of the last reading. */
  watch(lastRead: () => number, onChange: () => void): () => void {
    const check = () => {
      if (this.version !== lastRead()) onChange();
    };
    const timer = setInterval(check, CHECK_MS).unref();
    return () => clearInterval(timer);
  }

  close(): Promise<void> {
    return this.#db.close();
  }
}

function failure(path: string, error: unknown): HubError {
  if (error instanceof HubError) return error;
  if (error instanceof UnusableDatabase) {
    return new HubError("DatabaseError", `${path} ${UNUSABLE[error.reason]}`, {
      hint: "Restore it from a backup, or move it away and make new tokens: plugboard token add",
      cause: error,
    });
  }
  const kind = sqliteCode(error) === SQLITE.full ? "DiskFull" : "DatabaseError";
  const detail = error instanceof Error ? error.message : String(error);
  return new HubError(kind, `Cannot use ${path}`, { detail, cause: error });
}

const UNUSABLE: Readonly<Record<Unusability, string>> = {
  damaged: "is damaged",
  foreign: "is a database of another program",
  newer: "was written by a newer version of Plugboard",
  older: "was written by a version of Plugboard that is too old",
};
