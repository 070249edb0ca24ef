// Which chats exist for agents, and how far back. A chat that does not is answered for as if it had never been.

import type { ChatStore, StoredChat } from "./query.ts";
import { parseTime, type Clock } from "./times.ts";

export interface ChatRules {
  /** By id or exact name, whatever the case. All where absent. */
  readonly allow?: readonly string[] | undefined;
  readonly hide?: readonly string[] | undefined;
}

export interface VisibilityOptions {
  /** By source. */
  readonly rules: ReadonlyMap<string, ChatRules>;
  /** A span such as `90d`. */
  readonly maxAge?: string | undefined;
  readonly clock: Clock;
}

const PAGE = 500;

export class Visibility {
  readonly #rules: ReadonlyMap<
    string,
    { readonly allow: ReadonlySet<string> | undefined; readonly hide: ReadonlySet<string> }
  >;
  readonly #maxAge: string | undefined;
  readonly #clock: Clock;

  constructor({ rules, maxAge, clock }: VisibilityOptions) {
    this.#rules = new Map(
      [...rules]
        .filter(([, { allow, hide }]) => allow !== undefined || (hide?.length ?? 0) > 0)
        .map(([source, { allow, hide }]) => [
          source,
          { allow: allow === undefined ? undefined : new Set(allow.map(fold)), hide: new Set((hide ?? []).map(fold)) },
        ]),
    );
    this.#maxAge = maxAge;
    this.#clock = clock;
  }

  shows(chat: { readonly source: string; readonly id: string; readonly name: string }): boolean {
    const rules = this.#rules.get(chat.source);
    if (rules === undefined) return true;
    const names = [fold(chat.id), fold(chat.name)];
    if (names.some((name) => rules.hide.has(name))) return false;
    return rules.allow === undefined || names.some((name) => rules.allow?.has(name));
  }

  /** Whether any of these sources has chats that are not shown. */
  restricts(sources: readonly string[]): boolean {
    return sources.some((source) => this.#rules.has(source));
  }

  /** Older messages are not shown. */
  oldest(): number | undefined {
    return this.#maxAge === undefined ? undefined : parseTime(this.#maxAge, "max_age", this.#clock);
  }

  /** All chats of a source that are shown, or of all sources. */
  *chats(store: ChatStore, source?: string): Generator<StoredChat> {
    let cursor: string | undefined;
    do {
      const page = store.chats({
        limit: PAGE,
        ...(source === undefined ? {} : { source }),
        ...(cursor === undefined ? {} : { cursor }),
      });
      for (const chat of page.items) if (this.shows(chat)) yield chat;
      cursor = page.nextCursor;
    } while (cursor !== undefined);
  }
}

function fold(name: string): string {
  return name.normalize("NFKC").trim().toLowerCase();
}
