// One opened file of the call log: what reads, writes, prunes and syncs it, opened and closed together.

import { closeSync, fdatasyncSync, openSync, statSync } from "node:fs";
import type { CallStatsQuery, ServerStats } from "../calls/call-stats.ts";
import type { CallPage, CallQuery } from "../calls/log.ts";
import type { StoredParts } from "../calls/stored-call.ts";
import { CallCounter } from "./call-counter.ts";
import { CallPruner } from "./call-pruner.ts";
import type { Retention } from "./retention.ts";
import { CallReader } from "./call-reader.ts";
import { CALL_LOG_FORM } from "./call-schema.ts";
import { CallWriter, type JournalMark } from "./call-writer.ts";
import type { Database } from "./driver.ts";
import { openDatabase } from "./sqlite.ts";

export interface CallFileOptions {
  readonly retention: Retention;
  readonly onWarning: (message: string) => void;
}

export class CallFile {
  readonly #db: Database;
  readonly #path: string;
  readonly #inode: number | undefined;
  readonly #writer: CallWriter;
  readonly #reader: CallReader;
  readonly #counter: CallCounter;
  readonly #pruner: CallPruner;
  #isOpen = true;

  private constructor(db: Database, path: string, retention: Retention) {
    this.#db = db;
    this.#path = path;
    this.#inode = inodeOf(path);
    this.#writer = new CallWriter(db);
    this.#reader = new CallReader(db);
    this.#counter = new CallCounter(db);
    this.#pruner = new CallPruner(db, retention, () => this.#writer.forgetRoutes());
  }

  static async open(path: string, { retention, onWarning }: CallFileOptions): Promise<CallFile> {
    const { db, warning } = await openDatabase(path, CALL_LOG_FORM);
    if (warning !== undefined) onWarning(warning);
    return new CallFile(db, path, retention);
  }

  /** False where somebody has removed it: SQLite would go on writing into what nobody can ever open again. */
  isThere(): boolean {
    return inodeOf(this.#path) === this.#inode;
  }

  doneOf(journal: string): number {
    return this.#writer.doneOf(journal);
  }

  write(calls: readonly StoredParts[], mark: JournalMark): number {
    return this.#writer.write(calls, mark);
  }

  forget(journal: string): void {
    this.#writer.forget(journal);
  }

  /** SQLite in its NORMAL mode does so only when it folds its log into the database, which can be days later. */
  sync(): void {
    // It keeps no lock on this file, so closing it again drops none.
    const fd = openSync(`${this.#path}-wal`, "r+");
    try {
      fdatasyncSync(fd);
    } finally {
      closeSync(fd);
    }
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
    try {
      await this.#db.close();
    } catch {
      // nothing can be done about a file that does not even close
    }
  }
}

function inodeOf(path: string): number | undefined {
  return statSync(path, { throwIfNoEntry: false })?.ino;
}
