// Prepares text for the index. SQLite's tokenizer splits words at spaces, so scripts that do not separate words get spaces
// between characters, and a search for a word becomes a search for neighbouring characters: Chinese, Japanese, Korean (whose
// endings are attached to words), Thai and related scripts, and emoji.

import { fold, withoutAccents } from "./fold.ts";

const ASCII = /^[\s\x20-\x7e]*$/;
/** Each of these characters becomes a word. */
const SPLIT =
  /[\p{scx=Han}\p{scx=Hiragana}\p{scx=Katakana}\p{sc=Hangul}\p{sc=Thai}\p{sc=Lao}\p{sc=Khmer}\p{sc=Myanmar}\p{sc=Bopomofo}]/gu;
const EMOJI = /\p{Extended_Pictographic}|[\u{1f1e6}-\u{1f1ff}]/gu;
/** Vowel signs of Hebrew and Arabic, which most writers omit, and the Arabic tatweel. */
const OPTIONAL_MARKS =
  /[\u{591}-\u{5bd}\u{5bf}\u{5c1}\u{5c2}\u{5c4}\u{5c5}\u{5c7}\u{610}-\u{61a}\u{640}\u{64b}-\u{65f}\u{670}]/gu;
/** Variation selectors of emoji. */
const VARIATION = /\p{VS}/gu;
/** Phones replace ' and " by these. */
const CURLY_SINGLE = /[\u2018\u2019\u02bc]/g;
const CURLY_DOUBLE = /[\u201c-\u201e]/g;
/** A private-use character: no tokenizer treats it as a separator, and it is never typed. */
const EMOJI_MARK = "\ue000";
/** The categories that the tokenizer is configured with in schema.ts. */
const WORD_CHARACTER = /[\p{L}\p{N}\p{Co}\p{Mn}\p{Mc}]/u;

export function toSearchText(text: string): string {
  if (ASCII.test(text)) return text;
  const spelled = text
    .replaceAll("\0", " ")
    .replace(EMOJI, (emoji) => ` ${EMOJI_MARK}${emoji.codePointAt(0)?.toString(16)} `);
  return withoutAccents(spelled).replace(OPTIONAL_MARKS, "").replace(VARIATION, "").replace(SPLIT, " $& ");
}

/** Normalized text for comparing parts of words. */
export function toPlainText(text: string): string {
  const folded = fold(text);
  if (ASCII.test(folded)) return folded;
  return folded
    .replace(OPTIONAL_MARKS, "")
    .replace(VARIATION, "")
    .replace(CURLY_SINGLE, "'")
    .replace(CURLY_DOUBLE, '"');
}

/** Whether the index can contain it; `!!!` has no word. */
export function hasWords(searchText: string): boolean {
  return WORD_CHARACTER.test(searchText);
}
