// The view of a text that the finders work on: digits of all scripts as 0-9, dashes as `-`, spaces as ` `, nothing invisible.
// Every character keeps its position, so that positions in the view are positions in the text.

const DIGIT = /\p{Nd}/gu;
const DASH = /[\p{Pd}\u2212]/gu;
const SPACE = /[\p{Zs}\t]/gu;
/** Zero-width and direction marks, which a copied number may contain. */
const INVISIBLE = /[\u00ad\u200b-\u200f\u202a-\u202e\u2060-\u2064\u2066-\u2069\ufeff]/g;

export function toPlainView(text: string): string {
  return text
    .replace(DIGIT, toAsciiDigit)
    .replace(DASH, (dash) => (dash.length === 1 ? "-" : dash))
    .replace(SPACE, " ")
    .replace(INVISIBLE, "-");
}

/** The digits of a script are ten consecutive code points. */
function toAsciiDigit(digit: string): string {
  const code = digit.codePointAt(0) ?? 0;
  if (code < 0x80) return digit;
  let zero = code;
  while (code - zero < 9 && /^\p{Nd}$/u.test(String.fromCodePoint(zero - 1))) zero--;
  // A surrogate pair must stay two units.
  return String(code - zero).padStart(digit.length, " ");
}
