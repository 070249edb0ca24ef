// Text for a terminal: how wide it is, cut to fit, without anything in it that could move the cursor, and with what would
// not be seen made visible.

import { stripVTControlCharacters } from "node:util";
import { revealHidden } from "../hidden-text.ts";

const CONTROL = /[\p{Cc}\u2028\u2029]/gu;
const CONTROL_IN_LINES = /(?![\t\n])[\p{Cc}\u2028\u2029]/gu;
/** East Asian wide forms and pictures take two columns; marks that combine take none. */
const WIDE =
  /[\u1100-\u115f\u2e80-\ua4cf\uac00-\ud7a3\uf900-\ufaff\ufe30-\ufe6f\uff00-\uff60\uffe0-\uffe6]|\p{Emoji_Presentation}/u;
const NO_WIDTH = /[\p{Mn}\p{Cf}]/u;

/** Other people's text as one line: what could move a cursor or fake a line is gone. */
export function oneLine(text: string): string {
  return revealHidden(stripVTControlCharacters(text).replace(CONTROL, " "));
}

/** Other people's text, lines kept. */
export function printable(text: string): string {
  return revealHidden(stripVTControlCharacters(text).replaceAll("\r\n", "\n").replace(CONTROL_IN_LINES, ""));
}

/** Columns that a line takes on a terminal. */
export function widthOf(text: string): number {
  let width = 0;
  for (const character of text) width += widthOfCharacter(character);
  return width;
}

/** @example cut("a long remark", 6) // "a lon…" */
export function cut(text: string, width: number): string {
  if (widthOf(text) <= width) return text;
  let kept = "";
  let left = width - 1;
  for (const character of text) {
    left -= widthOfCharacter(character);
    if (left < 0) break;
    kept += character;
  }
  return width < 1 ? "" : `${kept}…`;
}

/** Lines of at most this width, broken at blanks where there are any. @example wrap("one two", 5) // ["one", "two"] */
export function wrap(text: string, width: number | undefined): string[] {
  if (width === undefined || width < 1) return [text];
  const lines: string[] = [];
  let line = "";
  for (const word of text.split(" ")) {
    const longer = line === "" ? word : `${line} ${word}`;
    if (widthOf(longer) <= width) {
      line = longer;
      continue;
    }
    if (line !== "") lines.push(line);
    line = "";
    for (const character of word) {
      if (widthOf(line + character) > width) {
        lines.push(line);
        line = "";
      }
      line += character;
    }
  }
  return [...lines, line];
}

export function firstLine(text: string): string {
  return text.split("\n", 1)[0] ?? "";
}

/** @example count(1, "tool") // "1 tool" */
export function count(n: number, noun: string): string {
  return `${n} ${noun}${n === 1 ? "" : "s"}`;
}

function widthOfCharacter(character: string): number {
  if (WIDE.test(character)) return 2;
  return NO_WIDTH.test(character) ? 0 : 1;
}
