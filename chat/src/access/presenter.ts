// Converts stored data to what agents get, and redacts every text on the way, ids included. An id that contains something
// redacted is replaced by one of ours (`chat-7`), which the tools accept too.

import { ChatError } from "../errors.ts";
import { cleanName, cleanText } from "../model/lines.ts";
import type { ChatState, StoredChat, StoredMessage, StoredPerson } from "../model/store-port.ts";
import type { ChatJson, MessageJson, PersonJson } from "../model/shapes.ts";
import type { Zone } from "../model/zone.ts";

export interface TextRedactor {
  text(original: string): string;
}

export const NO_REDACTION: TextRedactor = { text: (original) => original };

export class Presenter {
  readonly #redactor: TextRedactor;
  readonly zone: Zone;
  /** Older messages are not shown, nor are quotes of them. */
  readonly #oldest: () => number | undefined;

  constructor(redactor: TextRedactor, zone: Zone, oldest: () => number | undefined) {
    this.#redactor = redactor;
    this.zone = zone;
    this.#oldest = oldest;
  }

  text(text: string): string {
    return this.#redactor.text(cleanText(text));
  }

  name(name: string): string {
    return this.#redactor.text(cleanName(name));
  }

  time(at: number): string {
    return this.zone.format(at);
  }

  chatId(chat: { readonly key: number; readonly id: string }): string {
    return this.#redactor.text(chat.id) === chat.id ? chat.id : `chat-${chat.key}`;
  }

  messageId(message: { readonly key: number; readonly id: string }): string {
    return this.#redactor.text(message.id) === message.id ? message.id : `msg-${message.key}`;
  }

  chat(chat: StoredChat, { participants, unreadCount, awaitingReply }: ChatState): ChatJson {
    return {
      id: this.chatId(chat),
      source: chat.source,
      name: this.name(chat.name),
      type: chat.type,
      participant_count: participants?.count ?? null,
      ...(participants?.isEstimate === true ? { participant_count_estimated: true } : {}),
      message_count: chat.messageCount,
      oldest_message_at: chat.oldestAt === null ? null : this.time(chat.oldestAt),
      last_message_at: chat.newestAt === null ? null : this.time(chat.newestAt),
      unread_count: unreadCount,
      awaiting_reply: awaitingReply,
    };
  }

  message(stored: StoredMessage): MessageJson {
    const message = this.redact(stored);
    const { sender, replyTo } = message;
    return {
      id: message.id,
      source: message.source,
      chat_id: message.chat.id,
      chat_name: message.chat.name,
      sender: sender === null ? null : sender.name,
      ...(sender === null ? {} : { sender_id: sender.id }),
      ...(sender?.isSelf === true ? { is_self: true } : {}),
      content: message.content,
      timestamp: this.time(message.at),
      ...(message.kind === "text" ? {} : { kind: message.kind }),
      ...(message.editedAt === null ? {} : { edited_at: this.time(message.editedAt) }),
      ...(replyTo === null
        ? {}
        : {
            reply_to: { id: replyTo.id, ...present("sender", replyTo.sender), ...present("preview", replyTo.preview) },
          }),
      ...present("thread_id", message.thread),
      ...present("forwarded_from", message.forwardedFrom),
      ...(message.reactions.length === 0
        ? {}
        : {
            reactions: message.reactions.map(({ emoji, count, by }) => ({
              emoji,
              count,
              ...(by.length === 0 ? {} : { by: [...by] }),
            })),
          }),
      ...(message.attachments.length === 0
        ? {}
        : {
            attachments: message.attachments.map(({ kind, name, mime, size, durationS, available }) => ({
              kind,
              ...present("name", name),
              ...present("mime", mime),
              ...present("size", size),
              ...present("duration_s", durationS),
              available,
            })),
          }),
    };
  }

  /** The message with every text redacted, for the text form. */
  redact(message: StoredMessage): StoredMessage {
    const { sender } = message;
    return {
      ...message,
      id: this.messageId(message),
      chat: { key: message.chat.key, id: this.chatId(message.chat), name: this.name(message.chat.name) },
      sender: sender === null ? null : { ...sender, id: this.name(sender.id), name: this.name(sender.name) },
      content: this.text(message.content),
      replyTo: message.replyTo === null ? null : this.#quote(message.replyTo),
      thread: message.thread === null ? null : this.name(message.thread),
      forwardedFrom: message.forwardedFrom === null ? null : this.name(message.forwardedFrom),
      reactions: message.reactions.map(({ emoji, count, by }) => ({
        emoji: this.name(emoji),
        count,
        by: by.map((name) => this.name(name)),
      })),
      attachments: message.attachments.map((attachment) => ({
        ...attachment,
        name: attachment.name === null ? null : this.name(attachment.name),
        mime: attachment.mime === null ? null : this.name(attachment.mime),
      })),
    };
  }

  #quote({ id, sender, preview, at }: Quote): Quote {
    const isShown = at !== null && at >= (this.#oldest() ?? -Infinity);
    return {
      id: this.name(id),
      sender: sender === null || !isShown ? null : this.name(sender),
      preview: preview === null || !isShown ? null : this.text(preview),
      at,
    };
  }

  person(person: StoredPerson): PersonJson {
    return {
      name: this.name(person.name),
      is_self: person.isSelf,
      addresses: person.addresses.map(({ source, id, phone, username }) => ({
        source,
        id: this.name(id),
        ...(phone === null ? {} : { phone: this.name(phone) }),
        ...(username === null ? {} : { username: this.name(username) }),
      })),
    };
  }

  /** Errors quote names and texts, so they are redacted too. */
  error({ code, message, details }: ChatError): ChatErrorJson {
    return {
      code,
      message: this.text(message),
      ...present("field", details.field),
      ...(details.hint === undefined ? {} : { hint: this.text(details.hint) }),
      ...(details.candidates === undefined ? {} : { candidates: details.candidates.map((name) => this.name(name)) }),
      ...present("retry_after_s", details.retry_after_s),
    };
  }
}

type Quote = NonNullable<StoredMessage["replyTo"]>;

export interface ChatErrorJson {
  readonly code: string;
  readonly message: string;
  readonly field?: string;
  readonly hint?: string;
  readonly candidates?: readonly string[];
  readonly retry_after_s?: number;
}

function present<N extends string, T>(name: N, value: T | null | undefined): { [key in N]?: T } {
  // eslint-disable-next-line typescript/no-unsafe-type-assertion -- TypeScript widens a computed key to string
  return (value === null || value === undefined ? {} : { [name]: value }) as { [key in N]?: T };
}
