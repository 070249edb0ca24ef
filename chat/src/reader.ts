// Answers what is asked about chats and messages, from the store, within what agents may see. Tools, resources, prompts,
// subscriptions and commands all ask here, so that a filter means the same everywhere. How answers look is left to them.

import { openCursor, sealCursor, type Place } from "./cursor.ts";
import { ChatError, chatNotFound, invalid } from "./errors.ts";
import type { Outgoing } from "./outgoing.ts";
import type { Policy } from "./policy.ts";
import type { ChatStore, MessageFilter, Page, SearchMode, StoredChat, StoredMessage, StoredPerson } from "./query.ts";
import type { ChatType } from "./source.ts";
import type { ConfiguredSource, Sources } from "./sources/sources.ts";
import { parseTime, type Clock } from "./times.ts";

export interface MessageArgs {
  readonly source?: string | undefined;
  /** Id or name. */
  readonly chat?: string | undefined;
  readonly since?: string | undefined;
  readonly before?: string | undefined;
  readonly sender?: string | undefined;
  readonly search?: string | undefined;
  readonly mode?: SearchMode | undefined;
  readonly includeSystem?: boolean | undefined;
  /** What is stored is enough, also where the source is not connected. */
  readonly allowStale?: boolean | undefined;
}

export interface PageArgs {
  readonly limit: number;
  readonly offset?: number | undefined;
  readonly cursor?: string | undefined;
  readonly order?: "asc" | "desc" | undefined;
  /** How much of the answer a message takes, and how much there is in all. */
  readonly budget?: { readonly chars: number; readonly cost: (message: StoredMessage) => number } | undefined;
}

export interface ChatArgs {
  readonly source?: string | undefined;
  readonly type?: ChatType | undefined;
  readonly namePattern?: string | undefined;
  readonly activeSince?: string | undefined;
  readonly limit: number;
  readonly cursor?: string | undefined;
  readonly allowStale?: boolean | undefined;
}

/** What a filter selects, as the store wants it. `undefined`: nothing can match. */
export interface Selection {
  readonly filter: MessageFilter | undefined;
  readonly chat: StoredChat | undefined;
  /** Answered for from what is stored, or left out where that is not wanted. */
  readonly notConnected: readonly string[];
  readonly newestChat: number | undefined;
}

export interface MessagePage {
  readonly messages: readonly StoredMessage[];
  readonly nextCursor: string | undefined;
  readonly selection: Selection;
}

export interface ReaderOptions {
  readonly store: ChatStore;
  readonly sources: Sources;
}

const MAX_CURSOR_AGE_MS = 24 * 3_600_000;

export class Reader {
  readonly #options: ReaderOptions;
  #policy: Policy;

  constructor(options: ReaderOptions, policy: Policy) {
    this.#options = options;
    this.#policy = policy;
  }

  /** Holds from the next question on. */
  adopt(policy: Policy): void {
    this.#policy = policy;
  }

  get outgoing(): Outgoing {
    return this.#policy.outgoing;
  }

  get sources(): Sources {
    return this.#options.sources;
  }

  get store(): ChatStore {
    return this.#options.store;
  }

  get clock(): Clock {
    return this.#policy.clock;
  }

