// From what signal-cli receives to events. A message is known by its author and the time at which it was sent.

import type {
  AttachmentKind,
  MessageKind,
  NativeAttachment,
  NativeMessage,
  NativePerson,
  SourceEvent,
} from "../../source.ts";
import type { Revisions } from "./revisions.ts";
import type { Attachment, Contact, DataMessage, Envelope, Received, SentMessage } from "./wire.ts";

export interface ReceiveContext {
  /** The addresses of the account's owner: UUID and number. */
  readonly own: ReadonlySet<string>;
  readonly revisions: Revisions;
}

/** Who said something, and where. */
interface Place {
  readonly author: string;
  readonly chat: string;
}

/** Somebody who hides the number is known by the UUID alone; in old data there is only the number. */
const identity = (
  uuid: string | null | undefined,
  ...others: readonly (string | null | undefined)[]
): string | undefined => [uuid, ...others].find((id) => id !== null && id !== undefined && id !== "") ?? undefined;

/** As the export has it, which does not tell the owner's UUID: so both are one. */
export const SELF = "self";

/** The id of somebody with these addresses. */
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
    const place = { author, chat: author };
    return [...people(envelope, author, context), ...chatEvents(place, envelope), unreadable(envelope, place)];
  }
  return events.length === 0 ? [] : [...people(envelope, author, context), ...events];
}

function eventsOf(envelope: Envelope, author: string, context: ReceiveContext): SourceEvent[] {
  const { dataMessage, editMessage, callMessage } = envelope;
  const sent = envelope.syncMessage?.sentMessage;
  if (sent !== null && sent !== undefined) return ownMessage(sent, envelope, author, context);
  const said = editMessage?.dataMessage ?? dataMessage;
  const place = { author, chat: said?.groupInfo?.groupId ?? author };
  if (editMessage !== null && editMessage !== undefined) {
    return edit(editMessage.targetSentTimestamp, editMessage.dataMessage, place, context);
  }
  if (dataMessage !== null && dataMessage !== undefined) {
    const events = data(dataMessage, place, context);
    return events.length === 0 ? [] : [...chatEvents(place, envelope, dataMessage), ...events];
  }
  if (callMessage?.offerMessage === null || callMessage?.offerMessage === undefined) return [];
  const content = callMessage.offerMessage.type === "VIDEO_CALL" ? "Video call" : "Call";
  const message = { id: messageId(author, envelope.timestamp), chat: author, sender: author, at: envelope.timestamp };
  return [
    ...chatEvents(place, envelope),
    { type: "message", message: { ...message, kind: "call", content }, origin: "live" },
  ];
}

