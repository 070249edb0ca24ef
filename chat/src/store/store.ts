// The store of everything that the sources told: one SQLite file, which several processes may have open.

import { z } from "zod";
import type {
  Applied,
  ChatQuery,
  ChatStore,
  MessageFilter,
  MessageQuery,
  Page,
  SourceTotals,
  StoredChat,
  StoredGap,
  StoredMessage,
  StoredPerson,
  StoredSender,
} from "../query.ts";
import type { SourceEvent } from "../source.ts";
import { applyEvents } from "./apply.ts";
import { findChats, listChats, sourceGaps, sourceTotals } from "./chats.ts";
import { busy, openDatabase, type StoreOptions } from "./database.ts";
import { isBusy, type Database } from "./driver.ts";
import { expireMessages } from "./expiry.ts";
import { toCriteria } from "./message-filter.ts";
import { findAfter, findAround } from "./message-finder.ts";
import { pageMessages } from "./message-pages.ts";
import { readMessages } from "./message-reader.ts";
import { findParticipants, findPeople } from "./people.ts";
import { findThread } from "./thread.ts";

const CHECKPOINT = z.record(z.string(), z.string());

/** @example const store = await openStore("/data/chat.db"); or `:memory:` */
export async function openStore(path: string, options: StoreOptions = {}): Promise<ChatStore> {
  return new SqliteChatStore(await openDatabase(path, options));
}

class SqliteChatStore implements ChatStore {
  readonly #db: Database;

  constructor(db: Database) {
    this.#db = db;
  }

  apply(source: string, events: readonly SourceEvent[]): Applied {
    if (events.length === 0) return { news: [], messagesAdded: 0 };
    return this.#commit(() => applyEvents(this.#db, source, events));
  }

  checkpoint(source: string): Readonly<Record<string, string>> {
    const json = this.#db.get("SELECT checkpoint FROM source WHERE id = ?", source)?.["checkpoint"];
    return typeof json === "string" ? CHECKPOINT.parse(JSON.parse(json)) : {};
  }

  totals(source: string): SourceTotals {
    return sourceTotals(this.#db, source);
  }

  gaps(source: string, limit: number): readonly StoredGap[] {
    return sourceGaps(this.#db, source, limit);
  }

  chats(query: ChatQuery): Page<StoredChat> {
    return listChats(this.#db, query);
  }

  findChats(source: string, idOrName: string): readonly StoredChat[] {
    return findChats(this.#db, source, idOrName);
  }

  participants(chat: number, limit: number): readonly StoredSender[] {
    return findParticipants(this.#db, chat, limit);
  }

  messages(query: MessageQuery): Page<StoredMessage> {
    return pageMessages(this.#db, query);
  }

  message(chat: number, id: string): StoredMessage | undefined {
    const key = this.#db.get("SELECT key FROM message WHERE chat = ? AND id = ?", chat, id)?.["key"];
    return key === undefined ? undefined : readMessages(this.#db, [Number(key)])[0];
  }

  around(message: StoredMessage, before: number, after: number): readonly StoredMessage[] {
    return readMessages(this.#db, findAround(this.#db, message.key, before, after));
  }

  thread(message: StoredMessage, limit: number): readonly StoredMessage[] {
    return readMessages(this.#db, findThread(this.#db, message.key, limit));
  }

  after(key: number, filter: MessageFilter, limit: number): readonly StoredMessage[] {
    const criteria = toCriteria(this.#db, filter);
    if (criteria === undefined) return [];
    return readMessages(this.#db, findAfter(this.#db, key, criteria, limit));
  }

  newestKey(): number {
    return Number(this.#db.get("SELECT max(key) AS key FROM message")?.["key"] ?? 0);
  }

  people(text: string, limit: number): readonly StoredPerson[] {
    return findPeople(this.#db, text, limit);
  }

  expire(now: number): number {
    return expireMessages(this.#db, now, (work) => this.#commit(work));
  }

  async close(): Promise<void> {
    await this.#db.close();
  }

  #commit<T>(work: () => T): T {
    try {
      return this.#db.transact(work);
    } catch (error) {
      throw isBusy(error) ? busy(error) : error;
    }
  }
}
