// Converts a message of the export.

import { decodeUri } from "@plugboard/shared/lenient";
import type {
  AttachmentKind,
  MessageKind,
  NativeAttachment,
  NativeMessage,
  NativeReaction,
} from "../../model/source.ts";
import type { ExportFiles } from "../export-files.ts";
import { type Fields, fieldsOf, idOf, isoTimeOf, listOf, numberOf, textOf } from "../fields.ts";

/** Types written by people; the others are system messages. */
const WRITTEN: readonly string[] = ["Default", "Reply", "ChatInputCommand", "ContextMenuCommand"];

/** The message, or the reason why it is skipped. */
export function toMessage(fields: Fields, chat: string, files: ExportFiles): NativeMessage | string {
  const id = idOf(fields["id"]);
  if (id === undefined) return "a message without an id";
  const at = isoTimeOf(fields["timestamp"]);
  if (at === undefined) return "a message without a time";
  const attachments = listOf(fields["attachments"]).flatMap((attachment) => attachmentOf(attachment, files));
  const stickers = listOf(fields["stickers"]).flatMap(stickerOf);
  const kind = kindOf(fields, attachments.length, stickers.length);
  const sender = idOf(fieldsOf(fields["author"])?.["id"]);
  const editedAt = isoTimeOf(fields["timestampEdited"]);
  const replyTo = idOf(fieldsOf(fields["reference"])?.["messageId"]);
  const reactions = listOf(fields["reactions"]).flatMap(reactionsOf);
  const all = [...attachments, ...stickers];
  return {
    id,
    chat,
    at,
    kind,
    content: textOf(fields["content"]) ?? embedWords(fields),
    ...(kind !== "system" && sender !== undefined && { sender }),
    ...(editedAt !== undefined && { editedAt }),
    ...(replyTo !== undefined && { replyTo }),
    ...(reactions.length > 0 && { reactions }),
    ...(all.length > 0 && { attachments: all }),
  };
}

function kindOf(fields: Fields, attachments: number, stickers: number): MessageKind {
  const type = textOf(fields["type"]) ?? "Default";
  if (type === "Call") return "call";
  if (!WRITTEN.includes(type)) return "system";
  if (stickers > 0) return "sticker";
  if (fieldsOf(fields["poll"]) !== undefined) return "poll";
  return attachments > 0 ? "media" : "text";
}

/** Text of embeds, which bots use instead of message text. */
function embedWords(fields: Fields): string {
  const words = listOf(fields["embeds"]).flatMap((embed) => {
    const { title, description } = fieldsOf(embed) ?? {};
    return [textOf(title), textOf(description)];
  });
  return words.filter((part) => part !== undefined).join("\n");
}

function attachmentOf(attachment: unknown, files: ExportFiles): NativeAttachment[] {
  const fields = fieldsOf(attachment);
  const name = textOf(fields?.["fileName"]);
  const url = textOf(fields?.["url"]);
  if (name === undefined && url === undefined) return [];
  const size = numberOf(fields?.["fileSizeBytes"]);
  // A relative path if the export includes media.
  const file = url === undefined || /^https?:/.test(url) ? undefined : files.findAny([url, decodeUri(url)]);
  return [
    {
      kind: kindOfFile(name ?? ""),
      ...(name !== undefined && { name }),
      ...(size !== undefined && { size }),
      available: file !== undefined,
      ...(file !== undefined && { file }),
    },
  ];
}

function kindOfFile(name: string): AttachmentKind {
  if (/\.(?:png|jpe?g|gif|webp|heic)$/i.test(name)) return "image";
  if (/\.(?:mp4|mov|webm|mkv)$/i.test(name)) return "video";
  if (/^voice-message\.ogg$/i.test(name)) return "voice";
  return /\.(?:mp3|ogg|wav|flac|m4a)$/i.test(name) ? "audio" : "file";
}

function stickerOf(sticker: unknown): NativeAttachment[] {
  const name = textOf(fieldsOf(sticker)?.["name"]);
  return name === undefined ? [] : [{ kind: "sticker", name, available: false }];
}

function reactionsOf(reaction: unknown): NativeReaction[] {
  const fields = fieldsOf(reaction);
  const emoji = textOf(fieldsOf(fields?.["emoji"])?.["name"]);
  if (fields === undefined || emoji === undefined) return [];
  const named = listOf(fields["users"]).flatMap((user) => {
    const by = idOf(fieldsOf(user)?.["id"]);
    return by === undefined ? [] : [{ emoji, by }];
  });
  const others = (numberOf(fields["count"]) ?? 0) - named.length;
  return others > 0 ? [...named, { emoji, count: others }] : named;
}
