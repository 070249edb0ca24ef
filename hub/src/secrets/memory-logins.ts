// Logins in memory: for tests, and for a hub embedded in a program that keeps no files.

import type { LoginKey, LoginRecord, LoginSlot, LoginStore } from "./login-store.ts";

export class MemoryLogins implements LoginStore {
  readonly #records = new Map<string, LoginRecord>();
  /** The last queued edit of each record. */
  readonly #edits = new Map<string, Promise<unknown>>();

  async principals(server: string): Promise<string[]> {
    const records = [...this.#records.values()];
    return records.flatMap((record) => (record.server === server ? [record.principal] : [])).toSorted();
  }

  async read(key: LoginKey): Promise<LoginRecord | undefined> {
    return this.#records.get(idOf(key));
  }

  async edit<T>(key: LoginKey, edit: (slot: LoginSlot) => Promise<T>): Promise<T> {
    const id = idOf(key);
    const slot: LoginSlot = {
      read: () => this.read(key),
      write: async (record) => void this.#records.set(id, record),
      delete: async () => void this.#records.delete(id),
    };
    const next = (this.#edits.get(id) ?? Promise.resolve()).then(() => edit(slot));
    // A failed edit rejects for its own caller only.
    this.#edits.set(
      id,
      next.catch(() => undefined),
    );
    return next;
  }
}

function idOf({ server, principal }: LoginKey): string {
  return JSON.stringify([server, principal]);
}
