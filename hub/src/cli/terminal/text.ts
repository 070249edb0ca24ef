// Text for a terminal: breaking lines.

import { widthOf } from "@plugboard/shared/text-width";

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

export { count, firstLine, oneLine, printable } from "../../lib/text.ts";
