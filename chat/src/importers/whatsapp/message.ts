// Converts an entry of the export to a message.

import type { NativeAttachment, NativeMessage } from "../../model/source.ts";
import { toUtc, type Zone } from "../../model/zone.ts";
import { carriedMedia, type FilesByName } from "./attachments.ts";
import { isSameName } from "./chat-name.ts";
import type { Entry } from "./entries.ts";
import type { MessageIds } from "./ids.ts";
import { isNotice, kindOfPhrase, MARK, withoutEdited } from "./phrases.ts";
import type { Participants } from "./participants.ts";
import type { SenderStatistics } from "./sender-statistics.ts";
import { trimEnds } from "@plugboard/shared/trim";

export interface MessageContext {
  readonly chat: string;
  readonly participants: Participants;
  readonly senders: SenderStatistics;
  readonly files: FilesByName;
  readonly ids: MessageIds;
  readonly zone: Zone;
  /** iOS: messages of the app itself begin with U+200E. */
  readonly hasMarks: boolean;
}

export interface Position {
  readonly isFirst: boolean;
  readonly previousAt: number | undefined;
}

/** Stands for media in the hash, since media references differ between exports with and without media. */
const MEDIA = "\0media\0";

export function toMessage(entry: Entry, context: MessageContext, position: Position): NativeMessage {
  const { participants, chat, ids } = context;
  const split = context.senders.split(
    entry.rest,
    (name) => participants.type === "direct" && isSameName(name, participants.name),
  );
  const fullContent = [split.content, ...entry.more].join("\n");
  const at = context.zone.instant(entry.wall, position.previousAt);
  const wall = toUtc(entry.wall);
  if (
    split.sender === undefined ||
    split.sender === participants.systemSender ||
    (position.isFirst && isOpening(fullContent, context.files))
  ) {
    const content = trimEnds(fullContent, MARK);
    return { id: ids.next({ wallMs: wall, sender: undefined, text: content }), chat, at, kind: "system", content };
  }
  const { sender } = split;
  const { text, isEdited } = withoutEdited(fullContent);
  const carried = carriedMedia(text, context.files);
  // The export marks edited messages without the time of the edit.
  const edited = isEdited ? { editedAt: at } : {};
  if (carried !== undefined) {
    const id = ids.next({ wallMs: wall, sender, text: `${MEDIA}${carried.caption}` });
    const kind = carriedKind(carried.attachment);
    return { id, chat, sender, at, kind, content: carried.caption, attachments: [carried.attachment], ...edited };
  }
  const id = ids.next({ wallMs: wall, sender, text });
  if (context.hasMarks && isNotice(text)) return { id, chat, at, kind: "system", content: withoutMarks(text) };
  const kind = kindOfPhrase(text);
  if (kind === undefined) return { id, chat, sender, at, kind: "text", content: text, ...edited };
  return { id, chat, sender, at, kind, content: withoutMarks(text), ...edited };
}

function withoutMarks(text: string): string {
  return text.replaceAll(MARK, "").trim();
}

/** The encryption notice, which iOS puts first under the other person's name. */
function isOpening(text: string, files: FilesByName): boolean {
  return text.startsWith(MARK) && carriedMedia(text, files) === undefined;
}

function carriedKind({ kind, name, mime }: NativeAttachment): NativeMessage["kind"] {
  if (kind === "sticker") return "sticker";
  return mime === "text/vcard" || name?.toLowerCase().endsWith(".vcf") === true ? "contact" : "media";
}
