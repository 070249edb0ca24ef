// Recognises the placeholders that the app writes for media, calls and deleted messages. Unknown phrases stay text.

import type { AttachmentKind, MessageKind } from "../../model/source.ts";
import { ATTACHED, CALLS, DELETED, EDITED, LIVE_LOCATIONS, MISSED_CALLS, OMITTED } from "./phrase-lists.ts";

/** Left-to-right mark: iOS puts it before its own text and before attachments. */
export const MARK = "\u200e";

const MAX_PHRASE_CHARS = 150;
/** The longest notice is the one on disappearing messages; longer text that begins with the mark is typed. */
const MAX_NOTICE_CHARS = 400;

type OmittedKind = AttachmentKind | "contact";

const OMITTED_KINDS: ReadonlyMap<string, OmittedKind> = new Map(
  (["any", "image", "video", "audio", "voice", "sticker", "file", "contact"] as const).flatMap((kind) =>
    OMITTED[kind].map((phrase) => [phrase, kind === "any" ? "file" : kind] as const),
  ),
);

/** The kind of attachment that the line says was omitted. */
export function omittedKind(line: string): OmittedKind | undefined {
  if (line.length > MAX_PHRASE_CHARS) return undefined;
  return OMITTED_KINDS.get(bare(line));
}

export function isAttachmentPhrase(words: string): boolean {
  return ATTACHED.includes(bare(words));
}

/** The kind of a placeholder shown under a person's name. */
export function kindOfPhrase(text: string): MessageKind | undefined {
  if (/^\u200e?POLL:\n/.test(text)) return "poll";
  if (text.length > MAX_PHRASE_CHARS) return undefined;
  const phrase = bare(text);
  if (DELETED.includes(phrase)) return "system";
  // Some add the duration or call-back instructions after a comma.
  const [words = ""] = phrase.split(/[,.]/, 1);
  const isMarked = text.startsWith(MARK);
  if (MISSED_CALLS.includes(words) || (isMarked && CALLS.includes(words))) return "call";
  if (LIVE_LOCATIONS.includes(phrase)) return "location";
  if (isMarked && PLACE.test(text)) return "location";
  return /^[^:\n]{1,30}: https:\/\/maps\.google\.com\/\?q=[-\d.,]+$/.test(text.trim()) ? "location" : undefined;
}

/** iOS: name and address of a place, then a link. */
const PLACE = /: https:\/\/(?:maps\.google\.com|maps\.apple\.com|foursquare\.com)\/\S+$/;

/** A notice of iOS under a person's name: one line that begins with the mark. */
export function isNotice(text: string): boolean {
  return (
    text.startsWith(MARK) && text.length <= MAX_NOTICE_CHARS && !text.includes("\n") && kindOfPhrase(text) === undefined
  );
}

/** Strips the marker for edited messages at the end of the text. */
export function withoutEdited(text: string): { readonly text: string; readonly isEdited: boolean } {
  const trimmed = text.trimEnd();
  const from = trimmed.lastIndexOf("<");
  if (
    !trimmed.endsWith(">") ||
    trimmed.length - from > MAX_PHRASE_CHARS ||
    !EDITED.includes(bare(trimmed.slice(from)))
  ) {
    return { text, isEdited: false };
  }
  return {
    text: trimmed
      .slice(0, from)
      .replace(/\u200e$/, "")
      .trimEnd(),
    isEdited: true,
  };
}

function bare(text: string): string {
  return text
    .replaceAll(/[\u200e\u200f]/g, "")
    .trim()
    .replace(/^<\s?(.*?)\s?>$/, "$1")
    .replace(/\.$/, "")
    .toLowerCase();
}
