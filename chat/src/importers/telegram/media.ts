// Media of a message: a photo or file, or content rendered as text (poll, location, contact).

import type { AttachmentKind, MessageKind, NativeAttachment } from "../../model/source.ts";
import { type Fields, fieldsOf, listOf, numberOf, textOf } from "../fields.ts";
import type { ExportFiles } from "../export-files.ts";
import { kindByMime } from "../mime.ts";
import { plainText } from "./text.ts";

export interface Media {
  readonly kind: MessageKind;
  /** Text put before the message's own. */
  readonly words?: string;
  readonly attachment?: NativeAttachment;
}

const MEDIA_TYPES: ReadonlyMap<string, AttachmentKind> = new Map<string, AttachmentKind>([
  ["sticker", "sticker"],
  ["voice_message", "voice"],
  ["audio_file", "audio"],
  ["video_message", "video"],
  ["video_file", "video"],
  ["animation", "video"],
]);

export function mediaOf(message: Fields, files: ExportFiles): Media | undefined {
  if (message["photo"] !== undefined) return { kind: "media", attachment: photo(message, files) };
  if (message["file"] !== undefined) return file(message, files);
  const poll = fieldsOf(message["poll"]);
  if (poll !== undefined) return { kind: "poll", words: pollWords(poll) };
  const contact = fieldsOf(message["contact_information"]);
  if (contact !== undefined) return { kind: "contact", words: contactWords(contact) };
  // Null for an expired live location.
  if (message["location_information"] !== undefined || message["place_name"] !== undefined) {
    return { kind: "location", words: placeWords(message) };
  }
  const words = otherWords(message);
  return words === undefined ? undefined : { kind: "media", words };
}

function photo(message: Fields, files: ExportFiles): NativeAttachment {
  return { kind: "image", ...stored(message["photo"], files), ...size(message["photo_file_size"]) };
}

function file(message: Fields, files: ExportFiles): Media {
  const mime = textOf(message["mime_type"]);
  const kind = MEDIA_TYPES.get(textOf(message["media_type"]) ?? "") ?? kindByMime(mime);
  const name = textOf(message["file_name"]);
  const duration = numberOf(message["duration_seconds"]);
  const attachment: NativeAttachment = {
    kind,
    ...stored(message["file"], files),
    ...size(message["file_size"]),
    ...(name !== undefined && { name }),
    ...(mime !== undefined && { mime }),
    ...(duration !== undefined && { durationS: duration }),
  };
  const words = kind === "sticker" ? textOf(message["sticker_emoji"]) : songWords(message);
  return { kind: kind === "sticker" ? "sticker" : "media", attachment, ...(words !== undefined && { words }) };
}

/** A path in the export, or in parentheses the reason why the file is missing. */
function stored(path: unknown, files: ExportFiles): Pick<NativeAttachment, "available" | "name" | "file"> {
  const text = textOf(path);
  if (text === undefined) return { available: false };
  const name = text.slice(text.lastIndexOf("/") + 1);
  const found = files.find(text);
  if (found !== undefined) return { available: true, name, file: found };
  return text.endsWith(")") ? { available: false } : { available: false, name };
}

function size(value: unknown): { size?: number } {
  const bytes = numberOf(value);
  return bytes === undefined ? {} : { size: bytes };
}

function songWords(message: Fields): string | undefined {
  const song = [message["performer"], message["title"]].map(textOf).filter((part) => part !== undefined);
  return song.length === 0 ? undefined : song.join(" – ");
}

function pollWords(poll: Fields): string {
  const answers = listOf(poll["answers"]).map((answer) => {
    const fields = fieldsOf(answer);
    return `- ${plainText(fields?.["text"])} (${numberOf(fields?.["voters"]) ?? 0})`;
  });
  return [plainText(poll["question"]), ...answers].join("\n");
}

function contactWords(contact: Fields): string {
  const parts = [contact["first_name"], contact["last_name"], contact["phone_number"]];
  return parts
    .map(textOf)
    .filter((part) => part !== undefined)
    .join(" ");
}

function placeWords(message: Fields): string {
  const point = fieldsOf(message["location_information"]);
  const latitude = numberOf(point?.["latitude"]);
  const longitude = numberOf(point?.["longitude"]);
  const where = latitude === undefined || longitude === undefined ? undefined : `${latitude},${longitude}`;
  return [textOf(message["place_name"]), textOf(message["address"]), where]
    .filter((part) => part !== undefined)
    .join(", ");
}

function otherWords(message: Fields): string | undefined {
  const game = textOf(message["game_title"]);
  if (game !== undefined) return game;
  const invoice = fieldsOf(message["invoice_information"]);
  if (invoice !== undefined) return textOf(invoice["title"]) ?? "Invoice";
  const todo = fieldsOf(message["todo_list"]);
  if (todo === undefined) return undefined;
  const items = listOf(todo["answers"] ?? todo["items"]).map((item) => `- ${plainText(fieldsOf(item)?.["text"])}`);
  return [plainText(todo["title"]), ...items].join("\n");
}
