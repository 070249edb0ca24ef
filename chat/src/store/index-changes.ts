// What a commit changes in the search index, gathered and then written in the order of slots: the index starts a new
// segment wherever a row does not come after the one before.

import type { Database } from "./driver.ts";
import { toSearchText } from "./search-text.ts";

export interface IndexedText {
  readonly content: string;
  readonly isNotice: boolean;
  readonly scope: string;
}

interface Change {
  readonly slot: bigint;
  /** Whether the index has a row of it already. */
  readonly isIndexed: boolean;
  readonly text: IndexedText | undefined;
}

/** What is gathered at most, so that a huge commit does not fill the memory. */
const MAX_GATHERED = 20_000;

export class IndexChanges {
  readonly #db: Database;
  readonly #changes = new Map<number, Change>();

  constructor(db: Database) {
    this.#db = db;
  }

  add(key: number, slot: bigint, text: IndexedText): void {
    this.#set(key, { slot, isIndexed: false, text });
  }

  replace(key: number, slot: bigint, text: IndexedText): void {
    this.#set(key, { slot, isIndexed: this.#changes.get(key)?.isIndexed ?? true, text });
  }

  remove(key: number, slot: bigint): void {
    this.#set(key, { slot, isIndexed: this.#changes.get(key)?.isIndexed ?? true, text: undefined });
  }

  write(): void {
    const changes = [...this.#changes.values()].toSorted((a, b) => (a.slot < b.slot ? -1 : 1));
    this.#changes.clear();
    for (const { slot, isIndexed } of changes) {
      if (isIndexed) this.#db.run("DELETE FROM message_index WHERE rowid = ?", slot);
    }
    const insert = this.#db.prepare("INSERT INTO message_index (rowid, content, notice, scope) VALUES (?, ?, ?, ?)");
    for (const { slot, text } of changes) {
      if (text === undefined) continue;
      const words = toSearchText(text.content);
      insert.run(slot, text.isNotice ? null : words, text.isNotice ? words : null, text.scope);
    }
  }

  #set(key: number, change: Change): void {
    this.#changes.set(key, change);
    if (this.#changes.size >= MAX_GATHERED) this.write();
  }
}
