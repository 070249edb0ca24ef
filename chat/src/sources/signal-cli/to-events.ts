// Converts envelopes of signal-cli to events. A message is identified by its author and send time.

import type {
  AttachmentKind,
  MessageKind,
  NativeAttachment,
  NativeMessage,
  NativePerson,
  SourceEvent,
} from "../../model/source.ts";
import type { Revisions } from "./revisions.ts";
import type { Attachment, Contact, DataMessage, Envelope, ReadMessage, Received, SentMessage } from "./wire.ts";

export interface ReceiveContext {
  /** The addresses of the account's owner: UUID and number. */
  readonly own: ReadonlySet<string>;
  readonly revisions: Revisions;
}

interface MessageContext {
  readonly author: string;
  readonly chat: string;
}

/** People who hide their number have only a UUID; old data has only the number. */
const identity = (
  uuid: string | null | undefined,
  ...others: readonly (string | null | undefined)[]
): string | undefined => [uuid, ...others].find((id) => id !== null && id !== undefined && id !== "") ?? undefined;

/** Id of the user, as in imports, since the export lacks the user's UUID. */
export const SELF = "self";

function idOf({ own }: Pick<ReceiveContext, "own">, ...addresses: Parameters<typeof identity>): string | undefined {
  const id = identity(...addresses);
  return id !== undefined && own.has(id) ? SELF : id;
}

export const messageId = (author: string, sentAt: number): string => `${author}:${sentAt}`;

export function toEvents({ envelope, exception }: Received, context: ReceiveContext): SourceEvent[] {
  if (envelope === null || envelope === undefined) return [];
  const author = idOf(context, envelope.sourceUuid, envelope.sourceNumber, envelope.source);
  if (author === undefined) return [];
  const events = eventsOf(envelope, author, context);
  if (events.length === 0 && exception !== null && exception !== undefined) {
    const messageContext = { author, chat: author };
    return [
      ...people(envelope, author, context),
      ...chatEvents(messageContext, envelope),
      unreadable(envelope, messageContext),
    ];
  }
  return events.length === 0 ? [] : [...people(envelope, author, context), ...events];
}

function eventsOf(envelope: Envelope, author: string, context: ReceiveContext): SourceEvent[] {
  const { dataMessage, editMessage, callMessage } = envelope;
  const sent = envelope.syncMessage?.sentMessage;
  if (sent !== null && sent !== undefined) return ownMessage(sent, envelope, author, context);
  const read = envelope.syncMessage?.readMessages;
  if (read !== null && read !== undefined) return readEvents(read, context);
  const payload = editMessage?.dataMessage ?? dataMessage;
  const messageContext = { author, chat: payload?.groupInfo?.groupId ?? author };
  if (editMessage !== null && editMessage !== undefined) {
    return edit(editMessage.targetSentTimestamp, editMessage.dataMessage, messageContext, context);
  }
  if (dataMessage !== null && dataMessage !== undefined) {
    const events = data(dataMessage, messageContext, context);
    return events.length === 0 ? [] : [...chatEvents(messageContext, envelope, dataMessage), ...events];
  }
  if (callMessage?.offerMessage === null || callMessage?.offerMessage === undefined) return [];
  const content = callMessage.offerMessage.type === "VIDEO_CALL" ? "Video call" : "Call";
  const message = { id: messageId(author, envelope.timestamp), chat: author, sender: author, at: envelope.timestamp };
  return [
    ...chatEvents(messageContext, envelope),
    { type: "message", message: { ...message, kind: "call", content }, origin: "live" },
  ];
}

/** Messages read on another device. The chat is not included; the store finds it by the message. */
function readEvents(read: readonly ReadMessage[], context: ReceiveContext): SourceEvent[] {
  return read.flatMap(({ sender, senderNumber, senderUuid, timestamp: at }): SourceEvent[] => {
    const author = idOf(context, senderUuid, senderNumber, sender);
    return author === undefined ? [] : [{ type: "read", id: messageId(author, at), at }];
  });
}

