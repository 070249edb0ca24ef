// Sink of a source for tests: records all events, and applies them to a store if given. Batches are atomic and idempotent.

import type { ChatStore, StoredMessage } from "../../../chat/src/model/store-port.ts";
import type { NativeChat, NativeMessage, NativePerson, SourceEvent } from "../../../chat/src/model/source.ts";

export const SOURCE = "recorded";

export class Recorder {
  readonly events: SourceEvent[] = [];
  readonly messages = new Map<string, NativeMessage>();
  /** First message with each content. */
  readonly #byContent = new Map<string, NativeMessage>();
  readonly chats = new Map<string, NativeChat>();
  readonly people = new Map<string, NativePerson>();
  readonly batchSizes: number[] = [];
  checkpoint: Readonly<Record<string, string>> = {};
  readonly #store: ChatStore | undefined;
  #rejected: string | undefined;
  readonly #waiting = new Set<() => void>();

  constructor(store?: ChatStore) {
    this.#store = store;
  }

  /** Rejects the next batch that contains this message. */
  rejectNext(content: string): void {
    this.#rejected = content;
  }

  async take(batch: readonly SourceEvent[]): Promise<void> {
    const isRejected = batch.some((event) => event.type === "message" && event.message.content === this.#rejected);
    if (isRejected) {
      this.#rejected = undefined;
      throw Object.assign(new Error("disk full"), { code: "SQLITE_FULL" });
    }
    this.#store?.apply(SOURCE, batch);
    this.batchSizes.push(batch.length);
    for (const event of batch) this.#apply(event);
    this.changed();
  }

  /** Applies all events again, in the same order. */
  replay(): void {
    this.#store?.apply(SOURCE, this.events);
  }

  message(content: string): NativeMessage | undefined {
    return this.#byContent.get(content);
  }

  /** Messages of people in the store. */
  stored(): readonly StoredMessage[] {
    if (this.#store === undefined) throw new Error("This recorder has no store");
    return this.#store.messages({ order: "asc", limit: 500, includeSystem: false }).items;
  }

  /** Everything visible to agents. */
  snapshot(): unknown {
    const chats = this.#store?.chats({ limit: 100 }).items;
    return { messages: this.stored(), chats, totals: this.#store?.totals(SOURCE) };
  }

  changed(): void {
    for (const look of this.#waiting) look();
  }

  /** Resolves with the first defined result, checked on every change. */
  until<T>(find: () => T | undefined): Promise<T> {
    return new Promise((resolve) => {
      const look = (): void => {
        const found = find();
        if (found === undefined) return;
        this.#waiting.delete(look);
        resolve(found);
      };
      this.#waiting.add(look);
      look();
    });
  }

  #apply(event: SourceEvent): void {
    this.events.push(event);
    if (event.type === "chat") this.chats.set(event.chat.id, { ...this.chats.get(event.chat.id), ...event.chat });
    if (event.type === "person")
      this.people.set(event.person.id, { ...this.people.get(event.person.id), ...event.person });
    if (event.type === "checkpoint") this.checkpoint = event.state;
    if (event.type !== "message") return;
    const key = `${event.message.chat} ${event.message.id}`;
    if (this.messages.has(key)) return;
    this.messages.set(key, event.message);
    if (!this.#byContent.has(event.message.content)) this.#byContent.set(event.message.content, event.message);
  }
}
