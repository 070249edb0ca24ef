// What is asked of the store, and what it answers. Filters come parsed: times as numbers, chats as ids of the store.

import type { AttachmentKind, ChatType, MessageKind, SourceEvent } from "./source.ts";

export interface StoredChat {
  /** The store's own number; `id` is the network's. */
  readonly key: number;
  readonly source: string;
  readonly id: string;
  readonly name: string;
  readonly type: ChatType;
  readonly participantCount: number | null;
  readonly messageCount: number;
  readonly oldestAt: number | null;
  readonly newestAt: number | null;
}

export interface StoredSender {
  readonly id: string;
  readonly name: string;
  readonly isSelf: boolean;
  readonly isBot: boolean;
}

export interface StoredMessage {
  /** Grows with every message that is stored; cursors stand on (at, key). */
  readonly key: number;
  readonly source: string;
  readonly id: string;
  readonly chat: { readonly key: number; readonly id: string; readonly name: string };
  /** Absent for what the network itself says. */
  readonly sender: StoredSender | null;
  readonly at: number;
  readonly editedAt: number | null;
  readonly kind: MessageKind;
  readonly content: string;
  readonly replyTo: {
    readonly id: string;
    /** These where the message is stored. */
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
  }[];
}

export type SearchMode = "words" | "phrase" | "prefix" | "substring";

export interface MessageFilter {
  /** Only these sources; all where absent. */
  readonly sources?: readonly string[];
  /** Only these chats, by key. */
  readonly chats?: readonly number[];
  /** Inclusive. */
  readonly since?: number;
  /** Exclusive. */
  readonly before?: number;
  /** Name, address, number or username of who sent it; case and accents do not count. */
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
  /** From the page before; it is refused with other filters (INVALID_PARAMETER). */
  readonly cursor?: string;
}

export interface Page<T> {
  /** Fewer than the limit, even none, are not yet the end: a substring search looks at so many messages and no more. */
  readonly items: readonly T[];
  /** Absent after the last page. */
  readonly nextCursor?: string;
}

export interface ChatQuery {
  readonly source?: string;
  readonly type?: ChatType;
  /** A part of the name, case and accents do not count; `*` and `?` as wildcards. */
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

/** Messages between these times may be missing; in all chats of the source where no chat is told. */
export interface StoredGap {
  readonly chat: number | null;
  readonly from: number;
  readonly to: number;
  readonly reason: string;
}

/** What a commit added. Only messages of origin `live` are news; they are what subscribers are told. */
export interface Applied {
  readonly news: readonly StoredMessage[];
  readonly messagesAdded: number;
}

export interface ChatStore {
  /** All of it, or nothing. What is there already changes nothing. */
  apply(source: string, events: readonly SourceEvent[]): Applied;
  checkpoint(source: string): Readonly<Record<string, string>>;
  totals(source: string): SourceTotals;
  /** The latest first. */
  gaps(source: string, limit: number): readonly StoredGap[];

  chats(query: ChatQuery): Page<StoredChat>;
  /** By id, then by exact name, then without case: several where the name does not decide. */
  findChats(source: string, idOrName: string): readonly StoredChat[];
  participants(chat: number, limit: number): readonly StoredSender[];
  messages(query: MessageQuery): Page<StoredMessage>;
  message(chat: number, id: string): StoredMessage | undefined;
  /** So many on both sides, oldest first, with the message itself in the middle. */
  around(message: StoredMessage, before: number, after: number): readonly StoredMessage[];
  /** What it answers, what answers it and what shares its thread, and so on: the nearest first, itself included. */
  thread(message: StoredMessage, limit: number): readonly StoredMessage[];
  /** Messages with a key above this one, oldest first: what came since. */
  after(key: number, filter: MessageFilter, limit: number): readonly StoredMessage[];
  newestKey(): number;
  people(text: string, limit: number): readonly StoredPerson[];

  /** Forgets what its sender wanted gone by now. */
  expire(now: number): number;
  close(): Promise<void>;
}
