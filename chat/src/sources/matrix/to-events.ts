// Converts room events to events.

import type { AttachmentKind, MessageKind, MessageOrigin, NativeAttachment, SourceEvent } from "../../model/source.ts";
import type { Rooms } from "./rooms.ts";
import { wire, type Event } from "./wire.ts";

export const ENCRYPTED = "An encrypted message: this source reads only rooms without encryption";

/** Id of the message that this one replaces, if any. */
export function replacedBy({ type, content }: Event): string | undefined {
  const relation = content["m.relates_to"];
  return type === "m.room.message" && relation?.rel_type === "m.replace" ? relation.event_id : undefined;
}

export function toEvents(event: Event, chat: string, rooms: Rooms, origin: MessageOrigin): SourceEvent[] {
  const { event_id: id, sender, origin_server_ts: at, type } = event;
  if (type === "m.room.redaction") return redaction(event, chat, rooms);
  if (type === "m.reaction") return reaction(event, chat, rooms);
  const replaced = replacedBy(event);
  // Only the sender may edit a message. An edit of an unknown message is stored as a message.
  if (replaced !== undefined && rooms.senderOf(replaced) === sender) {
    return [{ type: "edit", chat, id: replaced, content: event.content["m.new_content"]?.body ?? "", at }];
  }
  const [kind, content] = wordsOf(event, chat, rooms);
  if (kind === undefined) return [];
  rooms.addSender(id, sender);
  const relation = event.content["m.relates_to"];
  const replyTo = relation?.["m.in-reply-to"]?.event_id;
  const thread = relation?.rel_type === "m.thread" ? relation.event_id : undefined;
  const attachment = attachmentOf(event);
  return [
    {
      type: "message",
      origin,
      message: {
        id,
        chat,
        at,
        kind,
        content,
        ...(kind === "system" ? {} : { sender }),
        ...(replyTo === undefined ? {} : { replyTo }),
        ...(thread === undefined ? {} : { thread }),
        ...(attachment === undefined ? {} : { attachments: [attachment] }),
      },
    },
  ];
}

/** Public and private read receipts of the user. */
export function readEvents(raw: unknown, chat: string, self: string): SourceEvent[] {
  const receipts = wire.receipts.safeParse(raw);
  if (!receipts.success) return [];
  return Object.entries(receipts.data.content).flatMap(([id, byKind]) =>
    [byKind["m.read"]?.[self], byKind["m.read.private"]?.[self]].flatMap((receipt): SourceEvent[] => {
      if (receipt === undefined || (receipt.thread_id ?? "main") !== "main") return [];
      return [{ type: "read", chat, id, at: receipt.ts }];
    }),
  );
}

/** Redacting a reaction removes it. Newer room versions have the target in the content. */
function redaction(event: Event, chat: string, rooms: Rooms): SourceEvent[] {
  const target = event.redacts ?? event.content.redacts;
  if (target === undefined) return [];
  const taken = rooms.reactionOf(target);
  if (taken !== undefined) return [{ type: "reaction", ...taken, removed: true, at: event.origin_server_ts }];
  return [{ type: "delete", chat, ids: [target], at: event.origin_server_ts }];
}

function reaction(
  { event_id: own, sender, content, origin_server_ts: at }: Event,
  chat: string,
  rooms: Rooms,
): SourceEvent[] {
  const { event_id: id, key: emoji } = content["m.relates_to"] ?? {};
  if (id === undefined || emoji === undefined) return [];
  const given = { chat, id, by: sender, emoji };
  rooms.addReaction(own, given);
  return [{ type: "reaction", ...given, removed: false, at }];
}

const FILES: Readonly<Record<string, AttachmentKind>> = {
  "m.image": "image",
  "m.video": "video",
  "m.audio": "audio",
  "m.file": "file",
};

/** Undefined kind for events that are not messages; redacted ones have no content. */
function wordsOf(event: Event, chat: string, rooms: Rooms): [MessageKind | undefined, string] {
  const { type, content, sender } = event;
  const body =
    content["m.new_content"]?.body ??
    withoutQuotation(content.body ?? "", content["m.relates_to"]?.["m.in-reply-to"] !== undefined);
  switch (type) {
    case "m.room.message":
      if (content.msgtype === undefined) return [undefined, ""];
      if (content.msgtype === "m.emote") return ["text", `* ${rooms.nameOf(chat, sender)} ${body}`];
      if (content.msgtype === "m.location") return ["location", body];
      return [FILES[content.msgtype] === undefined ? "text" : "media", body];
    case "m.room.encrypted":
      return ["unsupported", ENCRYPTED];
    case "m.sticker":
      return ["sticker", body];
    case "m.call.invite":
      return ["call", "Call"];
    case "m.poll.start":
    case "org.matrix.msc3381.poll.start":
      return ["poll", body === "" ? "Poll" : body];
    case "m.room.member":
      return memberText(event, chat, rooms);
    default:
      return [undefined, ""];
  }
}

function memberText(
  { content, state_key: user = "", sender }: Event,
  chat: string,
  rooms: Rooms,
): [MessageKind | undefined, string] {
  const who = rooms.nameOf(chat, user);
  if (content.membership === "join") return ["system", `${who} joined`];
  if (content.membership !== "leave") return [undefined, ""];
  return ["system", sender === user ? `${who} left` : `${who} was removed by ${rooms.nameOf(chat, sender)}`];
}

/** Older clients prepend the quoted message, line by line. */
function withoutQuotation(body: string, isReply: boolean): string {
  return isReply && body.startsWith("> ") ? body.replace(/^(?:> [^\n]*(?:\n|$))+\n?/, "") : body;
}

function attachmentOf({ type, content }: Event): NativeAttachment | undefined {
  const kind = type === "m.sticker" ? "sticker" : FILES[content.msgtype ?? ""];
  if (kind === undefined) return undefined;
  const { mimetype, size, duration } = content.info ?? {};
  const name = content.filename ?? (type === "m.sticker" ? undefined : content.body);
  return {
    kind,
    available: false,
    ...(name === undefined ? {} : { name }),
    ...(mimetype === undefined ? {} : { mime: mimetype }),
    ...(size === undefined ? {} : { size }),
    ...(duration === undefined ? {} : { durationS: duration / 1000 }),
  };
}
