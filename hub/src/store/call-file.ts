// One opened file of the call log: what reads, writes, prunes and syncs it, opened and closed together.

import type { CallStatsQuery, ServerStats } from "../calls/call-stats.ts";
import type { CallPage, CallQuery } from "../calls/log.ts";
import type { StoredCall } from "../calls/stored-call.ts";
import { CallCounter } from "./call-counter.ts";
import { CallPruner, type Retention } from "./call-pruner.ts";
import { CallReader } from "./call-reader.ts";
import { CALL_LOG_FORM } from "./call-schema.ts";
import { CallWriter } from "./call-writer.ts";
import type { Database } from "./driver.ts";
import { openDatabase } from "./sqlite.ts";
import { WalSync } from "./wal-sync.ts";

export interface CallFileOptions {
  readonly retention: Retention;
  readonly onWarning: (message: string) => void;
  /** Somebody has removed the file. */
  readonly onMissing: () => void;
}

export class CallFile {
  readonly #db: Database;
  readonly #writer: CallWriter;
  readonly #reader: CallReader;
  readonly #counter: CallCounter;
  readonly #pruner: CallPruner;
  readonly #sync: WalSync;
  #isOpen = true;

  private constructor(db: Database, retention: Retention, sync: WalSync) {
    this.#db = db;
    this.#writer = new CallWriter(db);
    this.#reader = new CallReader(db);
    this.#counter = new CallCounter(db);
    this.#pruner = new CallPruner(db, retention);
    this.#sync = sync;
  }

  static async open(path: string, { retention, onWarning, onMissing }: CallFileOptions): Promise<CallFile> {
    const { db, warning } = await openDatabase(path, CALL_LOG_FORM);
    if (warning !== undefined) onWarning(warning);
    return new CallFile(db, retention, new WalSync(path, onMissing));
  }

  write(calls: readonly StoredCall[]): void {
    this.#writer.write(calls);
    this.#sync.touch();
  }

  query(query: CallQuery): Promise<CallPage> {
    return this.#reader.query(query);
  }

  stats(query: CallStatsQuery): Promise<ServerStats[]> {
    return this.#counter.count(query);
  }

  prune(now: number): Promise<number> {
    return this.#pruner.prune(now, () => !this.#isOpen);
  }

  async close(): Promise<void> {
    this.#isOpen = false;
    this.#sync.close();
    try {
      await this.#db.close();
    } catch {
      // nothing can be done about a file that does not even close
    }
  }
}
