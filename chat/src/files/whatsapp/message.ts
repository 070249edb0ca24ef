// One entry of the export as a message of ours.

import type { NativeMessage } from "../../source.ts";
import { toUtc, type Zone } from "../../zone.ts";
import { carriedBy } from "./attachments.ts";
import { isSameName } from "./chat-name.ts";
import type { Entry } from "./entries.ts";
import type { MessageIds } from "./ids.ts";
import { kindOfPhrase, withoutEdited } from "./phrases.ts";
import type { Roles } from "./roles.ts";
import type { SenderStatistics } from "./senders.ts";
import { trimEnds } from "../../trim.ts";

export interface MessageContext {
  readonly chat: string;
  readonly roles: Roles;
  readonly senders: SenderStatistics;
  /** Names of the files beside the text, without folders. */
  readonly files: ReadonlySet<string>;
  readonly ids: MessageIds;
  readonly zone: Zone;
}

/** Where it stands in the file. */
export interface Position {
  readonly isFirst: boolean;
  readonly previousAt: number | undefined;
}

/** In place of the media, which differ between an export with them and one without. */
const MEDIA = "\0media\0";

export function toMessage(entry: Entry, context: MessageContext, position: Position): NativeMessage {
  const { roles, chat, ids } = context;
  const said = context.senders.split(entry.rest, (name) => roles.type === "direct" && isSameName(name, roles.name));
  const whole = [said.content, ...entry.more].join("\n");
  const at = context.zone.instant(entry.wall, position.previousAt);
  const wall = toUtc(entry.wall);
  if (
    said.sender === undefined ||
    said.sender === roles.voice ||
    (position.isFirst && isNotice(whole, context.files))
  ) {
    const content = trimEnds(whole, "\u200e");
    return { id: ids.next({ wallMs: wall, sender: undefined, text: content }), chat, at, kind: "system", content };
  }
  const { sender } = said;
  const { text, isEdited } = withoutEdited(whole);
  const carried = carriedBy(text, context.files);
  // When it was edited is not told, only that it was not before this.
  const edited = isEdited ? { editedAt: at } : {};
  if (carried !== undefined) {
    const id = ids.next({ wallMs: wall, sender, text: `${MEDIA}${carried.caption}` });
    const kind = carriedKind(carried.attachment.kind, carried.attachment.name);
    return { id, chat, sender, at, kind, content: carried.caption, attachments: [carried.attachment], ...edited };
  }
  const id = ids.next({ wallMs: wall, sender, text });
  return { id, chat, sender, at, kind: kindOfPhrase(text) ?? "text", content: text, ...edited };
}

/** The notice of encryption, which iOS puts first under the other's name. */
function isNotice(text: string, files: ReadonlySet<string>): boolean {
  return text.startsWith("\u200e") && carriedBy(text, files) === undefined;
}

function carriedKind(kind: string, name: string | undefined): NativeMessage["kind"] {
  if (kind === "sticker") return "sticker";
  return name?.toLowerCase().endsWith(".vcf") === true ? "contact" : "media";
}
