// Which chats agents may see, and how far back. A hidden chat is treated as if it did not exist.

import type { ChatStore, StoredChat } from "../model/store-port.ts";
import { parseTime, type Clock } from "../model/times.ts";

export interface ChatRules {
  /** Ids or exact names, ignoring case. Absent: all. */
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

/** What a rule can refer to. */
export type NamedChat = Pick<StoredChat, "source" | "id" | "name" | "otherIds" | "otherNames">;

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

  shows(chat: NamedChat): boolean {
    const rules = this.#rules.get(chat.source);
    if (rules === undefined) return true;
    const names = ruleNames(chat);
    if (names.some((name) => rules.hide.has(name))) return false;
    return rules.allow === undefined || names.some((name) => rules.allow?.has(name));
  }

  /** Whether any of these sources may have chats that are not shown. */
  restricts(sources: readonly string[]): boolean {
    return sources.some((source) => this.#rules.has(source));
  }

  /** Older messages are not shown. */
  oldest(): number | undefined {
    return this.#maxAge === undefined ? undefined : parseTime(this.#maxAge, "max_age", this.#clock);
  }

  /** The shown chats of a source, or of all sources. */
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

/** Former ids and names count too, so that a hidden chat stays hidden when it is renamed or merged. */
export function ruleNames({ id, name, otherIds, otherNames }: NamedChat): string[] {
  return [id, name, ...otherIds, ...otherNames].map(fold);
}

/** Rules are compared in this form. */
export function fold(name: string): string {
  return name.normalize("NFKC").trim().toLowerCase();
}
