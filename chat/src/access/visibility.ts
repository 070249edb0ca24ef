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

/** Which of the visible chats one client sees, by source: ids or exact names. Undefined: all of the source. */
export type VisibleWithin = ReadonlyMap<string, readonly string[] | undefined>;

export class Visibility {
  readonly #options: VisibilityOptions;
  readonly #within: ReadonlyMap<string, ReadonlySet<string> | undefined> | undefined;
  readonly #rules: ReadonlyMap<
    string,
    { readonly allow: ReadonlySet<string> | undefined; readonly hide: ReadonlySet<string> }
  >;
  readonly #maxAge: string | undefined;
  readonly #clock: Clock;

  constructor(options: VisibilityOptions, within?: VisibleWithin) {
    const { rules, maxAge, clock } = options;
    this.#options = options;
    this.#within = within && new Map([...within].map(([source, names]) => [source, names && new Set(names.map(fold))]));
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

  /** The same rules, for a client that sees less. */
  within(limit: VisibleWithin): Visibility {
    return new Visibility(this.#options, limit);
  }

  shows(chat: NamedChat): boolean {
    return this.#isWithin(chat) && this.#isShown(chat);
  }

  #isWithin(chat: NamedChat): boolean {
    if (this.#within === undefined) return true;
    if (!this.#within.has(chat.source)) return false;
    const names = this.#within.get(chat.source);
    // A former name is not enough: others can rename a group.
    return names === undefined || [chat.id, chat.name, ...chat.otherIds].some((name) => names.has(fold(name)));
  }

  #isShown(chat: NamedChat): boolean {
    const rules = this.#rules.get(chat.source);
    if (rules === undefined) return true;
    const names = ruleNames(chat);
    if (names.some((name) => rules.hide.has(name))) return false;
    return rules.allow === undefined || names.some((name) => rules.allow?.has(name));
  }

  /** Whether any of these sources may have chats that are not shown. */
  restricts(sources: readonly string[]): boolean {
    return this.#within !== undefined || sources.some((source) => this.#rules.has(source));
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
