// Records of the protocol library that last minutes: authorization codes, requests that wait for a person. Kept in memory, and
// bounded: the oldest goes first.

import type { Adapter, AdapterPayload } from "oidc-provider";

interface Entry {
  readonly payload: AdapterPayload;
  readonly keptUntil: number;
}

/** A code that is used a second time is recognised for so long after it has expired. */
const KEPT_MS = 10 * 60_000;

export class ShortLived {
  readonly #max: number;
  readonly #now: () => number;
  /** Oldest first. */
  readonly #entries = new Map<string, Entry>();

  constructor(max: number, now: () => number) {
    this.#max = max;
    this.#now = now;
  }

  adapter(model: string): Adapter {
    const key = (id: string) => `${model}:${id}`;
    return {
      upsert: async (id, payload, expiresIn = 0) => this.#put(key(id), payload, expiresIn * 1000),
      find: async (id) => this.#find(key(id)),
      findByUid: async (uid) => this.#search(model, (payload) => payload.uid === uid),
      findByUserCode: async () => undefined,
      consume: async (id) => {
        const payload = this.#find(key(id));
        if (payload !== undefined) payload.consumed = Math.floor(this.#now() / 1000);
      },
      destroy: async (id) => void this.#entries.delete(key(id)),
      revokeByGrantId: async (grantId) => {
        for (const [name, { payload }] of this.#entries) {
          if (name.startsWith(`${model}:`) && payload.grantId === grantId) this.#entries.delete(name);
        }
      },
    };
  }

  #put(name: string, payload: AdapterPayload, lifeMs: number): void {
    const now = this.#now();
    for (const [old, { keptUntil }] of this.#entries) if (keptUntil <= now) this.#entries.delete(old);
    this.#entries.delete(name);
    const [oldest] = this.#entries.keys();
    if (this.#entries.size >= this.#max && oldest !== undefined) this.#entries.delete(oldest);
    this.#entries.set(name, { payload: { ...payload }, keptUntil: now + lifeMs + KEPT_MS });
  }

  #find(name: string): AdapterPayload | undefined {
    const entry = this.#entries.get(name);
    return entry === undefined || entry.keptUntil <= this.#now() ? undefined : entry.payload;
  }

  #search(model: string, matches: (payload: AdapterPayload) => boolean): AdapterPayload | undefined {
    for (const [name, { payload }] of this.#entries) {
      if (name.startsWith(`${model}:`) && matches(payload)) return payload;
    }
    return undefined;
  }
}
