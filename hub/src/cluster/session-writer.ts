// Writes the sessions of this hub to the store: those of one moment together, and again later if the store is away.

import { setImmediate as nextTurn } from "node:timers/promises";
import type { Owner, SessionStore, StoredSession } from "./session-store.ts";

/** While the store is away. */
const MAX_PENDING = 10_000;

export class SessionWriter {
  readonly #store: SessionStore;
  readonly #owner: Owner;
  /** Undefined: the session has ended. */
  #pending = new Map<string, StoredSession | undefined>();
  #writing: Promise<void> | undefined;

  constructor(store: SessionStore, owner: Owner) {
    this.#store = store;
    this.#owner = owner;
  }

  put(session: StoredSession): void {
    this.#set(session.id, session);
  }

  remove(id: string): void {
    this.#set(id, undefined);
  }

  isPending(id: string): boolean {
    return this.#pending.has(id);
  }

  /** Resolves when all that was given before is written, or cannot be written now. */
  async flush(): Promise<void> {
    this.#writing ??= this.#write().finally(() => (this.#writing = undefined));
    await this.#writing;
  }

  #set(id: string, session: StoredSession | undefined): void {
    this.#pending.delete(id);
    this.#pending.set(id, session);
    const [oldest] = this.#pending.keys();
    if (this.#pending.size > MAX_PENDING && oldest !== undefined) this.#pending.delete(oldest);
    if (this.#writing === undefined) void this.flush();
  }

  async #write(): Promise<void> {
    for (let isAway = false; this.#pending.size > 0 && !isAway;) {
      await nextTurn();
      const batch = this.#pending;
      this.#pending = new Map();
      const changed = [...batch.values()].flatMap((session) => session ?? []);
      const ended = [...batch].flatMap(([id, session]) => (session === undefined ? [id] : []));
      try {
        if (changed.length > 0) await this.#store.put(changed, this.#owner);
        if (ended.length > 0) await this.#store.remove(ended, this.#owner);
      } catch {
        isAway = true;
        // What came meanwhile is newer.
        this.#pending = new Map([...batch, ...this.#pending]);
      }
    }
  }
}
