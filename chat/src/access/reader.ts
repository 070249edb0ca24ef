// Reads sources, chats and single messages that agents may see. Tools, resources, prompts, subscriptions and commands all
// read through it, so that an id or a filter means the same everywhere. Pages of messages are in message-pages.ts.

import { ChatError, chatNotFound, sentences } from "../errors.ts";
import { nearNames } from "@plugboard/shared/near-names";
import type { ChatJson } from "../model/shapes.ts";
import type { ChatType } from "../model/source.ts";
import type { ChatState, ChatStore, Page, SourceTotals, StoredChat, StoredMessage } from "../model/store-port.ts";
import { parseTime, type Clock } from "../model/times.ts";
import type { ConfiguredSource, SourceView } from "../sources/sources.ts";
import type { Policy } from "./policy.ts";
import type { Presenter } from "./presenter.ts";

export interface ChatArgs {
  readonly source?: string | undefined;
  readonly type?: ChatType | undefined;
  readonly namePattern?: string | undefined;
  readonly activeSince?: string | undefined;
  /** Chats with unread messages, or without. Both leave out chats whose state is unknown. */
  readonly unread?: boolean | undefined;
  readonly awaitingReply?: boolean | undefined;
  readonly limit: number;
  readonly cursor?: string | undefined;
  readonly allowStale?: boolean | undefined;
}

export interface ReaderOptions {
  readonly store: ChatStore;
  readonly sources: SourceView;
  /** Time limit of a search for one page. */
  readonly searchMs: number;
}

/** Chats whose names are compared with a misspelt one, the latest active first. */
const MAX_COMPARED = 5000;
const MAX_NEAR_NAMES = 3;

export class Reader {
  readonly #options: ReaderOptions;
  #policy: Policy;

  constructor(options: ReaderOptions, policy: Policy) {
    this.#options = options;
    this.#policy = policy;
  }

