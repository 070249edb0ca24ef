// Converts a message of the export. Chats and people are left to the importer.

import type { NativeMessage } from "../../model/source.ts";
import { type Fields, idOf, numberOf, textOf, timeOf } from "../fields.ts";
import type { Zone } from "../../model/zone.ts";
import type { ExportFiles } from "../export-files.ts";
import { parseWallTime } from "../wall-clock.ts";
import { mediaOf } from "./media.ts";
import { DELETED_ACCOUNT, peerId } from "./peers.ts";
import { reactionsOf } from "./reactions.ts";
import { isCall, serviceWords } from "./service.ts";
import { plainText } from "./text.ts";

export interface MessageContext {
  readonly chat: string;
  readonly numberedBy: string | undefined;
  readonly zone: Zone;
  readonly files: ExportFiles;
  /** Time of the message before, used for messages without one. */
  readonly previousAt: number | undefined;
}

/** Content of messages that the export could not represent. */
const UNSUPPORTED = "A message that this version of Telegram could not export";

/** The message, or the reason why it is skipped. */
export function toMessage(fields: Fields, context: MessageContext): NativeMessage | string {
  const id = idOf(fields["id"]);
  if (id === undefined) return "a message without an id";
  const { chat, numberedBy } = context;
  const core = numberedBy === undefined ? { id, chat } : { id, chat, numberedBy };
  if (fields["type"] === "unsupported") {
    const at = context.previousAt;
    if (at === undefined) return "a message of an unknown kind, without a time";
    return { ...core, at, kind: "unsupported", content: UNSUPPORTED };
  }
  const at = timeIn(fields, "date", context);
  if (at === undefined) return "a message without a time";
  return fields["type"] === "service"
    ? service(fields, { ...core, at })
    : userMessage(fields, { ...core, at }, context);
}

type Core = Pick<NativeMessage, "id" | "chat" | "at" | "numberedBy">;

function service(fields: Fields, core: Core): NativeMessage {
  const content = serviceWords(fields);
  const actor = textOf(fields["actor_id"]);
  if (!isCall(fields)) return { ...core, kind: "system", content };
  return { ...core, kind: "call", content, ...(actor !== undefined && { sender: peerId(actor) }) };
}

/** Assigned field by field: spreading mostly absent fields took half of the time of an import. */
type Draft = { -readonly [Field in keyof NativeMessage]: NativeMessage[Field] };

function userMessage(fields: Fields, core: Core, context: MessageContext): NativeMessage {
  const media = mediaOf(fields, context.files);
  const text = plainText(fields["text"]);
  const message: Draft = { ...core, kind: media?.kind ?? "text", content: text };
  const sender = idOf(fields["from_id"]);
  if (sender !== undefined) message.sender = peerId(sender);
  if (media?.words !== undefined) message.content = [media.words, text].filter((part) => part !== "").join("\n");
  if (media?.attachment !== undefined) message.attachments = [media.attachment];
  const editedAt = timeIn(fields, "edited", context);
  // Old exports give every message an edit time in 1970.
  if (editedAt !== undefined && editedAt > core.at) message.editedAt = editedAt;
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

/** Exports before 2022 contain local times only. */
function timeIn(fields: Fields, name: "date" | "edited", { zone, previousAt }: MessageContext): number | undefined {
  const seconds = numberOf(fields[`${name}_unixtime`]);
  if (seconds !== undefined) return timeOf(seconds * 1000);
  const text = textOf(fields[name]);
  const wall = text === undefined ? undefined : parseWallTime(text);
  return wall === undefined ? undefined : timeOf(zone.instant(wall, previousAt));
}
