// Kind, text and attachments of a chat item.

import type { MessageKind, NativeAttachment } from "../../model/source.ts";
import { type Fields, fieldsOf, listOf, numberOf, textOf } from "../fields.ts";
import { kindByMime } from "../mime.ts";
import type { SignalFiles } from "./files.ts";
import type { Recipients } from "./recipients.ts";
import { isCall, updateWords } from "./updates.ts";

export interface ItemContent {
  readonly kind: MessageKind;
  readonly content: string;
  readonly attachments?: readonly NativeAttachment[];
  /** The part with reactions and quote. */
  readonly body: Fields;
}

/** "deleted" if the author or an admin deleted the message. */
export function contentOf(item: Fields, context: ContentContext): ItemContent | "deleted" {
  if (item["remoteDeletedMessage"] !== undefined || item["adminDeletedMessage"] !== undefined) return "deleted";
  for (const [name, read] of READERS) {
    const body = fieldsOf(item[name]);
    if (body !== undefined) return { body, ...read(body, context) };
  }
  return { kind: "unsupported", content: "", body: {} };
}

export interface ContentContext {
  readonly recipients: Recipients;
  readonly files: SignalFiles;
}

type Reader = (body: Fields, context: ContentContext) => Omit<ItemContent, "body">;

const READERS: readonly (readonly [name: string, read: Reader])[] = [
  ["standardMessage", standard],
  ["contactMessage", (body) => ({ kind: "contact", content: contactWords(fieldsOf(body["contact"]) ?? {}) })],
  ["stickerMessage", sticker],
  ["updateMessage", (body) => ({ kind: isCall(body) ? "call" : "system", content: updateWords(body) })],
  ["paymentNotification", (body) => ({ kind: "unsupported", content: paymentWords(body) })],
  ["giftBadge", () => ({ kind: "unsupported", content: "A gift badge" })],
  ["viewOnceMessage", viewOnce],
  ["directStoryReplyMessage", storyReply],
  ["poll", (body) => ({ kind: "poll", content: pollWords(body) })],
];

function standard(body: Fields, { recipients, files }: ContentContext): Omit<ItemContent, "body"> {
  const attachments = listOf(body["attachments"]).flatMap((attachment) => attachmentOf(fieldsOf(attachment), files));
  const content = textWithMentions(fieldsOf(body["text"]), recipients);
  return attachments.length === 0 ? { kind: "text", content } : { kind: "media", content, attachments };
}

/** Replaces the placeholder of each mention by the name. Ranges are in UTF-16 units, like JavaScript strings. */
export function textWithMentions(text: Fields | undefined, recipients: Recipients): string {
  const body = textOf(text?.["body"]) ?? "";
  const mentions = listOf(text?.["bodyRanges"]).flatMap((range) => {
    const fields = fieldsOf(range);
    const start = numberOf(fields?.["start"]) ?? 0;
    const length = numberOf(fields?.["length"]) ?? 0;
    return fields?.["mentionAci"] === undefined ? [] : [{ start, end: start + length, aci: fields["mentionAci"] }];
  });
  let whole = "";
  let from = 0;
  for (const { start, end, aci } of mentions.toSorted((one, other) => one.start - other.start)) {
    // Skip overlapping ranges and ranges beyond the text.
    if (start < from || end <= start || end > body.length) continue;
    whole += `${body.slice(from, start)}@${recipients.nameOf(aci)}`;
    from = end;
  }
  return whole + body.slice(from);
}

function sticker(body: Fields, { files }: ContentContext): Omit<ItemContent, "body"> {
  const fields = fieldsOf(body["sticker"]);
  const pointer = fieldsOf(fields?.["data"]);
  return {
    kind: "sticker",
    content: textOf(fields?.["emoji"]) ?? "",
    attachments: [{ ...pointerOf(pointer, files), kind: "sticker" }],
  };
}

function viewOnce(body: Fields, { files }: ContentContext): Omit<ItemContent, "body"> {
  const attachments = attachmentOf(fieldsOf(body["attachment"]), files);
  return { kind: "media", content: "", ...(attachments.length > 0 && { attachments }) };
}

function storyReply(body: Fields, { recipients }: ContentContext): Omit<ItemContent, "body"> {
  const text = textWithMentions(fieldsOf(fieldsOf(body["textReply"])?.["text"]), recipients);
  return { kind: "text", content: text === "" ? (textOf(body["emoji"]) ?? "") : text };
}

function attachmentOf(attachment: Fields | undefined, files: SignalFiles): readonly NativeAttachment[] {
  if (attachment === undefined) return [];
  const pointer = fieldsOf(attachment["pointer"]);
  const kind = isFlag(attachment["flag"], "VOICE_MESSAGE", 1) ? "voice" : kindByMime(textOf(pointer?.["contentType"]));
  return [{ ...pointerOf(pointer, files), kind }];
}

function pointerOf(pointer: Fields | undefined, files: SignalFiles): Omit<NativeAttachment, "kind"> {
  const name = textOf(pointer?.["fileName"]);
  const mime = textOf(pointer?.["contentType"]);
  const locator = fieldsOf(pointer?.["locatorInfo"]);
  const size = numberOf(locator?.["size"]);
  const file = locator === undefined ? undefined : files.of(locator);
  return {
    ...(name !== undefined && { name }),
    ...(mime !== undefined && { mime }),
    ...(size !== undefined && { size }),
    available: file !== undefined,
    ...(file !== undefined && { file }),
  };
}

/** proto3 JSON writes the name of an enum value, or its number if the writer does not know it. */
function isFlag(value: unknown, name: string, number: number): boolean {
  return value === name || value === number;
}

function contactWords(contact: Fields): string {
  const name = fieldsOf(contact["name"]) ?? {};
  const names = ["prefix", "givenName", "middleName", "familyName", "suffix"].map((part) => textOf(name[part]));
  const values = [...listOf(contact["number"]), ...listOf(contact["email"])].map((one) =>
    textOf(fieldsOf(one)?.["value"]),
  );
  const parts = [...names, textOf(contact["organization"]), ...values];
  return parts.filter((part) => part !== undefined).join(" ");
}

function paymentWords(payment: Fields): string {
  const amount = textOf(payment["amountMob"]);
  const note = textOf(payment["note"]);
  return [amount === undefined ? "A payment" : `A payment of ${amount} MOB`, note].filter(Boolean).join(": ");
}

function pollWords(poll: Fields): string {
  const options = listOf(poll["options"]).map((option) => {
    const fields = fieldsOf(option);
    return `- ${textOf(fields?.["option"]) ?? ""} (${listOf(fields?.["votes"]).length})`;
  });
  return [textOf(poll["question"]) ?? "", ...options].join("\n");
}