/** A message sent from another device. Group messages have no destination. */
function ownMessage(sent: SentMessage, envelope: Envelope, author: string, context: ReceiveContext): SourceEvent[] {
  const payload = sent.editMessage?.dataMessage ?? sent;
  const chat =
    payload.groupInfo?.groupId ??
    sent.groupInfo?.groupId ??
    idOf(context, sent.destinationUuid, sent.destinationNumber, sent.destination);
  if (chat === undefined) return [];
  const messageContext = { author, chat };
  if (sent.editMessage !== null && sent.editMessage !== undefined) {
    return edit(sent.editMessage.targetSentTimestamp, sent.editMessage.dataMessage, messageContext, context);
  }
  const timestamp = sent.timestamp ?? envelope.timestamp;
  const events = data({ ...sent, timestamp }, messageContext, context);
  return events.length === 0 ? [] : [...chatEvents(messageContext, envelope, { ...sent, timestamp }), ...events];
}

function people(envelope: Envelope, author: string, { own }: ReceiveContext): SourceEvent[] {
  const { sourceName: name, sourceNumber: phone } = envelope;
  return [{ type: "person", person: toPerson(author, { name, phone, own }) }];
}

function toPerson(
  id: string,
  { name, phone, own }: { name: string | null | undefined; phone: string | null | undefined; own: ReadonlySet<string> },
): NativePerson {
  const others = id === SELF ? [...own] : [phone ?? id].filter((other) => other !== id);
  return {
    id,
    ...(name === null || name === undefined || name === "" ? {} : { name }),
    ...(phone === null || phone === undefined ? {} : { phone }),
    ...(others.length === 0 ? {} : { sameAs: others }),
    ...(id === SELF ? { isSelf: true } : {}),
  };
}

function chatEvents(messageContext: MessageContext, envelope: Envelope, payload?: DataMessage): SourceEvent[] {
  const group = payload?.groupInfo;
  if (group !== null && group !== undefined) {
    const name = group.groupName ?? "";
    return [{ type: "chat", chat: { id: group.groupId, type: "group", ...(name === "" ? {} : { name }) } }];
  }
  if (messageContext.chat === SELF) return [{ type: "chat", chat: { id: SELF, type: "self", name: "Note to Self" } }];
  const name = messageContext.chat === messageContext.author ? (envelope.sourceName ?? "") : "";
  return [{ type: "chat", chat: { id: messageContext.chat, type: "direct", ...(name === "" ? {} : { name }) } }];
}

function edit(
  target: number,
  payload: DataMessage,
  { author, chat }: MessageContext,
  { revisions }: ReceiveContext,
): SourceEvent[] {
  const id = revisions.original(messageId(author, target));
  // A later edit, reaction or reply may name this revision.
  revisions.add(messageId(author, payload.timestamp), id);
  return [{ type: "edit", chat, id, content: wordsOf(payload), at: payload.timestamp }];
}

function data(payload: DataMessage, messageContext: MessageContext, context: ReceiveContext): SourceEvent[] {
  const { revisions } = context;
  const { reaction, remoteDelete, adminDelete } = payload;
  const { author, chat } = messageContext;
  if (reaction !== null && reaction !== undefined) {
    const target = idOf(context, reaction.targetAuthorUuid, reaction.targetAuthorNumber, reaction.targetAuthor);
    if (target === undefined) return [];
    const id = revisions.original(messageId(target, reaction.targetSentTimestamp));
    const removed = reaction.isRemove === true;
    return [{ type: "reaction", chat, id, by: author, emoji: reaction.emoji, removed, at: payload.timestamp }];
  }
  if (remoteDelete !== null && remoteDelete !== undefined) {
    return [
      {
        type: "delete",
        chat,
        ids: [revisions.original(messageId(author, remoteDelete.timestamp))],
        at: payload.timestamp,
      },
    ];
  }
  if (adminDelete !== null && adminDelete !== undefined) {
    const target = idOf(
      context,
      adminDelete.targetAuthorUuid,
      adminDelete.targetAuthorNumber,
      adminDelete.targetAuthor,
    );
    if (target === undefined) return [];
    return [
      {
        type: "delete",
        chat,
        ids: [revisions.original(messageId(target, adminDelete.targetSentTimestamp))],
        at: payload.timestamp,
      },
    ];
  }
  const message = toMessage(payload, messageContext, context);
  return message === undefined ? [] : [{ type: "message", message, origin: "live" }];
}

