// The port of the message store. Filters are resolved: times are numbers, chats are keys of the store.

import type { Range, Span } from "./unfetched.ts";
import type { AttachmentFile, AttachmentKind, ChatType, MessageKind, SourceEvent } from "./source.ts";

export interface StoredChat {
  /** The store's own key; `id` is the network's. */
  readonly key: number;
  readonly source: string;
  readonly id: string;
  readonly name: string;
  /** Other and former ids and names, which find the chat too. */
  readonly otherIds: readonly string[];
  readonly otherNames: readonly string[];
  /** Of a private chat: the key of the other person, the same in all sources. */
  readonly person: number | null;
  readonly type: ChatType;
  /** As the network reports it. */
  readonly participantCount: number | null;
  readonly messageCount: number;
  readonly oldestAt: number | null;
  readonly newestAt: number | null;
}

/** Unread messages of a chat are counted up to this number. */
export const MAX_UNREAD = 1000;

/** Values derived from a chat's messages. */
export interface ChatState {
  /** Members as the network reports them, else an estimate: the people who have written. Null if there is nothing to count. */
  readonly participants: { readonly count: number; readonly isEstimate: boolean } | null;
  /** Null if the source does not report what the user has read. */
  readonly unreadCount: number | null;
  /**
   * In a direct chat: the last message is not the user's. In a group: a message since the user's last one replies to or
   * mentions the user. Null if it is not known who the user is.
   */
  readonly awaitingReply: boolean | null;
}

export interface StoredSender {
  readonly id: string;
  readonly name: string;
  readonly isSelf: boolean;
  readonly isBot: boolean;
}

export interface StoredMessage {
  /** Grows with every message that is stored. */
  readonly key: number;
  readonly source: string;
  readonly id: string;
  readonly chat: { readonly key: number; readonly id: string; readonly name: string };
  /** Null for messages of the network itself. */
  readonly sender: StoredSender | null;
  readonly at: number;
  readonly editedAt: number | null;
  readonly kind: MessageKind;
  readonly content: string;
  readonly replyTo: {
    readonly id: string;
    /** Null if the message is not stored. */
    readonly sender: string | null;
    readonly preview: string | null;
    readonly at: number | null;
  } | null;
  readonly thread: string | null;
  readonly forwardedFrom: string | null;
  readonly reactions: readonly { readonly emoji: string; readonly count: number; readonly by: readonly string[] }[];
  readonly attachments: readonly {
    readonly kind: AttachmentKind;
    readonly name: string | null;
    readonly mime: string | null;
    readonly size: number | null;
    readonly durationS: number | null;
    readonly available: boolean;
    /** Null if it is not available. */
    readonly file: AttachmentFile | null;
  }[];
}

/**
 * `words`: all of them, in any order. `phrase`: in this order. `prefix`: beginnings of words. These use the index.
 * `contains`: all words, also inside longer words. `substring`: the exact text. These scan the messages.
 */
export const SEARCH_MODES = ["words", "phrase", "prefix", "contains", "substring"] as const;
export type SearchMode = (typeof SEARCH_MODES)[number];

export interface MessageFilter {
  /** Only these sources; absent: all. */
  readonly sources?: readonly string[];
  /** Only these chats, by key. */
  readonly chats?: readonly number[];
  /** Inclusive. */
  readonly since?: number;
  /** Exclusive. */
  readonly before?: number;
  /** Name, address, number or username of the sender; case and accents are ignored. */
  readonly sender?: string;
  readonly search?: string;
  readonly mode?: SearchMode;
  readonly includeSystem: boolean;
}

export interface MessageQuery extends MessageFilter {
  /** Newest first, or oldest first. */
  readonly order: "desc" | "asc";
  readonly limit: number;
  readonly offset?: number;
  /** Of the previous page; refused with other filters (INVALID_PARAMETER). */
  readonly cursor?: string;
}

export interface Page<T> {
  /** May be fewer than the limit, even none, before the last page: a search for parts of words scans a bounded number of messages. */
  readonly items: readonly T[];
  /** Absent after the last page. */
  readonly nextCursor?: string;
  /** The part of the offset that the next page still has to skip; absent if nothing is left. */
  readonly offset?: number;
}

