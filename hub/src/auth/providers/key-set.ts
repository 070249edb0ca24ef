// The public keys of an issuer. Unknown keys and failures cause few requests, whatever tokens are sent, and keys that were good
// remain so for a day if the issuer cannot be reached.

import type { CryptoKey, FlattenedJWSInput, JSONWebKeySet, JWSHeaderParameters } from "jose";
import { InvalidToken, issuerUnavailable } from "./refusals.ts";

export interface KeySetOptions {
  readonly issuer: string;
  readonly load: () => Promise<JSONWebKeySet>;
  /** The wall clock, in milliseconds. */
  readonly now: () => number;
}

type Finder = (header: JWSHeaderParameters, token: FlattenedJWSInput) => Promise<CryptoKey>;

const FRESH_MS = 3_600_000;
const LAST_GOOD_MS = 24 * 3_600_000;
/** Between two requests, whether the first succeeded or not. */
const COOLDOWN_MS = 30_000;

export class KeySet {
  readonly #options: KeySetOptions;
  #known: { readonly find: Finder; readonly at: number } | undefined;
  #tried: { readonly at: number; readonly failure: unknown } | undefined;
  #loading: Promise<void> | undefined;

  constructor(options: KeySetOptions) {
    this.#options = options;
  }

  /** The key that a token says it was signed with. Rejects with InvalidToken, or with IssuerUnavailable. */
  readonly find: Finder = async (header, token) => {
    const { errors } = await import("jose");
    if (this.#age() >= FRESH_MS) await this.#refresh();
    try {
      return await this.#usable()(header, token);
    } catch (thrown) {
      if (thrown instanceof errors.JWKSMultipleMatchingKeys)
        throw new InvalidToken("The token names none of several keys");
      if (!(thrown instanceof errors.JWKSNoMatchingKey)) throw thrown;
    }
    // The issuer may have changed its keys.
    await this.#refresh();
    try {
      return await this.#usable()(header, token);
    } catch (thrown) {
      if (!(thrown instanceof errors.JWKSNoMatchingKey)) throw thrown;
      if (this.#tried?.failure !== undefined) throw this.#unavailable(this.#tried.failure);
      throw new InvalidToken("The token is signed with a key that its issuer does not have");
    }
  };

  #usable(): Finder {
    if (this.#known !== undefined && this.#age() < LAST_GOOD_MS) return this.#known.find;
    throw this.#unavailable(this.#tried?.failure);
  }

  #age(): number {
    return this.#known === undefined ? Infinity : this.#options.now() - this.#known.at;
  }

  /** Loads the keys, unless that was tried a moment ago. Does not reject. */
  #refresh(): Promise<void> {
    if (this.#waitMs() > 0 && this.#loading === undefined) return Promise.resolve();
    return (this.#loading ??= this.#load().finally(() => (this.#loading = undefined)));
  }

  async #load(): Promise<void> {
    const at = this.#options.now();
    this.#tried = { at, failure: undefined };
    try {
      const { createLocalJWKSet } = await import("jose");
      this.#known = { find: createLocalJWKSet(await this.#options.load()), at };
    } catch (failure) {
      this.#tried = { at, failure };
    }
  }

  #waitMs(): number {
    return this.#tried === undefined ? 0 : this.#tried.at + COOLDOWN_MS - this.#options.now();
  }

  #unavailable(failure: unknown) {
    return issuerUnavailable(this.#options.issuer, Math.max(this.#waitMs(), 1000), failure);
  }
}
