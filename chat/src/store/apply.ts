// One batch of events into the store; the caller makes a commit of it.

import type { Applied } from "../query.ts";
import type { SourceEvent } from "../source.ts";
import { Directory } from "./directory.ts";
import type { Database } from "./driver.ts";
import { readMessages } from "./message-reader.ts";
import { MessageWriter } from "./message-writer.ts";
import { toTime } from "./slot.ts";

export function applyEvents(db: Database, source: string, events: readonly SourceEvent[]): Applied {
  const batch = new Batch(db, source);
  for (const event of events) batch.take(event);
  return batch.finish();
}

class Batch {
  readonly #db: Database;
  readonly #directory: Directory;
  readonly #writer: MessageWriter;
  readonly #live: number[] = [];
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
        return directory.updateChat(event.chat);
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
      case "gap":
        return this.#addGap(event);
      case "checkpoint":
        this.#db.run("UPDATE source SET checkpoint = ? WHERE key = ?", JSON.stringify(event.state), directory.source);
    }
  }

  finish(): Applied {
    this.#writer.finish();
    return { news: readMessages(this.#db, this.#live), messagesAdded: this.#added };
  }

  #add({ message, origin }: Extract<SourceEvent, { type: "message" }>): void {
    const directory = this.#directory;
    const sender = message.sender === undefined ? null : directory.address(message.sender);
    const place = this.#place(message.chat);
    const key = this.#writer.add(place, sender, message, (id) => directory.address(id));
    if (key === undefined) return;
    this.#added++;
    if (origin === "live") this.#live.push(key);
  }

  #addGap({ chat, from, to, reason }: Extract<SourceEvent, { type: "gap" }>): void {
    this.#db.run(
      "INSERT INTO gap (source, chat, from_at, to_at, reason) VALUES (?, ?, ?, ?, ?) ON CONFLICT DO NOTHING",
      this.#directory.source,
      chat === undefined ? 0 : this.#directory.chat(chat),
      toTime(from),
      toTime(to),
      reason,
    );
  }

  #place(chat: string): { chat: number; source: number } {
    return { chat: this.#directory.chat(chat), source: this.#directory.source };
  }
}
