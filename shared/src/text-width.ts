// Width of text on a terminal.

/** East Asian wide characters and emoji take two columns, combining marks none. */
const WIDE =
  /[\u1100-\u115f\u2e80-\ua4cf\uac00-\ud7a3\uf900-\ufaff\ufe30-\ufe6f\uff00-\uff60\uffe0-\uffe6]|\p{Emoji_Presentation}/u;
const NO_WIDTH = /[\p{Mn}\p{Cf}]/u;

/** Columns that a line takes on a terminal. */
export function widthOf(text: string): number {
  let width = 0;
  for (const character of text) width += widthOfCharacter(character);
  return width;
}

/** @example truncate("a long remark", 6) // "a lon…" */
export function truncate(text: string, width: number): string {
  if (widthOf(text) <= width) return text;
  let start = "";
  let left = width - 1;
  for (const character of text) {
    left -= widthOfCharacter(character);
    if (left < 0) break;
    start += character;
  }
  return width < 1 ? "" : `${start}…`;
}

function widthOfCharacter(character: string): number {
  if (WIDE.test(character)) return 2;
  return NO_WIDTH.test(character) ? 0 : 1;
}
