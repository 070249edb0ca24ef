// Aligned tables without boxes, cut to the terminal's width where there is one.

import { stripVTControlCharacters } from "node:util";
import { cleanName } from "../lines.ts";

const GAP = "  ";
/** East Asian wide forms and pictures take two columns; marks that combine take none. */
const WIDE =
  /[\u1100-\u115f\u2e80-\ua4cf\uac00-\ud7a3\uf900-\ufaff\ufe30-\ufe6f\uff00-\uff60\uffe0-\uffe6]|\p{Emoji_Presentation}/u;
const NO_WIDTH = /[\p{Mn}\p{Cf}]/u;

export function table(rows: readonly (readonly string[])[], width = Infinity): string {
  const clean = rows.map((row) => row.map((cell) => cleanName(stripVTControlCharacters(cell))));
  const widths: number[] = [];
  for (const row of clean)
    for (const [index, cell] of row.entries()) widths[index] = Math.max(widths[index] ?? 0, widthOf(cell));
  return clean
    .map((row) =>
      row
        .map((cell, index) => cell + " ".repeat((widths[index] ?? 0) - widthOf(cell)))
        .join(GAP)
        .trimEnd(),
    )
    .map((line) => `${cut(line, width)}\n`)
    .join("");
}

function widthOf(text: string): number {
  let width = 0;
  for (const character of text) width += widthOfCharacter(character);
  return width;
}

function cut(text: string, width: number): string {
  if (widthOf(text) <= width) return text;
  let kept = "";
  let left = width - 1;
  for (const character of text) {
    left -= widthOfCharacter(character);
    if (left < 0) break;
    kept += character;
  }
  return `${kept}…`;
}

function widthOfCharacter(character: string): number {
  if (WIDE.test(character)) return 2;
  return NO_WIDTH.test(character) ? 0 : 1;
}
