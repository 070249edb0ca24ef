// Maps the ids that senders gave their messages to archive ids, which events use. Corrections, reactions and replies may name

import { evictOldest } from "@plugboard/shared/evict";
// either. Holds the last few thousand; older ones are looked up in the archive.

const MAX_KNOWN = 5000;

export class References {
  readonly #known = new Map<string, string>();
  readonly #senders = new Map<string, string>();
  readonly #names = new Map<string, string>();

  add(chat: string, message: { id: string; senderId: string | undefined; sender: string }): void {
    this.#set(key(chat, message.id), message.id);
    setBounded(this.#senders, key(chat, message.id), message.sender);
    if (message.senderId === undefined) return;
    setBounded(this.#names, key(chat, message.id), message.senderId);
    this.#set(key(chat, message.senderId, message.sender), message.id);
    // The first message keeps an id: reusing it must not redirect replies.
    if (!this.#known.has(key(chat, message.senderId))) this.#set(key(chat, message.senderId), message.id);
  }

  /** Archive id of any sender's message. */
  find(chat: string, id: string): string | undefined {
    return this.#known.get(key(chat, id));
  }

  /** Archive id of this sender's own message: only the sender may correct it. */
  findOwn(chat: string, id: string, sender: string): string | undefined {
    return this.#known.get(key(chat, id, sender));
  }

  /** The sender's id of a message, by archive id. */
  nameOf(chat: string, id: string): string | undefined {
    return this.#names.get(key(chat, id));
  }

  /** By archive id. */
  senderOf(chat: string, id: string): string | undefined {
    return this.#senders.get(key(chat, id));
  }

  #set(name: string, id: string): void {
    setBounded(this.#known, name, id);
  }
}

function setBounded(map: Map<string, string>, name: string, value: string): void {
  map.set(name, value);
  evictOldest(map, MAX_KNOWN);
}

const key = (...parts: readonly string[]): string => parts.join("\0");
