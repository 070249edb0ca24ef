// Which further scopes a server wants, and how often a person was asked for them: a server that is never satisfied must not
// cause login after login.

import type { Clock } from "./clock.ts";

/** Authorizations for the same missing scopes within the window. */
const MAX_AUTHORIZATIONS = 2;
const WINDOW_MS = 600_000;

export class StepUps {
  readonly #clock: Clock;
  /** When the scopes were last asked for, by their sorted names. */
  readonly #asked = new Map<string, number[]>();
  #wanted: readonly string[] = [];

  constructor(clock: Clock) {
    this.#clock = clock;
  }

  /** The scopes to add to those of the login. */
  get scopes(): readonly string[] {
    return this.#wanted;
  }

  mayAsk(missing: readonly string[]): boolean {
    return this.#recent(keyOf(missing)).length < MAX_AUTHORIZATIONS;
  }

  want(missing: readonly string[]): void {
    this.#wanted = missing;
  }

  /** An authorization for the wanted scopes begins. */
  asked(): void {
    if (this.#wanted.length === 0) return;
    const key = keyOf(this.#wanted);
    this.#asked.set(key, [...this.#recent(key), this.#clock.monotonic()]);
  }

  /** They were granted, or the login has ended. */
  clear(): void {
    this.#wanted = [];
  }

  #recent(key: string): number[] {
    const since = this.#clock.monotonic() - WINDOW_MS;
    return (this.#asked.get(key) ?? []).filter((at) => at > since);
  }
}

function keyOf(scopes: readonly string[]): string {
  return scopes.toSorted().join(" ");
}
