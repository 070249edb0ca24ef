// Corrections, reactions and answers name a message as its sender did, or as a room's archive does; events name it as the
// archive does. The last few thousand are known here; what is older is looked for in the archive.

const MAX_KNOWN = 5000;

export class References {
  readonly #known = new Map<string, string>();
  readonly #senders = new Map<string, string>();
  readonly #names = new Map<string, string>();

  add(chat: string, message: { id: string; senderId: string | undefined; sender: string }): void {
    this.#set(key(chat, message.id), message.id);
    keep(this.#senders, key(chat, message.id), message.sender);
    if (message.senderId === undefined) return;
    keep(this.#names, key(chat, message.id), message.senderId);
    this.#set(key(chat, message.senderId, message.sender), message.id);
    // The first one has the name: whoever takes it again does not take its answers.
    if (!this.#known.has(key(chat, message.senderId))) this.#set(key(chat, message.senderId), message.id);
  }

  /** Of anybody's message. */
  find(chat: string, id: string): string | undefined {
    return this.#known.get(key(chat, id));
  }

  /** Of this sender's own message: nobody corrects another's. */
  findOwn(chat: string, id: string, sender: string): string | undefined {
    return this.#known.get(key(chat, id, sender));
  }

  /** What its sender called it, by the archive's id. */
  nameOf(chat: string, id: string): string | undefined {
    return this.#names.get(key(chat, id));
  }

  /** By the archive's id. */
  senderOf(chat: string, id: string): string | undefined {
    return this.#senders.get(key(chat, id));
  }

  #set(name: string, id: string): void {
    keep(this.#known, name, id);
  }
}

function keep(map: Map<string, string>, name: string, value: string): void {
  map.set(name, value);
  const [oldest] = map.keys();
  if (map.size > MAX_KNOWN && oldest !== undefined) map.delete(oldest);
}

const key = (...parts: readonly string[]): string => parts.join("\0");