  /** Refuses a source that nobody configured, and one that is not connected unless what is stored is enough. */
  source(id: string, allowStale = false): ConfiguredSource {
    const found = this.sources.get(id);
    const state = this.sources.state(id);
    if (allowStale || this.#policy.allowStale || state.status === "connected" || state.status === "connecting")
      return found;
    throw new ChatError(
      "SOURCE_NOT_CONNECTED",
      `Source '${id}' is not connected: ${state.message}. To connect: ${state.howToConnect}`,
      { field: "source", hint: `${state.howToConnect}. With allow_stale: true you get what is stored` },
    );
  }

  chats({ source, type, namePattern, activeSince, limit, cursor: given, allowStale }: ChatArgs): Page<StoredChat> {
    if (source !== undefined) this.source(source, allowStale);
    const oldest = this.#policy.visibility.oldest();
    const since = activeSince === undefined ? undefined : this.#time(activeSince, "filter.active_since");
    const found: StoredChat[] = [];
    let cursor = given;
    do {
      const page = this.store.chats({
        limit: limit - found.length,
        ...(source === undefined ? {} : { source }),
        ...(type === undefined ? {} : { type }),
        ...(namePattern === undefined ? {} : { namePattern }),
        ...(since === undefined ? {} : { activeSince: since }),
        ...(cursor === undefined ? {} : { cursor }),
      });
      found.push(...page.items.filter((chat) => this.#isShown(chat, oldest)));
      cursor = page.nextCursor;
    } while (cursor !== undefined && found.length < limit);
    return { items: found, ...(cursor === undefined ? {} : { nextCursor: cursor }) };
  }

  /** The one chat that is meant. */
  chat(source: string | undefined, idOrName: string): StoredChat {
    const within = source === undefined ? this.sources.ids : [source];
    const found = within.flatMap((id) => this.#findChats(id, idOrName));
    const [first, ...others] = found;
    if (first === undefined) {
      if (source !== undefined) throw chatNotFound(idOrName, source);
      throw new ChatError("CHAT_NOT_FOUND", `Chat '${idOrName}' not found in any source`, { field: "chat" });
    }
    if (others.length === 0) return first;
    throw new ChatError("AMBIGUOUS_CHAT", `'${idOrName}' is the name of ${found.length} chats`, {
      field: "chat",
      hint: "Use the id of one of them, and its source",
      candidates: found.map(
        (chat) => `${this.outgoing.chatId(chat)} (${chat.name}, ${chat.type}, source ${chat.source})`,
      ),
    });
  }

  select(args: MessageArgs, place?: Pick<Place, "since" | "before" | "newestChat">): Selection {
    const { visibility } = this.#policy;
    const chat = args.chat === undefined ? undefined : this.#selectChat(args, args.chat);
    if (chat === undefined && args.source !== undefined) this.source(args.source, args.allowStale);
    const within = chat === undefined ? (args.source === undefined ? this.sources.ids : [args.source]) : [chat.source];
    const notConnected = within.filter((id) => "message" in this.sources.state(id));
    const stale = args.allowStale === true || this.#policy.allowStale;
    const sources = stale ? within : within.filter((id) => !notConnected.includes(id));
    let chats = chat === undefined ? undefined : [chat.key];
    let newestChat: number | undefined;
    if (chats === undefined && visibility.restricts(sources)) {
      const shown = sources.flatMap((source) => [...visibility.chats(this.store, source)].map(({ key }) => key));
      newestChat = place?.newestChat ?? Math.max(0, ...shown);
      chats = shown.filter((key) => key <= (newestChat ?? 0));
    }
    const since = place === undefined ? this.#since(args.since) : place.since;
    const before = place === undefined ? this.#optionalTime(args.before, "before") : place.before;
    if (since !== undefined && before !== undefined && args.since !== undefined && since >= before) {
      throw invalid("before", "'before' must be later than 'since'");
    }
    const filter: MessageFilter = {
      sources,
      includeSystem: args.includeSystem ?? false,
      ...(chats === undefined ? {} : { chats }),
      ...(since === undefined ? {} : { since }),
      ...(before === undefined ? {} : { before }),
      ...(args.sender === undefined ? {} : { sender: args.sender }),
      ...(args.search === undefined ? {} : { search: args.search }),
      ...(args.mode === undefined ? {} : { mode: args.mode }),
    };
    const nothing = sources.length === 0 || chats?.length === 0;
    return { filter: nothing ? undefined : filter, chat, notConnected, newestChat };
  }

  messages(args: MessageArgs, { limit, offset, cursor, order = "desc", budget }: PageArgs): MessagePage {
    if (cursor !== undefined && offset !== undefined) {
      throw invalid(
        "offset",
        "'offset' and 'cursor' exclude each other",
        "Use the cursor: it is stable while messages arrive",
      );
    }
    const params = [
      args.source,
      args.chat,
      args.since,
      args.before,
      args.sender,
      args.search,
      args.mode,
      args.includeSystem,
      order,
    ];
    const place = cursor === undefined ? undefined : openCursor(cursor, params);
    if (place !== undefined) this.#refuseOldCursor(place);
    const selection = this.select(args, place);
    if (selection.filter === undefined) return { messages: [], nextCursor: undefined, selection };
    const query = {
      ...selection.filter,
      order,
      limit,
      ...(offset === undefined ? {} : { offset }),
      ...(place === undefined ? {} : { cursor: place.cursor }),
    };
    let page = this.store.messages(query);
    const fitting = budget === undefined ? page.items.length : countFitting(page.items, budget);
    // The same again, but shorter, for the cursor that stands behind the last message that fits.
    if (fitting < page.items.length) page = this.store.messages({ ...query, limit: fitting });
    const { since, before } = selection.filter;
    const nextCursor =
      page.nextCursor === undefined
        ? undefined
        : sealCursor({ cursor: page.nextCursor, since, before, newestChat: selection.newestChat }, params);
    return { messages: page.items, nextCursor, selection };
  }

  message(chat: StoredChat, id: string): StoredMessage {
    const ours = /^msg-(\d{1,15})$/.exec(id)?.[1];
    const found =
      this.store.message(chat.key, id) ?? (ours === undefined ? undefined : this.#messageByKey(chat, Number(ours)));
    if (found !== undefined && found.at >= (this.#policy.visibility.oldest() ?? -Infinity)) return found;
    throw new ChatError("MESSAGE_NOT_FOUND", `Message '${id}' not found in chat '${chat.name}'`, {
      field: "message_id",
    });
  }

  around(message: StoredMessage, before: number, after: number): readonly StoredMessage[] {
    const oldest = this.#policy.visibility.oldest() ?? -Infinity;
    return this.store.around(message, before, after).filter(({ at }) => at >= oldest);
  }

  /** Oldest first. */
  thread(
    message: StoredMessage,
    limit: number,
  ): { readonly messages: readonly StoredMessage[]; readonly complete: boolean } {
    const oldest = this.#policy.visibility.oldest() ?? -Infinity;
    const found = this.store.thread(message, limit + 1);
    const shown = found.slice(0, limit).filter(({ at }) => at >= oldest);
    return { messages: shown.toSorted((a, b) => a.at - b.at || a.key - b.key), complete: found.length <= limit };
  }

  /** People, but none who is only to be met in chats that are not shown. */
  people(text: string, limit: number): readonly StoredPerson[] {
    const { sources } = this;
    const found = this.store.people(text, limit);
    return found.flatMap((person) => {
      const addresses = person.addresses.filter(
        ({ source, id }) => sources.ids.includes(source) && this.#isMet(source, id),
      );
      return addresses.length === 0 ? [] : [{ ...person, addresses }];
    });
  }

  /** Totals of what is shown. */
  totals(source: string): { chats: number; messages: number; oldestAt: number | null; newestAt: number | null } {
    const { visibility } = this.#policy;
    if (!visibility.restricts([source])) return this.store.totals(source);
    let chats = 0;
    let messages = 0;
    let oldestAt: number | null = null;
    let newestAt: number | null = null;
    for (const chat of visibility.chats(this.store, source)) {
      chats += 1;
      messages += chat.messageCount;
      if (chat.oldestAt !== null) oldestAt = Math.min(oldestAt ?? chat.oldestAt, chat.oldestAt);
      if (chat.newestAt !== null) newestAt = Math.max(newestAt ?? chat.newestAt, chat.newestAt);
    }
    return { chats, messages, oldestAt, newestAt };
  }

  #selectChat({ source, allowStale }: MessageArgs, idOrName: string): StoredChat {
    if (source !== undefined) this.source(source, allowStale);
    const chat = this.chat(source, idOrName);
    this.source(chat.source, allowStale);
    return chat;
  }

  #findChats(source: string, idOrName: string): readonly StoredChat[] {
    const oldest = this.#policy.visibility.oldest();
    const found = this.store.findChats(source, idOrName).filter((chat) => this.#isShown(chat, oldest));
    const ours = /^chat-(\d{1,15})$/.exec(idOrName)?.[1];
    if (found.length > 0 || ours === undefined) return found;
    for (const chat of this.#policy.visibility.chats(this.store, source)) if (chat.key === Number(ours)) return [chat];
    return [];
  }

  #isShown(chat: StoredChat, oldest: number | undefined): boolean {
    if (!this.sources.ids.includes(chat.source) || !this.#policy.visibility.shows(chat)) return false;
    return oldest === undefined || chat.newestAt === null || chat.newestAt >= oldest;
  }

  #isMet(source: string, address: string): boolean {
    if (!this.#policy.visibility.restricts([source])) return true;
    const { filter } = this.select({ source, sender: address, allowStale: true, includeSystem: true });
    return filter !== undefined && this.store.messages({ ...filter, order: "desc", limit: 1 }).items.length > 0;
  }

  #messageByKey(chat: StoredChat, key: number): StoredMessage | undefined {
    const [found] = this.store.after(key - 1, { chats: [chat.key], includeSystem: true }, 1);
    return found?.key === key ? found : undefined;
  }

  #since(given: string | undefined): number | undefined {
    const since = this.#optionalTime(given, "since");
    const oldest = this.#policy.visibility.oldest();
    if (oldest === undefined) return since;
    return Math.max(oldest, since ?? oldest);
  }

  /** A cursor carries its own beginning, which must not reach behind what is shown by now. */
  #refuseOldCursor({ since }: Place): void {
    const oldest = this.#policy.visibility.oldest();
    if (oldest === undefined || (since !== undefined && since >= oldest - MAX_CURSOR_AGE_MS)) return;
    throw invalid("cursor", "The cursor is too old", "Begin with the first page again");
  }

  #optionalTime(text: string | undefined, field: string): number | undefined {
    return text === undefined ? undefined : this.#time(text, field);
  }

  #time(text: string, field: string): number {
    return parseTime(text, field, this.clock);
  }
}

/** At least one: a message that is too long by itself is cut by who shows it. */
function countFitting(
  messages: readonly StoredMessage[],
  { chars, cost }: { readonly chars: number; readonly cost: (message: StoredMessage) => number },
): number {
  let used = 0;
  for (const [index, message] of messages.entries()) {
    used += cost(message);
    if (used > chars) return Math.max(1, index);
  }
  return messages.length;
}
