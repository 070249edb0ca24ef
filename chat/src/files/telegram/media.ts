// What a message carries beside its text: a photo or file, or something that is told in words (a poll, a place, a contact).

import type { AttachmentKind, MessageKind, NativeAttachment } from "../../source.ts";
import { type Fields, fieldsOf, listOf, numberOf, textOf } from "../fields.ts";
import { kindByMime } from "../mime.ts";
import { plainText } from "./text.ts";

export interface Media {
  readonly kind: MessageKind;
  /** In words, where there are any; before the message's own text. */
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

export function mediaOf(message: Fields): Media | undefined {
  if (message["photo"] !== undefined) return { kind: "media", attachment: photo(message) };
  if (message["file"] !== undefined) return file(message);
  const poll = fieldsOf(message["poll"]);
  if (poll !== undefined) return { kind: "poll", words: pollWords(poll) };
  const contact = fieldsOf(message["contact_information"]);
  if (contact !== undefined) return { kind: "contact", words: contactWords(contact) };
  // Null where the place is not told any more.
  if (message["location_information"] !== undefined || message["place_name"] !== undefined) {
    return { kind: "location", words: placeWords(message) };
  }
  const words = otherWords(message);
  return words === undefined ? undefined : { kind: "media", words };
}

function photo(message: Fields): NativeAttachment {
  return { kind: "image", ...stored(message["photo"]), ...size(message["photo_file_size"]) };
}

function file(message: Fields): Media {
  const mime = textOf(message["mime_type"]);
  const kind = MEDIA_TYPES.get(textOf(message["media_type"]) ?? "") ?? kindByMime(mime);
  const name = textOf(message["file_name"]);
  const duration = numberOf(message["duration_seconds"]);
  const attachment: NativeAttachment = {
    kind,
    ...stored(message["file"]),
    ...size(message["file_size"]),
    ...(name !== undefined && { name }),
    ...(mime !== undefined && { mime }),
    ...(duration !== undefined && { durationS: duration }),
  };
  const words = kind === "sticker" ? textOf(message["sticker_emoji"]) : songWords(message);
  return { kind: kind === "sticker" ? "sticker" : "media", attachment, ...(words !== undefined && { words }) };
}

/** A path in the export; in parentheses, the reason why there is none. */
function stored(path: unknown): { readonly available: boolean; readonly name?: string } {
  const text = textOf(path);
  if (text === undefined || text.endsWith(")")) return { available: false };
  return { available: true, name: text.slice(text.lastIndexOf("/") + 1) };
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
