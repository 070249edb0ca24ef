// Messages as text, one head line each: `[timestamp] sender: content`. Whatever somebody writes or calls himself, nobody can
// make a line that looks like another one's message: what runs over more lines is indented, and names have no line of their own.

import type { StoredMessage } from "./query.ts";
import type { Zone } from "./zone.ts";

export interface LineOptions {
  readonly zone: Zone;
  /** Where messages of several chats stand together. */
  readonly withChat: boolean;
}

const CONTINUED = "    ";
const REMARK = "  · ";
const LINE_ENDS = /\r\n|[\n\r\v\f\u0085\u2028\u2029]/g;
// Embedding, override and isolate: they turn what follows around, and nobody sees it. Marks of direction stay, since Hebrew and
// Arabic need them; so do the joiners of Persian and of emoji.
const TURNS = /[\u202A-\u202E\u2066-\u2069]/g;
// Invisible letters, that only a machine reads; as part of a flag (England) they are what they seem.
const TAGS = /(?<!\u{1F3F4}[\u{E0020}-\u{E007E}]*)[\u{E0000}-\u{E007F}]/gu;
// eslint-disable-next-line no-control-regex -- these are the ones that are taken out
const CONTROLS = /[\u0000-\u0008\u000E-\u001F\u007F-\u0084\u0086-\u009F]/g;

/** Oldest first or newest first, as given. Every message ends with a newline. */
export function toLines(messages: readonly StoredMessage[], options: LineOptions): string {
  return messages.map((message) => toLine(message, options)).join("");
}

export function toLine(message: StoredMessage, { zone, withChat }: LineOptions): string {
  const sender = message.sender === null ? "(system)" : nameInLine(message.sender.name);
  const where = withChat ? `${nameInLine(message.chat.name)} › ` : "";
  const lines = [`[${zone.format(message.at)}] ${where}${sender}: ${indentContent(message.content)}`];
  for (const remark of remarks(message)) lines.push(`${REMARK}${remark}`);
  return `${lines.map((line) => line.trimEnd()).join("\n")}\n`;
}

/** Only the first line stands at the left edge. */
export function indentContent(content: string): string {
  return cleanText(content).split("\n").join(`\n${CONTINUED}`);
}

/** Of what cannot be seen, and with `\n` for every kind of line end. */
export function cleanText(text: string): string {
  return text.replace(LINE_ENDS, "\n").replace(CONTROLS, "\uFFFD").replace(TURNS, "").replace(TAGS, "");
}

/** On one line. */
export function cleanName(name: string): string {
  return cleanText(name).replaceAll(/\s+/g, " ").trim();
}

/** Without the marks that end a name in a line: `Ann: Lee` would read as Ann saying "Lee". */
function nameInLine(name: string): string {
  const clean = cleanName(name).replaceAll(":", "\uA789").replaceAll("›", ">");
  return clean === "" ? "(unknown)" : clean;
}

function remarks(message: StoredMessage): string[] {
  const found: string[] = [];
  const { replyTo, forwardedFrom, attachments, reactions } = message;
  if (replyTo !== null) {
    const who = replyTo.sender === null ? "" : ` to ${nameInLine(replyTo.sender)}`;
    found.push(`reply${who}${replyTo.preview === null ? "" : `: ${cleanName(replyTo.preview)}`}`);
  }
  if (forwardedFrom !== null) found.push(`forwarded from ${nameInLine(forwardedFrom)}`);
  for (const { kind, name } of attachments) found.push(name === null ? kind : `${kind} ${cleanName(name)}`);
  if (reactions.length > 0) {
    found.push(`reactions ${reactions.map(({ emoji, count }) => `${cleanName(emoji)}×${count}`).join(" ")}`);
  }
  if (message.editedAt !== null) found.push("edited");
  return found;
}
