// One message of the export as one of ours. What is around it (whose chat, who is who) is left to the importer.

import type { NativeMessage } from "../../source.ts";
import { type Fields, idOf, numberOf, textOf, timeOf } from "../fields.ts";
import type { Zone } from "../../zone.ts";
import { parseWallTime } from "../wall-clock.ts";
import { mediaOf } from "./media.ts";
import { DELETED_ACCOUNT, peerId } from "./peers.ts";
import { reactionsOf } from "./reactions.ts";
import { isCall, serviceWords } from "./service.ts";
import { plainText } from "./text.ts";

export interface MessageContext {
  readonly chat: string;
  readonly zone: Zone;
  /** Of the message before: the only time there is for one that has none. */
  readonly previousAt: number | undefined;
}

/** The message, or what is wrong with it. */
export function toMessage(fields: Fields, context: MessageContext): NativeMessage | string {
  const id = idOf(fields["id"]);
  if (id === undefined) return "a message without an id";
  const { chat } = context;
  if (fields["type"] === "unsupported") {
    const at = context.previousAt;
    if (at === undefined) return "a message of an unknown kind, without a time";
    return { id, chat, at, kind: "unsupported", content: "" };
  }
  const at = timeIn(fields, "date", context);
  if (at === undefined) return "a message without a time";
  return fields["type"] === "service"
    ? service(fields, { id, chat, at })
    : userMessage(fields, { id, chat, at }, context);
}

interface Core {
  readonly id: string;
  readonly chat: string;
  readonly at: number;
}

function service(fields: Fields, core: Core): NativeMessage {
  const content = serviceWords(fields);
  const actor = textOf(fields["actor_id"]);
  if (!isCall(fields)) return { ...core, kind: "system", content };
  return { ...core, kind: "call", content, ...(actor !== undefined && { sender: peerId(actor) }) };
}

/** While it is put together; field by field, since spreading what is mostly absent took half of the time of an import. */
type Draft = { -readonly [Field in keyof NativeMessage]: NativeMessage[Field] };

function userMessage(fields: Fields, { id, chat, at }: Core, context: MessageContext): NativeMessage {
  const media = mediaOf(fields);
  const text = plainText(fields["text"]);
  const message: Draft = { id, chat, at, kind: media?.kind ?? "text", content: text };
  const sender = idOf(fields["from_id"]);
  if (sender !== undefined) message.sender = peerId(sender);
  if (media?.words !== undefined) message.content = [media.words, text].filter((part) => part !== "").join("\n");
  if (media?.attachment !== undefined) message.attachments = [media.attachment];
  const editedAt = timeIn(fields, "edited", context);
  // Old exports give all messages a time of editing, in 1970.
  if (editedAt !== undefined && editedAt > at) message.editedAt = editedAt;
  const replyTo = fields["reply_to_peer_id"] === undefined ? idOf(fields["reply_to_message_id"]) : undefined;
  if (replyTo !== undefined) message.replyTo = replyTo;
  const forwardedFrom = forwarded(fields);
  if (forwardedFrom !== undefined) message.forwardedFrom = forwardedFrom;
  if (fields["reactions"] !== undefined) message.reactions = reactionsOf(fields["reactions"], context.zone);
  return message;
}

function forwarded(fields: Fields): string | undefined {
  if (fields["forwarded_from"] !== undefined) return textOf(fields["forwarded_from"]) ?? DELETED_ACCOUNT;
  return textOf(fields["saved_from"]);
}

/** In seconds since 1970; in exports before 2022 only on the wall of who exported. */
function timeIn(fields: Fields, name: "date" | "edited", { zone, previousAt }: MessageContext): number | undefined {
  const seconds = numberOf(fields[`${name}_unixtime`]);
  if (seconds !== undefined) return timeOf(seconds * 1000);
  const text = textOf(fields[name]);
  const wall = text === undefined ? undefined : parseWallTime(text);
  return wall === undefined ? undefined : timeOf(zone.instant(wall, previousAt));
}
