// Provides the keys of a folder of secrets to its readers and writers.

import { resolveKeys, type Keys } from "./key.ts";

export class KeyRing {
  readonly #folder: string;
  readonly #configured: string | undefined;
  #configuredKeys: Promise<Keys | undefined> | undefined;

  constructor(folder: string, configured: string | undefined) {
    this.#folder = folder;
    this.#configured = configured || undefined;
  }

  /** The operator gives the key; otherwise it is a file in the folder. */
  get isConfigured(): boolean {
    return this.#configured !== undefined;
  }

  /**
   * The key file is read each time, since another process may rotate it. A configured key is cached: scrypt is slow. `create`:
   * for a writer. A missing key file is created only if nothing is encrypted yet (`isFirst`): a new key could not decrypt it.
   */
  async resolve({ create = false, isFirst = false } = {}): Promise<Keys | undefined> {
    if (this.#configured === undefined) return resolveKeys(this.#folder, { create: create && isFirst });
    this.#configuredKeys ??= resolveKeys(this.#folder, { configured: this.#configured, create });
    try {
      const keys = await this.#configuredKeys;
      if (keys === undefined) this.#configuredKeys = undefined;
      return keys;
    } catch (error) {
      // The user can correct the mistake while the hub runs, so the failure is not cached.
      this.#configuredKeys = undefined;
      throw error;
    }
  }
}
