// Secrets in memory: for tests, and for a hub embedded in a program that keeps them elsewhere.

import { requireSecret } from "./rules.ts";
import type { SecretStore } from "./store.ts";

/** The in-memory adapter of SecretStore. */
export class MemorySecrets implements SecretStore {
  readonly #values = new Map<string, string>();

  async get(name: string): Promise<string | undefined> {
    return this.#values.get(name);
  }

  async set(name: string, value: string): Promise<void> {
    requireSecret(name, value);
    this.#values.set(name, value);
  }

  async delete(name: string): Promise<boolean> {
    return this.#values.delete(name);
  }

  async list(): Promise<string[]> {
    return [...this.#values.keys()].toSorted();
  }
}