/** Undefined for messages between devices, such as a new profile key. */
function toMessage(
  payload: DataMessage,
  { author, chat }: MessageContext,
  context: ReceiveContext,
): NativeMessage | undefined {
  const kind = kindOf(payload);
  if (kind === undefined) return undefined;
  const { quote, attachments = [] } = payload;
  const quoted = idOf(context, quote?.authorUuid, quote?.authorNumber, quote?.author);
  const expiryS = payload.expiresInSeconds ?? 0;
  return {
    id: messageId(author, payload.timestamp),
    chat,
    at: payload.timestamp,
    kind,
    content: wordsOf(payload),
    ...(kind === "system" ? {} : { sender: author }),
    ...(quote === null || quote === undefined || quoted === undefined
      ? {}
      : { replyTo: context.revisions.original(messageId(quoted, quote.id)) }),
    ...(attachments === null || attachments.length === 0 ? {} : { attachments: attachments.map(toAttachment) }),
    // The timer starts when the message is read, which is not included, so the send time is used.
    ...(expiryS > 0 ? { expiresAt: (payload.expirationStartTimestamp ?? payload.timestamp) + expiryS * 1000 } : {}),
  };
}

function kindOf(payload: DataMessage): MessageKind | undefined {
  if (payload.isExpirationUpdate === true || payload.groupInfo?.type === "UPDATE") return "system";
  if (payload.pollCreate !== null && payload.pollCreate !== undefined) return "poll";
  if (payload.sticker !== null && payload.sticker !== undefined) return "sticker";
  if ((payload.contacts?.length ?? 0) > 0) return "contact";
  if ((payload.attachments?.length ?? 0) > 0 || payload.viewOnce === true) return "media";
  if (payload.payment !== null && payload.payment !== undefined) return "unsupported";
  return (payload.message ?? "") === "" ? undefined : "text";
}

function wordsOf(payload: DataMessage): string {
  const text = withMentions(payload);
  if (text !== "") return text;
  if (payload.isExpirationUpdate === true) return expiryText(payload.expiresInSeconds ?? 0);
  if (payload.groupInfo?.type === "UPDATE") return "The group was changed";
  const { pollCreate: poll, sticker, contacts } = payload;
  if (poll !== null && poll !== undefined)
    return [poll.question, ...poll.options.map((option) => `- ${option}`)].join("\n");
  if (sticker !== null && sticker !== undefined) return sticker.emoji ?? "";
  return (contacts ?? []).map(({ name }) => name?.display ?? name?.givenName ?? name?.given ?? "").join(", ");
}

const expiryText = (seconds: number): string =>
  seconds === 0 ? "Disappearing messages were switched off" : `Messages disappear after ${seconds} s`;

/** Replaces the placeholder of each mention. Positions are in UTF-16 units; from the end, so that they stay valid. */
function withMentions({ message, mentions }: DataMessage): string {
  let text = message ?? "";
  const backwards = (mentions ?? []).toSorted((a, b) => b.start - a.start);
  for (const { start, length, name, number, uuid } of backwards) {
    text = `${text.slice(0, start)}@${identity(name, number, uuid) ?? ""}${text.slice(start + length)}`;
  }
  return text;
}

function toAttachment({ contentType, filename, size, isVoiceNote, voiceNote }: Attachment): NativeAttachment {
  return {
    kind: isVoiceNote === true || voiceNote === true ? "voice" : attachmentKind(contentType ?? ""),
    available: false,
    ...(filename === null || filename === undefined ? {} : { name: filename }),
    ...(contentType === null || contentType === undefined ? {} : { mime: contentType }),
    ...(size === null || size === undefined ? {} : { size }),
  };
}

export function attachmentKind(mime: string): AttachmentKind {
  const [family] = mime.split("/");
  return family === "image" || family === "video" || family === "audio" ? family : "file";
}

function unreadable(envelope: Envelope, { author, chat }: MessageContext): SourceEvent {
  return {
    type: "message",
    origin: "live",
    message: {
      id: messageId(author, envelope.timestamp),
      chat,
      sender: author,
      at: envelope.timestamp,
      kind: "unsupported",
      content: "A message that signal-cli could not decrypt",
    },
  };
}

export function contactEvents(contacts: readonly Contact[], own: ReadonlySet<string>): SourceEvent[] {
  return contacts.flatMap(({ uuid, number: phone, username, name, profile }): SourceEvent[] => {
    const id = idOf({ own }, uuid, phone);
    if (id === undefined) return [];
    const known = identity(name, `${profile?.givenName ?? ""} ${profile?.familyName ?? ""}`.trim(), username);
    const person = toPerson(id, { name: known, phone, own });
    return [
      { type: "person", person: { ...person, ...(username === null || username === undefined ? {} : { username }) } },
    ];
  });
}
