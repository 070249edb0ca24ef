// Read markers: collects the read state of incoming messages, and yields one event per chat.

import type { NativeMessage, SourceEvent } from "../../model/source.ts";
import { type Fields, fieldsOf } from "../fields.ts";

export class ReadMarks {
  /** By chat: time of the last read message and of the first message. */
  readonly #marks = new Map<string, { readAt?: number; firstAt: number }>();
  #hasReadFlags = false;

  add(item: Fields, { chat, at }: NativeMessage): void {
    const incoming = fieldsOf(item["incoming"]);
    if (incoming === undefined) return;
    const mark = this.#marks.get(chat) ?? { firstAt: at };
    mark.firstAt = Math.min(mark.firstAt, at);
    if (incoming["read"] === true) {
      mark.readAt = Math.max(mark.readAt ?? at, at);
      this.#hasReadFlags = true;
    }
    this.#marks.set(chat, mark);
  }

  /** Empty if no message is marked as read: false is omitted in proto3 JSON, so the export may lack the flag entirely. */
  toEvents(): SourceEvent[] {
    if (!this.#hasReadFlags) return [];
    return [...this.#marks].map(([chat, { readAt, firstAt }]) => ({ type: "read", chat, at: readAt ?? firstAt - 1 }));
  }
}
