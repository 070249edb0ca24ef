// One message of the export as one of ours. Its time is its id.

import type { MessageKind, NativeAttachment, NativeMessage, NativeReaction } from "../../source.ts";
import { type Fields, fieldsOf, idOf, listOf, numberOf, textOf, timeOf } from "../fields.ts";
import { kindByMime } from "../mime.ts";
import type { Directory } from "./directory.ts";
import { plainText } from "./text.ts";

/** What people and bots write; the other subtypes are said by Slack. */
const WRITTEN: readonly string[] = ["bot_message", "file_share", "me_message", "thread_broadcast", "reply_broadcast"];

/** The message, or what is wrong with it. */
export function toMessage(fields: Fields, chat: string, directory: Directory): NativeMessage | string {
  const id = idOf(fields["ts"]);
  const at = secondsOf(fields["ts"]);
  if (id === undefined || at === undefined) return "a message without a time";
  const attachments = listOf(fields["files"]).flatMap(fileOf);
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
    content: plainText(textOf(fields["text"]) ?? "", (user) => directory.nameOf(user)),
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

function fileOf(file: unknown): NativeAttachment[] {
  const fields = fieldsOf(file);
  if (fields === undefined) return [];
  const name = textOf(fields["name"]);
  const mime = textOf(fields["mimetype"]);
  const size = numberOf(fields["size"]);
  const attachment = {
    kind: kindByMime(mime),
    ...(name !== undefined && { name }),
    ...(mime !== undefined && { mime }),
    ...(size !== undefined && { size }),
    available: false,
  };
  return [attachment];
}

function reactionsOf(reaction: unknown): NativeReaction[] {
  const fields = fieldsOf(reaction);
  const name = textOf(fields?.["name"]);
  if (fields === undefined || name === undefined) return [];
  const emoji = `:${name}:`;
  const told = listOf(fields["users"]).flatMap((user) => {
    const by = textOf(user);
    return by === undefined ? [] : [{ emoji, by }];
  });
  const others = (numberOf(fields["count"]) ?? 0) - told.length;
  return others > 0 ? [...told, { emoji, count: others }] : told;
}
