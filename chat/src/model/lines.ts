// Messages as text: `[timestamp] sender: content`, or `[timestamp #id] sender: content`. A sender cannot forge a line of another
// message: further lines of a message are indented, and names are reduced to one line.

import type { StoredMessage } from "./store-port.ts";
import type { Zone } from "./zone.ts";

export interface LineOptions {
  readonly zone: Zone;
  /** For messages of several chats. */
  readonly withChat: boolean;
  /** For readers who refer to a message later. */
  readonly withIds?: boolean;
}

const INDENT = "    ";
const REMARK = "  · ";
const SAFE_ID = /^[\w.:@$+=/~!,-]{1,128}$/;
const LINE_ENDS = /\r\n|[\n\r\v\f\u0085\u2028\u2029]/g;
// Embedding, override and isolate: they reverse the text after them invisibly. Direction marks stay, since Hebrew and Arabic
// need them; so do the joiners of Persian and of emoji.
const BIDI_CONTROLS = /[\u202A-\u202E\u2066-\u2069]/g;
// Invisible tag letters, which only a machine reads. As part of a flag emoji (England) they are legitimate.
const TAGS = /(?<!\u{1F3F4}[\u{E0020}-\u{E007E}]*)[\u{E0000}-\u{E007F}]/gu;
// eslint-disable-next-line no-control-regex -- these are the ones to remove
const CONTROLS = /[\u0000-\u0008\u000E-\u001F\u007F-\u0084\u0086-\u009F]/g;

/** In the given order. Every message ends with a newline. */
export function toLines(messages: readonly StoredMessage[], options: LineOptions): string {
  return messages.map((message) => toLine(message, options)).join("");
}

export function toLine(message: StoredMessage, { zone, withChat, withIds = false }: LineOptions): string {
  const where = withChat ? `${nameInLine(message.chat.name)} › ` : "";
  const id = withIds ? ` #${idInLine(message.id, message.key)}` : "";
  const lines = [
    `[${zone.format(message.at)}${id}] ${where}${senderInLine(message)}: ${indentContent(contentOf(message))}`,
  ];
  for (const remark of remarks(message, withIds)) lines.push(`${REMARK}${remark}`);
  return `${lines.map((line) => line.trimEnd()).join("\n")}\n`;
}

/** The content, or for a message without text and attachments its kind. */
function contentOf({ content, kind, attachments }: StoredMessage): string {
  if (content !== "" || attachments.length > 0 || kind === "text" || kind === "system") return content;
  return kind === "unsupported" ? "(unsupported message, content not available)" : `(${kind})`;
}

/** The content on its own, with attachments in place of missing text: `(voice, 12 s)`. */
export function summaryOf(message: StoredMessage): string {
  const { content, attachments } = message;
  if (content !== "" || attachments.length === 0) return contentOf(message);
  return attachments
    .map(({ kind, name, durationS }) => {
      const length = durationS === null ? "" : `, ${Math.round(durationS)} s`;
      return `(${kind}${name === null ? "" : ` ${cleanName(name)}`}${length})`;
    })
    .join(" ");
}

/** Indents all lines but the first. */
export function indentContent(content: string): string {
  return cleanText(content).split("\n").join(`\n${INDENT}`);
}

/** At most `length` UTF-16 units, without splitting a surrogate pair. */
export function cutText(text: string, length: number): string {
  const cut = text.slice(0, length);
  return /[\ud800-\udbff]$/.test(cut) ? cut.slice(0, -1) : cut;
}

/** Removes invisible characters, and writes every line end as `\n`. */
export function cleanText(text: string): string {
  return text.replace(LINE_ENDS, "\n").replace(CONTROLS, "\uFFFD").replace(BIDI_CONTROLS, "").replace(TAGS, "");
}

/** Also joins all lines. */
export function cleanName(name: string): string {
  return cleanText(name).replaceAll(/\s+/g, " ").trim();
}

function senderInLine({ sender, kind }: StoredMessage): string {
  if (sender !== null) return nameInLine(sender.name);
  return kind === "system" ? "(system)" : "(unknown)";
}

/** Replaces characters that end a name in a line: `Ann: Lee` would read as Ann saying "Lee". */
function nameInLine(name: string): string {
  const clean = cleanName(name).replaceAll(":", "\uA789").replaceAll("›", ">");
  return clean === "" ? "(unknown)" : clean;
}

/** Some networks let people choose ids. One that could break a line is replaced by our own, which the tools accept too. */
function idInLine(id: string, key: number): string {
  return SAFE_ID.test(id) ? id : `msg-${key}`;
}

function remarks(message: StoredMessage, withIds: boolean): string[] {
  const found: string[] = [];
  const { replyTo, forwardedFrom, attachments, reactions } = message;
  if (replyTo !== null) {
    const who = replyTo.sender === null ? "" : ` to ${nameInLine(replyTo.sender)}`;
    const id = withIds && SAFE_ID.test(replyTo.id) ? ` (#${replyTo.id})` : "";
    found.push(`reply${who}${id}${replyTo.preview === null ? "" : `: ${cleanName(replyTo.preview)}`}`);
  }
  if (forwardedFrom !== null) found.push(`forwarded from ${nameInLine(forwardedFrom)}`);
  for (const { kind, name, available } of attachments) {
    found.push([kind, ...(name === null ? [] : [cleanName(name)]), ...(available ? ["(available)"] : [])].join(" "));
  }
  if (reactions.length > 0) {
    found.push(`reactions ${reactions.map(({ emoji, count }) => `${cleanName(emoji)}×${count}`).join(" ")}`);
  }
  if (message.editedAt !== null) found.push("edited");
  return found;
}
