// The chat's name, which stands in the name of the file: `WhatsApp Chat with Ann.txt`, in the phone's language.

import { basename, dirname, extname } from "node:path";

/** Around the name. */
const PATTERNS: readonly RegExp[] = [
  /^WhatsApp[ -]?(?:Chat|Unterhaltung) ?(?:with|mit|met|med|-|–)? ?(.+)$/iu,
  /^(?:Chat|Conversación) (?:de )?WhatsApp con (.+)$/iu,
  /^Conversa (?:do|no) WhatsApp com (.+)$/iu,
  /^Discussion WhatsApp avec (.+)$/iu,
  /^Чат WhatsApp с (?:контактом )?(.+)$/iu,
  /^Chat WhatsApp s (?:uživatelem )?(.+)$/iu,
  /^(?:Czat|Konwersacja) WhatsApp z (.+)$/iu,
  /^WhatsApp-(?:chatt?) (?:med|met) (.+)$/iu,
  /^WhatsApp-keskustelu(?::| -)? ?(.+)$/iu,
  /^(.+) ile WhatsApp Sohbeti$/iu,
  /^WhatsApp Sohbeti ?-? ?(.+)$/iu,
  /^שיחת WhatsApp עם (.+)$/u,
  /^(?:محادثة|دردشة) (?:واتساب|WhatsApp) مع (.+)$/u,
  /^[與与](.+)的 ?WhatsApp ?(?:對話|对话|聊天记录|聊天)$/u,
  /^WhatsApp (?:聊天|對話|对话)(?: ?- ?)?(.+)$/u,
  /^WhatsApp(?:チャット| トーク)(?: ?- ?)?(.+)$/u,
  /^(.+)님과의 WhatsApp 대화$/u,
  /^WhatsApp (.+)님과의 대화$/u,
];

/** What iOS calls the file in its zip, whoever the chat is with. */
const NAMELESS = /^_?chat$/i;

export interface NamedChat {
  readonly name: string;
  /** Whether the app gave it, or it is only what the file is called. */
  readonly isTold: boolean;
}

/** By the file, the zip or folder that it is in; the first that tells. */
export function chatName(path: string, member: string): NamedChat {
  const places = [bareName(member), bareName(path), basename(dirname(path))].filter((place) => !NAMELESS.test(place));
  for (const place of places) {
    const name = PATTERNS.map((pattern) => pattern.exec(place)?.[1]).find((found) => found !== undefined);
    if (name !== undefined) return { name: name.trim(), isTold: true };
  }
  return { name: places[0] ?? bareName(path), isTold: false };
}

/** Without what a second download adds, and with blanks where a mail program put underscores. */
function bareName(path: string): string {
  const name = basename(path, extname(path)).replace(/ ?\(\d{1,3}\)$/, "");
  const plain = name.includes(" ") ? name : name.replaceAll("_", " ");
  return NAMELESS.test(name) ? name : plain.trim();
}

/** File names leave signs out; letters and digits tell whether two names are one. */
export function isSameName(one: string, other: string): boolean {
  return one === other || (bareLetters(one) !== "" && bareLetters(one) === bareLetters(other));
}

function bareLetters(name: string): string {
  return name.toLowerCase().replaceAll(/[^\p{L}\p{N}]/gu, "");
}
