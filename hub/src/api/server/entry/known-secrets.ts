// Hides the values of secrets wherever a view repeats them: also in a variable, an argument or a URL that has no name of a
// credential.

import { secretParts } from "../../../redaction/secret-parts.ts";
import { isCommonValue } from "../../../redaction/entropy.ts";
import type { Hide } from "../../../redaction/mask.ts";
import type { SecretStore } from "../../../secrets/store.ts";

export class KnownSecrets {
  /** Hidden if they are the whole text. */
  readonly #whole: ReadonlySet<string>;
  /** Also hidden inside a text; the longest first, since one may contain another. */
  readonly #parts: readonly string[];

  constructor(values: Iterable<string>, others?: KnownSecrets) {
    const whole = new Set(others === undefined ? [] : others.#whole);
    for (const value of values) for (const part of secretParts(value)) whole.add(part);
    this.#whole = whole;
    this.#parts = [...whole].filter((part) => !isCommonValue(part)).toSorted((a, b) => b.length - a.length);
  }

  /** All values of the store. If the store cannot be read, views still work. */
  static async of(store: SecretStore): Promise<KnownSecrets> {
    return new KnownSecrets((await store.values?.().catch(() => undefined)) ?? []);
  }

  with(values: readonly string[]): KnownSecrets {
    return values.length === 0 ? this : new KnownSecrets(values, this);
  }

  has(text: string): boolean {
    return this.#whole.has(text);
  }

  hideIn(text: string, hide: Hide): string {
    if (this.#whole.has(text)) return hide(text);
    let shown = text;
    for (const part of this.#parts) if (shown.includes(part)) shown = shown.replaceAll(part, () => hide(part));
    return shown;
  }
}

export const NO_SECRETS = new KnownSecrets([]);