  /** The same for a client that sees less. It follows changes of the policy. */
  within(sources: SourceView, limit: (policy: Policy) => Policy): Reader {
    return new LimitedReader({ ...this.#options, sources }, this, limit);
  }

  /** Replaces the policy, from the next request on. */
  adopt(policy: Policy): void {
    this.#policy = policy;
  }

  get policy(): Policy {
    return this.#policy;
  }

  get presenter(): Presenter {
    return this.policy.presenter;
  }

  get clock(): Clock {
    return this.policy.clock;
  }

  /** Older messages are not shown. */
  get oldestShown(): number | undefined {
    return this.policy.visibility.oldest();
  }

  get sources(): SourceView {
    return this.#options.sources;
  }

  get store(): ChatStore {
    return this.#options.store;
  }

  get searchMs(): number {
    return this.#options.searchMs;
  }

  /** Throws if the source is not configured, or not connected and stored messages are not enough. */
  source(id: string, allowStale = false): ConfiguredSource {
    const found = this.sources.get(id);
    const state = this.sources.state(found.source.id);
    if (allowStale || this.policy.allowStale || state.status === "connected" || state.status === "connecting")
      return found;
    throw new ChatError(
      "SOURCE_NOT_CONNECTED",
      `Source '${id}' is not connected: ${sentences(state.message)} To connect: ${state.howToConnect}`,
      { field: "source", hint: "With allow_stale: true you get the stored messages" },
    );
  }

  /** Totals of the chats that are shown. */
  totals(source: string): SourceTotals {
    const { visibility } = this.policy;
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

  chats(args: ChatArgs): Page<StoredChat> {
    const { source, type, namePattern, activeSince, limit, cursor: given, allowStale } = args;
    const within = source === undefined ? undefined : this.source(source, allowStale).source.id;
    const since = activeSince === undefined ? undefined : parseTime(activeSince, "filter.active_since", this.clock);
    const found: StoredChat[] = [];
    let cursor = given;
    do {
      const page = this.store.chats({
        limit: limit - found.length,
        ...(within === undefined ? {} : { source: within }),
        ...(type === undefined ? {} : { type }),
        ...(namePattern === undefined ? {} : { namePattern }),
        ...(since === undefined ? {} : { activeSince: since }),
        ...(cursor === undefined ? {} : { cursor }),
      });
      found.push(...this.#shown(page.items).filter((chat) => this.#isInState(chat, args)));
      cursor = page.nextCursor;
    } while (cursor !== undefined && found.length < limit);
    return { items: found, ...(cursor === undefined ? {} : { nextCursor: cursor }) };
  }

  /** A chat as agents get it. */
  describe(chat: StoredChat): ChatJson {
    return this.presenter.chat(chat, this.#state(chat));
  }

  shows(chat: StoredChat): boolean {
    return this.#shown([chat]).length > 0;
  }

  /**
   * The chats that an id or name means. An id means one chat. A name means a group, or a person: then all private chats with
   * them, such as the user's own and the bot's. The first one represents all.
   */
  conversation(source: string | undefined, idOrName: string): readonly [StoredChat, ...StoredChat[]] {
    const within = source === undefined ? this.sources.ids : [this.sources.get(source).source.id];
    const found = within.flatMap((id) => this.#findChats(id, idOrName));
    const [first, ...others] = found;
    if (first === undefined) throw chatNotFound(idOrName, source, this.#nearNames(within, idOrName));
    const { person } = first;
    const isPerson = person !== null && others.every((other) => other.person === person);
    if (isPerson && (others.length > 0 || !hasId(first, idOrName))) {
      const sources = [...new Set(found.map((one) => one.source))];
      const [chat = first, ...rest] = this.#shown(sources.flatMap((id) => this.store.privateChats(id, person)));
      return [chat, ...rest];
    }
    if (others.length === 0) return [first];
    throw new ChatError("AMBIGUOUS_CHAT", `'${idOrName}' is the name of ${found.length} chats`, {
      field: "chat",
      hint: "Use the id of one of them, and its source",
      candidates: found.map(
        (chat) => `${this.presenter.chatId(chat)} (${chat.name}, ${chat.type}, source ${chat.source})`,
      ),
    });
  }

  /** The message with this id, in the first of the chats that has it. */
  message(chats: readonly [StoredChat, ...StoredChat[]], id: string): StoredMessage {
    const key = /^msg-(\d{1,15})$/.exec(id)?.[1];
    const byKey = key === undefined ? undefined : this.store.messageByKey(Number(key));
    for (const chat of chats) {
      const found = this.store.message(chat.key, id) ?? (byKey?.chat.key === chat.key ? byKey : undefined);
      if (found !== undefined && found.at >= (this.oldestShown ?? -Infinity)) return found;
    }
    throw new ChatError("MESSAGE_NOT_FOUND", `Message '${id}' not found in chat '${chats[0].name}'`, {
      field: "message_id",
    });
  }

  around(message: StoredMessage, before: number, after: number): readonly StoredMessage[] {
    const oldest = this.oldestShown ?? -Infinity;
    return this.store.around(message, before, after).filter(({ at }) => at >= oldest);
  }

  /** Oldest first. */
  thread(
    message: StoredMessage,
    limit: number,
  ): { readonly messages: readonly StoredMessage[]; readonly complete: boolean } {
    const oldest = this.oldestShown ?? -Infinity;
    const found = this.store.thread(message, limit + 1);
    const shown = found.slice(0, limit).filter(({ at }) => at >= oldest);
    return { messages: shown.toSorted((a, b) => a.at - b.at || a.key - b.key), complete: found.length <= limit };
  }

  #findChats(source: string, idOrName: string): readonly StoredChat[] {
    const found = this.#shown(this.store.findChats(source, idOrName));
    const key = /^chat-(\d{1,15})$/.exec(idOrName)?.[1];
    if (found.length > 0 || key === undefined) return found;
    const chat = this.store.chatByKey(Number(key));
    return chat?.source === source ? this.#shown([chat]) : [];
  }

  #nearNames(sources: readonly string[], given: string): readonly string[] {
    const names: string[] = [];
    for (const source of sources) {
      for (const chat of this.policy.visibility.chats(this.store, source)) {
        if (names.length >= MAX_COMPARED) break;
        if (this.shows(chat)) names.push(chat.name);
      }
    }
    return nearNames(given, names, MAX_NEAR_NAMES);
  }

  /** Those of configured sources that the rules allow and that have a message which is not too old. */
  #shown(chats: readonly StoredChat[]): readonly StoredChat[] {
    const { visibility } = this.policy;
    const oldest = visibility.oldest() ?? -Infinity;
    return chats.filter(
      (chat) =>
        this.sources.ids.includes(chat.source) &&
        visibility.shows(chat) &&
        (chat.newestAt === null || chat.newestAt >= oldest),
    );
  }

  #isInState(chat: StoredChat, { unread, awaitingReply }: ChatArgs): boolean {
    if (unread === undefined && awaitingReply === undefined) return true;
    const state = this.#state(chat);
    if (unread !== undefined && (state.unreadCount === null || state.unreadCount > 0 !== unread)) return false;
    return awaitingReply === undefined || state.awaitingReply === awaitingReply;
  }

  #state(chat: StoredChat): ChatState {
    return this.store.chatState(chat, this.oldestShown);
  }
}

class LimitedReader extends Reader {
  readonly #whole: Reader;
  readonly #limit: (policy: Policy) => Policy;
  #known: { readonly whole: Policy; readonly limited: Policy };

  constructor(options: ReaderOptions, whole: Reader, limit: (policy: Policy) => Policy) {
    const known = { whole: whole.policy, limited: limit(whole.policy) };
    super(options, known.limited);
    this.#whole = whole;
    this.#limit = limit;
    this.#known = known;
  }

  override get policy(): Policy {
    const { policy } = this.#whole;
    if (this.#known.whole !== policy) this.#known = { whole: policy, limited: this.#limit(policy) };
    return this.#known.limited;
  }
}

/** Whether this is an id of the chat, or the one that replaces a redacted id (presenter.ts). */
function hasId({ key, id, otherIds }: StoredChat, given: string): boolean {
  return id === given || otherIds.includes(given) || given === `chat-${key}`;
}
