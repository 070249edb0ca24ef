// Text for a terminal: measuring, cutting, and removing or revealing control characters.

import { widthOf } from "@plugboard/shared/text-width";
import { stripVTControlCharacters } from "node:util";
import { revealHidden } from "../../lib/hidden-text.ts";

const CONTROL = /[\p{Cc}\u2028\u2029]/gu;
const CONTROL_IN_LINES = /(?![\t\n])[\p{Cc}\u2028\u2029]/gu;
/** Untrusted text as one line, without control characters. */
export function oneLine(text: string): string {
  return revealHidden(stripVTControlCharacters(text).replace(CONTROL, " "));
}

/** Untrusted text without control characters, except line breaks. */
export function printable(text: string): string {
  return revealHidden(stripVTControlCharacters(text).replaceAll("\r\n", "\n").replace(CONTROL_IN_LINES, ""));
}

/** Lines of at most this width, broken at blanks if possible. @example wrap("one two", 5) // ["one", "two"] */
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

export { count, firstLine } from "../../lib/text.ts";
