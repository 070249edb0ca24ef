// Collects changes of the search index and writes them in time order: FTS5 begins a new segment whenever a rowid is not above
// the previous one.

import type { Database } from "@plugboard/shared/sqlite/driver";
import { toSearchText } from "../read/search-text.ts";

export interface IndexedText {
  readonly content: string;
  readonly isNotice: boolean;
  readonly scope: string;
}

interface Change {
  readonly timeKey: bigint;
  /** Whether the index already has a row for it. */
  readonly isIndexed: boolean;
  readonly text: IndexedText | undefined;
}

/** Bounds the memory of a large transaction. */
const MAX_PENDING = 20_000;

export class IndexChanges {
  readonly #db: Database;
  readonly #changes = new Map<number, Change>();

  constructor(db: Database) {
    this.#db = db;
  }

  add(key: number, timeKey: bigint, text: IndexedText): void {
    this.#set(key, { timeKey, isIndexed: false, text });
  }

  replace(key: number, timeKey: bigint, text: IndexedText): void {
    this.#set(key, { timeKey, isIndexed: this.#changes.get(key)?.isIndexed ?? true, text });
  }

  remove(key: number, timeKey: bigint): void {
    this.#set(key, { timeKey, isIndexed: this.#changes.get(key)?.isIndexed ?? true, text: undefined });
  }

  write(): void {
    const changes = [...this.#changes.values()].toSorted((a, b) => (a.timeKey < b.timeKey ? -1 : 1));
    this.#changes.clear();
    for (const { timeKey, isIndexed } of changes) {
      if (isIndexed) this.#db.run("DELETE FROM message_index WHERE rowid = ?", timeKey);
    }
    const insert = this.#db.prepare("INSERT INTO message_index (rowid, content, notice, scope) VALUES (?, ?, ?, ?)");
    for (const { timeKey, text } of changes) {
      if (text === undefined) continue;
      const words = toSearchText(text.content);
      insert.run(timeKey, text.isNotice ? null : words, text.isNotice ? words : null, text.scope);
    }
  }

  #set(key: number, change: Change): void {
    this.#changes.set(key, change);
    if (this.#changes.size >= MAX_PENDING) this.write();
  }
}
