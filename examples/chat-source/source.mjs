// A chat source: writes what happens on a network as lines of JSON, which plugboard-chat reads from the file as they come.

import { appendFile } from "node:fs/promises";

export class HarbourRadio {
  #file;

  constructor(file) {
    this.#file = file;
  }

  /** Chats and people are written once, before the first message of theirs. Writing them again renames them. */
  async open() {
    await this.#write({ type: "chat", chat: { id: "channel-16", name: "Channel 16", type: "group" } });
    await this.#write({ type: "person", person: { id: "ann", name: "Ann" } });
  }

  /** The id makes a message known: one that is written twice is stored once. */
  async received({ id, from, text, at }) {
    const message = { id, chat: "channel-16", sender: from, at: at.getTime(), kind: "text", content: text };
    await this.#write({ type: "message", origin: "live", message });
  }

  #write(event) {
    return appendFile(this.#file, `${JSON.stringify(event)}\n`);
  }
}
