// Secrets in memory, for tests and for a hub embedded in a program that stores them elsewhere.

import { requireSecret } from "./rules.ts";
import type { SecretStore } from "./store.ts";

/** SecretStore in memory. */
export class MemorySecrets implements SecretStore {
  readonly #values = new Map<string, string>();
  readonly #times = new Map<string, number>();

  async get(name: string): Promise<string | undefined> {
    return this.#values.get(name);
  }

  async set(name: string, value: string): Promise<void> {
    requireSecret(name, value);
    this.#values.set(name, value);
    this.#times.set(name, Date.now());
  }

  async delete(name: string): Promise<boolean> {
    this.#times.delete(name);
    return this.#values.delete(name);
  }

  async list(): Promise<string[]> {
    return [...this.#values.keys()].toSorted();
  }

  async times(): Promise<ReadonlyMap<string, number>> {
    return new Map(this.#times);
  }

  async values(): Promise<readonly string[]> {
    return [...this.#values.values()];
  }
}
