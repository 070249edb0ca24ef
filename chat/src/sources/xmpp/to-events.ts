// Converts archived messages to events.

import { evictOldest } from "@plugboard/shared/evict";
import type { MessageKind, NativeAttachment, SourceEvent } from "../../model/source.ts";
import type { ArchivedMessage } from "./archive.ts";
import type { References } from "./references.ts";
import { attr, bare, NS, resource, senderId, type Element } from "./stanza.ts";

export interface Reader {
  /** The user's JID without resource. */
  readonly self: string;
  /** The room of the archive, and the user's nickname in it. */
  readonly room?: { readonly jid: string; readonly nick: string };
  readonly references: References;
  readonly reactions: Reactions;
  readonly origin: "live" | "backfill";
}

export interface MessageContext {
  readonly chat: string;
  readonly sender: string;
  readonly isSelf: boolean;
}

export function contextOf(message: Element, { self, room }: Pick<Reader, "self" | "room">): MessageContext | undefined {
  const from = attr(message, "from");
  const to = attr(message, "to") ?? self;
  if (room !== undefined) {
    return from === undefined ? undefined : { chat: room.jid, sender: from, isSelf: resource(from) === room.nick };
  }
  // Room messages are read from the room's archive.
  if (attr(message, "type") === "groupchat") return undefined;
  const sender = bare(from ?? self);
  return { chat: sender === self ? bare(to) : sender, sender, isSelf: sender === self };
}

/** Id of the message that this one refers to, if any. Resolved before conversion. */
export function referenceOf(message: Element): string | undefined {
  const target =
    message.getChild("replace", NS.correct) ?? retractionOf(message) ?? message.getChild("reactions", NS.reactions);
  return attr(target ?? message.getChild("reply", NS.reply), "id");
}

export function toEvents(archived: ArchivedMessage, messageContext: MessageContext, reader: Reader): SourceEvent[] {
  const { message, id, at } = archived;
  const { chat, sender } = messageContext;
  const { references } = reader;
  const corrected = attr(message.getChild("replace", NS.correct), "id");
  const original = corrected === undefined ? undefined : references.findOwn(chat, corrected, sender);
  // A correction of an unknown message is stored as a message.
  if (original !== undefined) return [{ type: "edit", chat, id: original, content: bodyOf(message), at }];
  const retraction = retractionOf(message);
  if (retraction !== undefined) return retract(retraction, archived, messageContext, reader);
  const reactions = message.getChild("reactions", NS.reactions);
  if (reactions !== undefined) return react(reactions, archived, messageContext, reader);
  const displayed = attr(message.getChild("displayed", NS.markers), "id");
  if (displayed !== undefined && messageContext.isSelf) {
    return [{ type: "read", chat, id: references.find(chat, displayed) ?? displayed, at }];
  }
  const [kind, content] = wordsOf(message);
  if (kind === undefined) return [];
  references.add(chat, { id, senderId: senderId(message), sender });
  const reply = attr(message.getChild("reply", NS.reply), "id");
  const thread = message.getChildText("thread");
  const attachments = attachmentsOf(message);
  return [
    {
      type: "message",
      origin: reader.origin,
      message: {
        id,
        chat,
        at,
        kind,
        content,
        ...(kind === "system" ? {} : { sender }),
        ...(reply === undefined ? {} : { replyTo: references.find(chat, reply) ?? reply }),
        ...(thread === null || thread === "" ? {} : { thread }),
        ...(attachments.length === 0 ? {} : { attachments }),
      },
    },
  ];
}

/** Both forms of XEP-0424. */
function retractionOf(message: Element): Element | undefined {
  const named = message.getChild("retract", NS.retract1);
  if (named !== undefined) return named;
  const fastened = message.getChild("apply-to", NS.fasten);
  return fastened?.getChild("retract", NS.retract0) === undefined ? undefined : fastened;
}

