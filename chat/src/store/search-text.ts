// Text as the index sees it. SQLite's tokenizer finds words between spaces; here what has none between its words gets some,
// so that a search for a part of it is a search for neighbours: Chinese, Japanese, Korean (whose endings stick to words),
// Thai and its relatives, and emoji.

import { withoutAccents } from "./fold.ts";

const ASCII = /^[\s\x20-\x7e]*$/;
/** These stand alone. */
const SPLIT =
  /[\p{scx=Han}\p{scx=Hiragana}\p{scx=Katakana}\p{sc=Hangul}\p{sc=Thai}\p{sc=Lao}\p{sc=Khmer}\p{sc=Myanmar}\p{sc=Bopomofo}]/gu;
const EMOJI = /\p{Extended_Pictographic}|[\u{1f1e6}-\u{1f1ff}]/gu;
/** Vowel signs of Hebrew and Arabic, which most writers leave out, and the Arabic stretcher. */
const OPTIONAL_MARKS =
  /[\u{591}-\u{5bd}\u{5bf}\u{5c1}\u{5c2}\u{5c4}\u{5c5}\u{5c7}\u{610}-\u{61a}\u{640}\u{64b}-\u{65f}\u{670}]/gu;
/** How an emoji is to be drawn. */
const VARIATION = /\p{VS}/gu;
/** No tokenizer of any age takes a private character for a separator, and nobody types one. */
const EMOJI_MARK = "\ue000";
/** What the tokenizer makes words of, as the schema says. */
const WORD_CHARACTER = /[\p{L}\p{N}\p{Co}\p{Mn}\p{Mc}]/u;

export function toSearchText(text: string): string {
  if (ASCII.test(text)) return text;
  const spelled = text
    .replaceAll("\0", " ")
    .replace(EMOJI, (emoji) => ` ${EMOJI_MARK}${emoji.codePointAt(0)?.toString(16)} `);
  return withoutAccents(spelled).replace(OPTIONAL_MARKS, "").replace(VARIATION, "").replace(SPLIT, " $& ");
}

/** Whether the index can know it at all: not so of `!!!`. */
export function hasWords(searchText: string): boolean {
  return WORD_CHARACTER.test(searchText);
}
