// A text as the finders read it: digits of all scripts as 0-9, every dash as `-`, every space as ` `, nothing invisible. Each
// character keeps its place, so that what is found in the view stands at the same place in the text.

const DIGIT = /\p{Nd}/gu;
const DASH = /[\p{Pd}\u2212]/gu;
const SPACE = /[\p{Zs}\t]/gu;
/** Zero-width and direction marks, which may stand in the middle of a number that was copied. */
const INVISIBLE = /[\u00ad\u200b-\u200f\u202a-\u202e\u2060-\u2064\u2066-\u2069\ufeff]/g;

export function toPlainView(text: string): string {
  return text
    .replace(DIGIT, toAsciiDigit)
    .replace(DASH, (dash) => (dash.length === 1 ? "-" : dash))
    .replace(SPACE, " ")
    .replace(INVISIBLE, "-");
}

/** The digits of a script stand in a row of ten, in order. */
function toAsciiDigit(digit: string): string {
  const code = digit.codePointAt(0) ?? 0;
  if (code < 0x80) return digit;
  let zero = code;
  while (code - zero < 9 && /^\p{Nd}$/u.test(String.fromCodePoint(zero - 1))) zero--;
  // A pair of units must stay two.
  return String(code - zero).padStart(digit.length, " ");
}
