// Secrets of single people: what `${user:NAME}` in an entry stands for when one of them calls the server. Kept apart from the
// hub's own secrets, so that no `secretRef` can name one of them.

import { parseJson } from "@plugboard/shared/lenient";
import type { SecretStore } from "./store.ts";

export interface PersonalSecret {
  readonly principal: string;
  readonly name: string;
  /** Milliseconds since the epoch. Undefined if the store does not know. */
  readonly setAt: number | undefined;
}

export class PersonalSecrets {
  readonly #store: SecretStore;

  /** The store must hold nothing else. */
  constructor(store: SecretStore) {
    this.#store = store;
  }

  get(principal: string, name: string): Promise<string | undefined> {
    return this.#store.get(keyOf(principal, name));
  }

  set(principal: string, name: string, value: string): Promise<void> {
    return this.#store.set(keyOf(principal, name), value);
  }

  /** False if there is no such secret. */
  delete(principal: string, name: string): Promise<boolean> {
    return this.#store.delete(keyOf(principal, name));
  }

  /** Of everyone, sorted by person and name. */
  async list(): Promise<PersonalSecret[]> {
    const times = await this.#store.times?.();
    return (await this.#store.list()).flatMap((key) => {
      const parts = parseJson(key);
      const [principal, name] = Array.isArray(parts) ? parts : [];
      if (typeof principal !== "string" || typeof name !== "string") return [];
      return [{ principal, name, setAt: times?.get(key) }];
    });
  }
}

function keyOf(principal: string, name: string): string {
  return JSON.stringify([principal, name]);
}