export interface ChatQuery {
  readonly source?: string;
  readonly type?: ChatType;
  /** Part of the name, case and accents ignored; `*` and `?` are wildcards. */
  readonly namePattern?: string;
  readonly activeSince?: number;
  readonly limit: number;
  readonly cursor?: string;
}

export interface StoredPerson {
  readonly name: string;
  readonly isSelf: boolean;
  readonly addresses: readonly {
    readonly source: string;
    readonly id: string;
    /** The name in this source. */
    readonly name: string;
    readonly phone: string | null;
    readonly username: string | null;
  }[];
}

export interface SourceTotals {
  readonly chats: number;
  readonly messages: number;
  readonly oldestAt: number | null;
  readonly newestAt: number | null;
}

/** Messages between these times may be missing, in one chat or in all chats of the source (null). */
export interface StoredGap {
  readonly chat: number | null;
  readonly from: number;
  readonly to: number;
  readonly reason: string;
}

/** The additions of a commit. */
export interface ApplyResult {
  /** Keys of the added messages of origin `live`: subscribers are notified of these only. */
  readonly liveKeys: readonly number[];
  readonly messagesAdded: number;
}

/** The result of fetching one page of older messages. */
export type PageOutcome =
  | { readonly status: "fetched"; readonly reachedAt?: number }
  /** There was nothing to fetch. */
  | { readonly status: "complete" }
  | { readonly status: "failed"; readonly message: string };

/** A request of another process for a page of older messages: the newest that is unfetched within the range. */
export interface PageRequest extends Range {
  readonly key: number;
  readonly chat: number;
}

export interface ChatStore {
  /** Atomic, and idempotent. */
  apply(source: string, events: readonly SourceEvent[]): ApplyResult;
  checkpoint(source: string): Readonly<Record<string, string>>;
  totals(source: string): SourceTotals;
  /** The latest first. */
  gaps(source: string, limit: number): readonly StoredGap[];

  /** Spans of a chat that were not fetched from its network, newest last. */
  unfetched(chat: number): readonly Span[];
  /** Reads and writes in one commit, since another process may change the spans. */
  changeUnfetched(chat: number, change: (spans: readonly Span[]) => readonly Span[]): void;
  /** Whether any chat of the source has unfetched spans. */
  hasUnfetched(source: string): boolean;
  /** Leaves a request for the process that runs the sources, and returns its key. */
  requestPage(request: Omit<PageRequest, "key">, now: number): number;
  pageRequests(): readonly PageRequest[];
  answerPage(key: number, outcome: PageOutcome): void;
  /** Undefined until it is answered. */
  pageOutcome(key: number): PageOutcome | undefined;
  chatByKey(key: number): StoredChat | undefined;
  /** The highest key of a chat; 0 if there is none. */
  newestChat(): number;

  chats(query: ChatQuery): Page<StoredChat>;
  /** By id, then by exact name, then ignoring case. Several if the name is ambiguous. */
  findChats(source: string, idOrName: string): readonly StoredChat[];
  /** The private chats of a source with this person; the one with the person's own id first, then the latest active. */
  privateChats(source: string, person: number): readonly StoredChat[];
  /** Messages before `since` do not count as unread. */
  chatState(chat: StoredChat, since?: number): ChatState;
  participants(chat: number, limit: number): readonly StoredSender[];
  messages(query: MessageQuery): Page<StoredMessage>;
  message(chat: number, id: string): StoredMessage | undefined;
  messageByKey(key: number): StoredMessage | undefined;
  /** The neighbours on both sides and the message itself, oldest first. */
  around(message: StoredMessage, before: number, after: number): readonly StoredMessage[];
  /** The message itself and those linked to it by replies and threads, directly or not; nearest first. */
  thread(message: StoredMessage, limit: number): readonly StoredMessage[];
  /** Messages that were stored after this key, in that order. */
  after(key: number, filter: MessageFilter, limit: number): readonly StoredMessage[];
  newestKey(): number;
  people(text: string, limit: number): readonly StoredPerson[];

  /** Deletes messages whose sender has set an expiry time that has passed. Returns their number. */
  expire(now: number): number;
  close(): Promise<void>;
}
