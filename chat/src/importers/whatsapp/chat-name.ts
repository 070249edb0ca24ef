// Derives the chat's name from the file name, such as `WhatsApp Chat with Ann.txt`, in the phone's language.

import { basename, dirname, extname } from "node:path";

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

/** iOS names the file in every zip `_chat.txt`. */
const NAMELESS = /^_?chat$/i;

export interface NamedChat {
  readonly name: string;
  /** False if it is only the file name. */
  readonly isFromApp: boolean;
}

/** Checks the names of the file, the zip and the folder; the first match wins. */
export function chatName(path: string, member: string): NamedChat {
  const candidates = [bareName(member), bareName(path), basename(dirname(path))].filter(
    (candidate) => !NAMELESS.test(candidate),
  );
  for (const candidate of candidates) {
    const name = PATTERNS.map((pattern) => pattern.exec(candidate)?.[1]).find((found) => found !== undefined);
    if (name !== undefined) return { name: name.trim(), isFromApp: true };
  }
  return { name: candidates[0] ?? bareName(path), isFromApp: false };
}

/** Removes the ` (1)` of a second download, and turns the underscores of mail programs into spaces. */
function bareName(path: string): string {
  const name = basename(path, extname(path)).replace(/ ?\(\d{1,3}\)$/, "");
  const plain = name.includes(" ") ? name : name.replaceAll("_", " ");
  return NAMELESS.test(name) ? name : plain.trim();
}

/** Compares letters and digits only, since file names drop other characters. */
export function isSameName(one: string, other: string): boolean {
  return one === other || (bareLetters(one) !== "" && bareLetters(one) === bareLetters(other));
}

function bareLetters(name: string): string {
  return name.toLowerCase().replaceAll(/[^\p{L}\p{N}]/gu, "");
}