function retract(
  target: Element,
  { at }: ArchivedMessage,
  { chat, sender }: MessageContext,
  reader: Reader,
): SourceEvent[] {
  const named = attr(target, "id");
  if (named === undefined) return [];
  const { references, room } = reader;
  // Moderators retract in the room's own name.
  const isModerated = room !== undefined && sender === room.jid;
  const own = references.findOwn(chat, named, sender);
  const id = isModerated ? references.find(chat, named) : (own ?? ownByArchive(named, chat, sender, references));
  return id === undefined ? [] : [{ type: "delete", chat, ids: [id], at }];
}

/** In rooms a retraction may name the archive id, valid only from the same sender. */
function ownByArchive(named: string, chat: string, sender: string, references: References): string | undefined {
  return references.senderOf(chat, named) === sender ? named : undefined;
}

/** The stanza lists all current reactions of a sender; events contain the difference. */
function react(
  element: Element,
  { at }: ArchivedMessage,
  { chat, sender }: MessageContext,
  reader: Reader,
): SourceEvent[] {
  const named = attr(element, "id");
  if (named === undefined) return [];
  const id = reader.references.find(chat, named) ?? named;
  const now = element.getChildren("reaction", NS.reactions).map((child) => child.text().trim());
  const common = { type: "reaction", chat, id, by: sender, at } as const;
  const { added, removed } = reader.reactions.change(`${chat}\0${id}\0${sender}`, now);
  return [
    ...removed.map((emoji) => ({ ...common, emoji, removed: true })),
    ...added.map((emoji) => ({ ...common, emoji, removed: false })),
  ];
}

const MAX_REACTED = 2000;

/** Current reactions per message and sender, bounded. */
export class Reactions {
  readonly #now = new Map<string, ReadonlySet<string>>();

  change(key: string, emojis: readonly string[]): { added: string[]; removed: string[] } {
    const before = this.#now.get(key) ?? new Set<string>();
    const after = new Set(emojis.filter((emoji) => emoji !== ""));
    this.#now.set(key, after);
    evictOldest(this.#now, MAX_REACTED);
    return {
      added: [...after].filter((emoji) => !before.has(emoji)),
      removed: [...before].filter((emoji) => !after.has(emoji)),
    };
  }
}

/** Undefined kind for receipts, typing notifications and the like. */
function wordsOf(message: Element): [MessageKind | undefined, string] {
  const body = bodyOf(message);
  if (message.getChild("encrypted", NS.omemo) !== undefined || message.getChild("encrypted", NS.omemo2) !== undefined) {
    return ["unsupported", "An encrypted message (OMEMO): only the recipients' devices can read it"];
  }
  if (attachmentsOf(message).length > 0) return ["media", body];
  if (body !== "") return ["text", body];
  const subject = message.getChildText("subject") ?? "";
  return subject === "" ? [undefined, ""] : ["system", `The subject is now «${subject}»`];
}

/** Body without the quote prepended for clients without reply support (XEP-0461). Ranges are in code points. */
function bodyOf(message: Element): string {
  const body = message.getChildText("body") ?? "";
  const fallback = message.getChildren("fallback", NS.fallback).find((child) => attr(child, "for") === NS.reply);
  const range = fallback?.getChild("body");
  if (range === undefined) return body;
  const points = Array.from(body);
  const [start, end] = [Number(attr(range, "start") ?? 0), Number(attr(range, "end") ?? points.length)];
  return [...points.slice(0, start), ...points.slice(end)].join("").trimStart();
}

const EXTENSIONS: Readonly<Record<string, NativeAttachment["kind"]>> = {
  jpg: "image",
  jpeg: "image",
  png: "image",
  gif: "image",
  webp: "image",
  mp4: "video",
  webm: "video",
  mp3: "audio",
  ogg: "audio",
  m4a: "audio",
};

function attachmentsOf(message: Element): NativeAttachment[] {
  return message.getChildren("x", NS.oob).flatMap((child): NativeAttachment[] => {
    const url = child.getChildText("url") ?? "";
    const name = url.split(/[?#]/, 1)[0]?.split("/").at(-1) ?? "";
    const extension = name.split(".").at(-1)?.toLowerCase() ?? "";
    if (url === "") return [];
    return [{ kind: EXTENSIONS[extension] ?? "file", available: false, ...(name === "" ? {} : { name }) }];
  });
}
