// Where a test's oidc-provider keeps its records: one store per provider, without an upper bound. The provider's own is shared by
// all providers of the process and forgets after 1,000 records.

import type { Adapter, AdapterPayload } from "oidc-provider";

export class GrantStorage {
  readonly #records = new Map<string, AdapterPayload>();
  /** Until when a used refresh token still counts as unused, by record. */
  readonly #usedAt = new Map<string, number>();
  /** How long a refresh token that was replaced is accepted again. Auth0, Okta and Linear have such a leeway. */
  graceMs = 0;

  /** The number of records of a model: `RefreshToken`, `Client`. */
  count(model: string): number {
    return [...this.#records.keys()].filter((key) => key.startsWith(`${model}:`)).length;
  }

  /** Ends every login: refresh tokens, access tokens and sessions are unknown from now on. Clients stay. */
  endLogins(): void {
    for (const key of this.#records.keys()) if (!key.startsWith("Client:")) this.#records.delete(key);
  }

  adapter(model: string): Adapter {
    const key = (id: string) => `${model}:${id}`;
    const findBy = (member: "uid" | "userCode", value: string) =>
      [...this.#records].find(([name, record]) => name.startsWith(`${model}:`) && record[member] === value)?.[1];
    return {
      upsert: async (id, payload) => void this.#records.set(key(id), { ...payload }),
      find: async (id) => this.#visible(key(id)),
      findByUid: async (uid) => findBy("uid", uid),
      findByUserCode: async (code) => findBy("userCode", code),
      consume: async (id) => {
        const record = this.#records.get(key(id));
        if (record !== undefined) record.consumed = Math.floor(Date.now() / 1000);
        this.#usedAt.set(key(id), performance.now());
      },
      destroy: async (id) => void this.#records.delete(key(id)),
      revokeByGrantId: async (grantId) => {
        for (const [name, record] of this.#records) if (record.grantId === grantId) this.#records.delete(name);
      },
    };
  }

  #visible(key: string): AdapterPayload | undefined {
    const record = this.#records.get(key);
    const isGrace = performance.now() - (this.#usedAt.get(key) ?? -Infinity) < this.graceMs;
    if (record === undefined || !isGrace) return record;
    const { consumed: _, ...unused } = record;
    return unused;
  }
}
