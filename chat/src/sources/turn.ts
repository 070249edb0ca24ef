// Whose turn it is to run the sources: several agents may each start a chat server on the same home, and a network is asked by
// one of them only. The lock is one of SQLite's, so that it ends with its process, however that ends.

import { connect, isBusy, type Database } from "../store/driver.ts";

export class Turn {
  readonly #db: Database;
  #taken = false;

  private constructor(db: Database) {
    this.#db = db;
  }

  static async open(path: string): Promise<Turn> {
    const db = await connect(path);
    db.exec("PRAGMA busy_timeout = 0");
    return new Turn(db);
  }

  /** True where it is ours, now or already. */
  take(): boolean {
    if (this.#taken) return true;
    try {
      this.#db.exec("BEGIN EXCLUSIVE");
      this.#taken = true;
    } catch (error) {
      if (!isBusy(error)) throw error;
    }
    return this.#taken;
  }

  close(): Promise<void> {
    return this.#db.close();
  }
}
