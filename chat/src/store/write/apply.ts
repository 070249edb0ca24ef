// Applies a batch of events. The caller provides the transaction.

import type { ApplyResult } from "../../model/store-port.ts";
import type { NativeChat, SourceEvent } from "../../model/source.ts";
import { mergeChats } from "./merge-chats.ts";
import { Directory } from "./directory.ts";
import type { Database } from "@plugboard/shared/sqlite/driver";
import { MessageWriter } from "./message-writer.ts";
import { timeOf, MAX_NTH, toTimeKey, clampTime } from "../read/time-key.ts";
import { keyOf } from "../read/columns.ts";
import { addUnfetched } from "../unfetched.ts";

export function applyEvents(db: Database, source: string, events: readonly SourceEvent[]): ApplyResult {
  const batch = new Batch(db, source);
  for (const event of events) batch.take(event);
  return batch.finish();
}

class Batch {
  readonly #db: Database;
  readonly #directory: Directory;
  readonly #writer: MessageWriter;
  readonly #liveKeys: number[] = [];
  #added = 0;

  constructor(db: Database, source: string) {
    this.#db = db;
    this.#directory = new Directory(db, source);
    this.#writer = new MessageWriter(db);
  }

  take(event: SourceEvent): void {
    const directory = this.#directory;
    switch (event.type) {
      case "chat":
        return this.#updateChat(event.chat);
      case "person":
        return directory.updatePerson(event.person);
      case "message":
        return this.#add(event);
      case "edit":
        return this.#writer.edit(this.#place(event.chat), event);
      case "delete":
        for (const id of event.ids) this.#writer.delete(directory.chat(event.chat), id);
        return;
      case "reaction": {
        const { id, emoji, removed, at } = event;
        const address = directory.address(event.by);
        return this.#writer.react(directory.chat(event.chat), id, { address, emoji, removed, at });
      }
      case "read":
        return this.#markRead(event);
      case "gap":
        return this.#addGap(event);
      case "unfetched":
        return addUnfetched(this.#db, directory.chat(event.chat), event);
      case "checkpoint":
        this.#db.run("UPDATE source SET checkpoint = ? WHERE key = ?", JSON.stringify(event.state), directory.source);
    }
  }

  #updateChat(chat: NativeChat): void {
    const others = this.#directory.updateChat(chat);
    if (others.length === 0) return;
    // Write pending changes before their chat is deleted.
    this.#writer.finish();
    for (const from of others) {
      this.#db.run(
        `UPDATE chat SET read_at = coalesce(max(read_at, other.at), read_at, other.at)
         FROM (SELECT read_at AS at FROM chat WHERE key = ?1) AS other WHERE chat.key = ?2`,
        from,
        this.#directory.chat(chat.id),
      );
      mergeChats(this.#db, this.#writer, { from, ...this.#place(chat.id) });
    }
  }

  finish(): ApplyResult {
    this.#writer.finish();
    return { liveKeys: this.#existingKeys(this.#liveKeys), messagesAdded: this.#added };
  }

  /** A later event of the batch may have deleted the message. */
  #existingKeys(keys: readonly number[]): readonly number[] {
    if (keys.length === 0) return keys;
    const sql = "SELECT m.key FROM json_each(?) w CROSS JOIN message m ON m.key = w.value";
    return this.#db.all(sql, JSON.stringify(keys)).map(keyOf);
  }

  #add({ message, origin }: Extract<SourceEvent, { type: "message" }>): void {
    const directory = this.#directory;
    const sender = message.sender === undefined ? null : directory.address(message.sender);
    const chatRef = this.#place(message.chat);
    const key = this.#writer.add(chatRef, sender, message, (id) => directory.address(id));
    if (key === undefined) return;
    this.#added++;
    if (origin === "live") this.#liveKeys.push(key);
  }

  /** Never moves backwards, since events may repeat and arrive late. */
  #markRead({ chat: id, id: message, at }: Extract<SourceEvent, { type: "read" }>): void {
    const chat = id === undefined ? this.#findChatOf(message, at) : this.#directory.chat(id);
    if (chat === undefined) return;
    const read =
      message === undefined
        ? undefined
        : this.#db.get(`SELECT ${timeOf("time_key")} AS at FROM message WHERE chat = ? AND id = ?`, chat, message)?.[
            "at"
          ];
    this.#db.run(
      "UPDATE chat SET read_at = max(coalesce(read_at, ?1), ?1) WHERE key = ?2",
      typeof read === "number" ? read : clampTime(at),
      chat,
    );
  }

  #findChatOf(message: string | undefined, at: number): number | undefined {
    if (message === undefined) return undefined;
    const found = this.#db.get(
      `SELECT m.chat FROM message m JOIN chat c ON c.key = m.chat
       WHERE m.time_key BETWEEN ? AND ? AND m.id = ? AND c.source = ?`,
      toTimeKey(clampTime(at), 0),
      toTimeKey(clampTime(at), MAX_NTH),
      message,
      this.#directory.source,
    )?.["chat"];
    return typeof found === "number" ? found : undefined;
  }

  #addGap({ chat, from, to, reason }: Extract<SourceEvent, { type: "gap" }>): void {
    this.#db.run(
      "INSERT INTO gap (source, chat, from_at, to_at, reason) VALUES (?, ?, ?, ?, ?) ON CONFLICT DO NOTHING",
      this.#directory.source,
      chat === undefined ? 0 : this.#directory.chat(chat),
      clampTime(from),
      clampTime(to),
      reason,
    );
  }

  #place(chat: string): { chat: number; source: number } {
    return { chat: this.#directory.chat(chat), source: this.#directory.source };
  }
}
