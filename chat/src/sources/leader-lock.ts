// Leader election between chat servers on the same home: only one of them runs the sources. A SQLite lock, released by the
// system when the process ends in any way.

import { writeFile } from "node:fs/promises";
import { connect, isBusy, type Database } from "@plugboard/shared/sqlite/driver";

export class LeaderLock {
  readonly #db: Database;
  #isHeld = false;

  private constructor(db: Database) {
    this.#db = db;
  }

  static async open(path: string): Promise<LeaderLock> {
    await makePrivate(path);
    const db = await connect(path);
    db.exec("PRAGMA busy_timeout = 0");
    return new LeaderLock(db);
  }

  /** Whether this process holds the lock. */
  acquire(): boolean {
    if (this.#isHeld) return true;
    try {
      this.#db.exec("BEGIN EXCLUSIVE");
      this.#isHeld = true;
    } catch (error) {
      if (!isBusy(error)) throw error;
    }
    return this.#isHeld;
  }

  close(): Promise<void> {
    return this.#db.close();
  }
}

/** SQLite would create it readable for others. Not opened otherwise: closing a file drops all POSIX locks of the process on it. */
async function makePrivate(path: string): Promise<void> {
  await writeFile(path, "", { flag: "wx", mode: 0o600 }).catch((error: NodeJS.ErrnoException) => {
    if (error.code !== "EEXIST") throw error;
  });
}