/** What the owner said on another device. A group message has no destination. */
function ownMessage(sent: SentMessage, envelope: Envelope, author: string, context: ReceiveContext): SourceEvent[] {
  const said = sent.editMessage?.dataMessage ?? sent;
  const chat =
    said.groupInfo?.groupId ??
    sent.groupInfo?.groupId ??
    idOf(context, sent.destinationUuid, sent.destinationNumber, sent.destination);
  if (chat === undefined) return [];
  const place = { author, chat };
  if (sent.editMessage !== null && sent.editMessage !== undefined) {
    return edit(sent.editMessage.targetSentTimestamp, sent.editMessage.dataMessage, place, context);
  }
  const timestamp = sent.timestamp ?? envelope.timestamp;
  const events = data({ ...sent, timestamp }, place, context);
  return events.length === 0 ? [] : [...chatEvents(place, envelope, { ...sent, timestamp }), ...events];
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

function chatEvents(place: Place, envelope: Envelope, said?: DataMessage): SourceEvent[] {
  const group = said?.groupInfo;
  if (group !== null && group !== undefined) {
    const name = group.groupName ?? "";
    return [{ type: "chat", chat: { id: group.groupId, type: "group", ...(name === "" ? {} : { name }) } }];
  }
  if (place.chat === SELF) return [{ type: "chat", chat: { id: SELF, type: "self", name: "Note to Self" } }];
  const name = place.chat === place.author ? (envelope.sourceName ?? "") : "";
  return [{ type: "chat", chat: { id: place.chat, type: "direct", ...(name === "" ? {} : { name }) } }];
}

function edit(
  target: number,
  said: DataMessage,
  { author, chat }: Place,
  { revisions }: ReceiveContext,
): SourceEvent[] {
  const id = revisions.original(messageId(author, target));
  // A later edit, reaction or answer may name this revision.
  revisions.add(messageId(author, said.timestamp), id);
  return [{ type: "edit", chat, id, content: wordsOf(said), at: said.timestamp }];
}

function data(said: DataMessage, place: Place, context: ReceiveContext): SourceEvent[] {
  const { revisions } = context;
  const { reaction, remoteDelete, adminDelete } = said;
  const { author, chat } = place;
  if (reaction !== null && reaction !== undefined) {
    const target = idOf(context, reaction.targetAuthorUuid, reaction.targetAuthorNumber, reaction.targetAuthor);
    if (target === undefined) return [];
    const id = revisions.original(messageId(target, reaction.targetSentTimestamp));
    const removed = reaction.isRemove === true;
    return [{ type: "reaction", chat, id, by: author, emoji: reaction.emoji, removed, at: said.timestamp }];
  }
  if (remoteDelete !== null && remoteDelete !== undefined) {
    return [
      {
        type: "delete",
        chat,
        ids: [revisions.original(messageId(author, remoteDelete.timestamp))],
        at: said.timestamp,
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
        at: said.timestamp,
      },
    ];
  }
  const message = toMessage(said, place, context);
  return message === undefined ? [] : [{ type: "message", message, origin: "live" }];
}

/** Undefined for what only devices say to each other, such as a new profile key. */
function toMessage(said: DataMessage, { author, chat }: Place, context: ReceiveContext): NativeMessage | undefined {
  const kind = kindOf(said);
  if (kind === undefined) return undefined;
  const { quote, attachments = [] } = said;
  const quoted = idOf(context, quote?.authorUuid, quote?.authorNumber, quote?.author);
  const expiryS = said.expiresInSeconds ?? 0;
  return {
    id: messageId(author, said.timestamp),
    chat,
    at: said.timestamp,
    kind,
    content: wordsOf(said),
    ...(kind === "system" ? {} : { sender: author }),
    ...(quote === null || quote === undefined || quoted === undefined
      ? {}
      : { replyTo: context.revisions.original(messageId(quoted, quote.id)) }),
    ...(attachments === null || attachments.length === 0 ? {} : { attachments: attachments.map(toAttachment) }),
    // The timer runs from when it was read; that is not told here, so it runs from the start.
    ...(expiryS > 0 ? { expiresAt: (said.expirationStartTimestamp ?? said.timestamp) + expiryS * 1000 } : {}),
  };
}

function kindOf(said: DataMessage): MessageKind | undefined {
  if (said.isExpirationUpdate === true || said.groupInfo?.type === "UPDATE") return "system";
  if (said.pollCreate !== null && said.pollCreate !== undefined) return "poll";
  if (said.sticker !== null && said.sticker !== undefined) return "sticker";
  if ((said.contacts?.length ?? 0) > 0) return "contact";
  if ((said.attachments?.length ?? 0) > 0 || said.viewOnce === true) return "media";
  if (said.payment !== null && said.payment !== undefined) return "unsupported";
  return (said.message ?? "") === "" ? undefined : "text";
}

function wordsOf(said: DataMessage): string {
  const text = withMentions(said);
  if (text !== "") return text;
  if (said.isExpirationUpdate === true) return expiryText(said.expiresInSeconds ?? 0);
  if (said.groupInfo?.type === "UPDATE") return "The group was changed";
  const { pollCreate: poll, sticker, contacts } = said;
  if (poll !== null && poll !== undefined)
    return [poll.question, ...poll.options.map((option) => `- ${option}`)].join("\n");
  if (sticker !== null && sticker !== undefined) return sticker.emoji ?? "";
  return (contacts ?? []).map(({ name }) => name?.display ?? name?.givenName ?? name?.given ?? "").join(", ");
}

const expiryText = (seconds: number): string =>
  seconds === 0 ? "Disappearing messages were switched off" : `Messages disappear after ${seconds} s`;

/** A mention is one stand-in character, counted in UTF-16 as JavaScript does. From the end, so that places stay true. */
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

function unreadable(envelope: Envelope, { author, chat }: Place): SourceEvent {
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
