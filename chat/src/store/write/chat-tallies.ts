// Collects changes of the counts that are stored with a chat: messages, first and last time, messages per sender.

import type { Database } from "@plugboard/shared/sqlite/driver";
import { timeOf } from "../read/time-key.ts";

interface Tally {
  messages: number;
  oldestAt: number;
  newestAt: number;
  /** A message was deleted: the first and last time have to be looked up. */
  hasDeletions: boolean;
  readonly senders: Map<number, number>;
}

export class ChatTallies {
  readonly #db: Database;
  readonly #tallies = new Map<number, Tally>();

  constructor(db: Database) {
    this.#db = db;
  }

  add(chat: number, sender: number | null, at: number): void {
    const tally = this.#of(chat);
    tally.messages++;
    tally.oldestAt = Math.min(tally.oldestAt, at);
    tally.newestAt = Math.max(tally.newestAt, at);
    if (sender !== null) tally.senders.set(sender, (tally.senders.get(sender) ?? 0) + 1);
  }

  remove(chat: number, sender: number | null): void {
    const tally = this.#of(chat);
    tally.messages--;
    tally.hasDeletions = true;
    if (sender !== null) tally.senders.set(sender, (tally.senders.get(sender) ?? 0) - 1);
  }

  write(): void {
    for (const [chat, tally] of this.#tallies) {
      if (tally.hasDeletions) this.#recomputeRange(chat, tally.messages);
      else this.#widenRange(chat, tally);
      for (const [address, messages] of tally.senders) {
        this.#db.run(
          `INSERT INTO chat_sender (chat, address, messages) VALUES (?, ?, ?)
           ON CONFLICT DO UPDATE SET messages = messages + excluded.messages`,
          chat,
          address,
          messages,
        );
      }
      if (tally.hasDeletions) this.#db.run("DELETE FROM chat_sender WHERE chat = ? AND messages <= 0", chat);
    }
    this.#tallies.clear();
  }

  #widenRange(chat: number, { messages, oldestAt, newestAt }: Tally): void {
    this.#db.run(
      `UPDATE chat SET message_count = message_count + ?1, oldest_at = min(coalesce(oldest_at, ?2), ?2),
         newest_at = max(coalesce(newest_at, ?3), ?3) WHERE key = ?4`,
      messages,
      oldestAt,
      newestAt,
      chat,
    );
  }

  #recomputeRange(chat: number, messages: number): void {
    this.#db.run(
      `UPDATE chat SET message_count = message_count + ?1,
         oldest_at = (SELECT ${timeOf("min(time_key)")} FROM message WHERE chat = ?2),
         newest_at = (SELECT ${timeOf("max(time_key)")} FROM message WHERE chat = ?2) WHERE key = ?2`,
      messages,
      chat,
    );
  }

  #of(chat: number): Tally {
    const known = this.#tallies.get(chat);
    if (known !== undefined) return known;
    const tally: Tally = {
      messages: 0,
      oldestAt: Infinity,
      newestAt: -Infinity,
      hasDeletions: false,
      senders: new Map(),
    };
    this.#tallies.set(chat, tally);
    return tally;
  }
}
