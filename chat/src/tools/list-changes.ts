// Detects changes of the list of tools or resources: chat.json was saved, a source has new chats, another process has imported
// a file. It polls the config and the store, which all processes share.

import type { ChatStore } from "../model/store-port.ts";
import type { Reader } from "../access/reader.ts";
import { toolsFor } from "./tools.ts";

export type ListKind = "tools" | "resources";

export interface ListChangesOptions {
  readonly reader: Reader;
  readonly store: ChatStore;
  readonly log: (line: string) => void;
}

const POLL_MS = 500;
/** Up to this number of new chats it is checked whether any is shown; more count as a change. */
const MAX_CHECKED = 200;

export class ListChanges {
  readonly #options: ListChangesOptions;
  readonly #listeners = new Set<(kind: ListKind) => void>();
  #timer: NodeJS.Timeout | undefined;
  #known: Readonly<Record<ListKind, string>> = { tools: "", resources: "" };
  #newestChat = 0;

  constructor(options: ListChangesOptions) {
    this.#options = options;
  }

  start(): void {
    this.#known = this.#snapshot();
    this.#newestChat = this.#options.store.newestChat();
    this.#timer = setInterval(() => {
      try {
        this.#compare();
      } catch (error) {
        this.#options.log(`warning: ${error instanceof Error ? error.message : String(error)}`);
      }
    }, POLL_MS);
    this.#timer.unref();
  }

  close(): void {
    clearInterval(this.#timer);
    this.#listeners.clear();
  }

  /** Returns the function that removes the listener. */
  listen(listener: (kind: ListKind) => void): () => void {
    this.#listeners.add(listener);
    return () => void this.#listeners.delete(listener);
  }

  #compare(): void {
    const before = this.#known;
    this.#known = this.#snapshot();
    const hasNewChat = this.#hasNewChat();
    if (this.#known.tools !== before.tools) this.#notify("tools");
    if (hasNewChat || this.#known.resources !== before.resources) this.#notify("resources");
  }

  #snapshot(): Readonly<Record<ListKind, string>> {
    const { reader } = this.#options;
    const { all } = reader.sources;
    return {
      tools: JSON.stringify(toolsFor(reader.sources).map(({ name, description }) => [name, description])),
      resources: JSON.stringify([all.map(({ source: { id, name } }) => [id, name]), reader.policy.shownRules]),
    };
  }

  #hasNewChat(): boolean {
    const { reader, store } = this.#options;
    const [before, newest] = [this.#newestChat, store.newestChat()];
    this.#newestChat = newest;
    if (newest - before > MAX_CHECKED) return true;
    for (let key = before + 1; key <= newest; key++) {
      const chat = store.chatByKey(key);
      if (chat !== undefined && reader.shows(chat)) return true;
    }
    return false;
  }

  #notify(kind: ListKind): void {
    for (const listener of this.#listeners) listener(kind);
  }
}
