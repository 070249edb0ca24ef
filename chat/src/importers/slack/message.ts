// Converts a message of the export. Its timestamp is its id.

import type {
  AttachmentFile,
  MessageKind,
  NativeAttachment,
  NativeMessage,
  NativeReaction,
} from "../../model/source.ts";
import { type Fields, fieldsOf, idOf, listOf, numberOf, textOf, timeOf } from "../fields.ts";
import { kindByMime } from "../mime.ts";
import type { Directory } from "./directory.ts";
import { plainText } from "./markup.ts";
import { messageText } from "./message-text.ts";

/** Subtypes written by people and bots; the others are system messages. */
const WRITTEN: readonly string[] = ["bot_message", "file_share", "me_message", "thread_broadcast", "reply_broadcast"];

export interface MessageContext {
  readonly chat: string;
  readonly directory: Directory;
  /** Finds an uploaded file by id and name; Slack's own export contains only links. */
  readonly fileOf: (id: string, name: string) => AttachmentFile | undefined;
}

/** The message, or the reason why it is skipped. */
export function toMessage(fields: Fields, { chat, directory, fileOf }: MessageContext): NativeMessage | string {
  const id = idOf(fields["ts"]);
  const at = secondsOf(fields["ts"]);
  if (id === undefined || at === undefined) return "a message without a time";
  const attachments = listOf(fields["files"]).flatMap((file) => attachmentOf(file, fileOf));
  const kind = kindOf(fields, attachments.length);
  const sender = senderOf(fields);
  const editedAt = secondsOf(fieldsOf(fields["edited"])?.["ts"]);
  const thread = idOf(fields["thread_ts"]);
  const reactions = listOf(fields["reactions"]).flatMap(reactionsOf);
  return {
    id,
    chat,
    at,
    kind,
    content: plainText(messageText(fields), (user) => directory.nameOf(user)),
    ...(kind !== "system" && sender !== undefined && { sender }),
    ...(editedAt !== undefined && { editedAt }),
    ...(thread !== undefined && { thread }),
    ...(thread !== undefined && thread !== id && { replyTo: thread }),
    ...(reactions.length > 0 && { reactions }),
    ...(attachments.length > 0 && { attachments }),
  };
}

export function senderOf(fields: Fields): string | undefined {
  return idOf(fields["user"]) ?? idOf(fields["bot_id"]) ?? idOf(fields["username"]);
}

/** `1736758860.000100` */
function secondsOf(ts: unknown): number | undefined {
  const seconds = numberOf(ts);
  return seconds === undefined ? undefined : timeOf(seconds * 1000);
}

function kindOf(fields: Fields, files: number): MessageKind {
  const subtype = textOf(fields["subtype"]);
  if (subtype !== undefined && !WRITTEN.includes(subtype)) return "system";
  return files > 0 ? "media" : "text";
}

function attachmentOf(file: unknown, fileOf: MessageContext["fileOf"]): NativeAttachment[] {
  const fields = fieldsOf(file);
  if (fields === undefined) return [];
  const name = textOf(fields["name"]);
  const mime = textOf(fields["mimetype"]);
  const size = numberOf(fields["size"]);
  const id = idOf(fields["id"]);
  const stored = id === undefined || name === undefined ? undefined : fileOf(id, name);
  const attachment = {
    kind: kindByMime(mime),
    ...(name !== undefined && { name }),
    ...(mime !== undefined && { mime }),
    ...(size !== undefined && { size }),
    available: stored !== undefined,
    ...(stored !== undefined && { file: stored }),
  };
  return [attachment];
}

function reactionsOf(reaction: unknown): NativeReaction[] {
  const fields = fieldsOf(reaction);
  const name = textOf(fields?.["name"]);
  if (fields === undefined || name === undefined) return [];
  const emoji = `:${name}:`;
  const named = listOf(fields["users"]).flatMap((user) => {
    const by = textOf(user);
    return by === undefined ? [] : [{ emoji, by }];
  });
  const others = (numberOf(fields["count"]) ?? 0) - named.length;
  return others > 0 ? [...named, { emoji, count: others }] : named;
}
