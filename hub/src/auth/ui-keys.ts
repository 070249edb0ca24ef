// One-time keys of links that sign a browser in. Kept in memory: a restart of the hub makes open links useless.

import { digestOf, isSameDigest, randomSecret } from "./secret-digest.ts";

interface OpenKey {
  readonly digest: Buffer;
  readonly expiresAt: number;
}

export interface UiKeysOptions {
  /** The wall clock, in milliseconds: people are told when a link ends. */
  readonly now?: () => number;
}

const LIFE_MS = 10 * 60_000;
const MAX_OPEN = 8;

export class UiKeys {
  readonly #now: () => number;
  /** Oldest first. */
  #open: OpenKey[] = [];

  constructor({ now = Date.now }: UiKeysOptions = {}) {
    this.#now = now;
  }

  /** The oldest of too many open keys is dropped: every `plugboard status` makes one. */
  make(): { readonly key: string; readonly expiresAt: number } {
    const key = randomSecret();
    const expiresAt = this.#now() + LIFE_MS;
    this.#open = [...this.#valid(), { digest: digestOf(key), expiresAt }].slice(-MAX_OPEN);
    return { key, expiresAt };
  }

  /** Whether the key is valid, and makes it invalid. Compares with all keys, so that the time says nothing. */
  take(key: string): boolean {
    const presented = digestOf(key);
    const valid = this.#valid();
    this.#open = valid.filter(({ digest }) => !isSameDigest(digest, presented));
    return this.#open.length < valid.length;
  }

  #valid(): OpenKey[] {
    const now = this.#now();
    return this.#open.filter(({ expiresAt }) => expiresAt > now);
  }
}
