// Characters that people do not see but models read: direction controls, zero-width characters, tag characters. In names and
// descriptions of tools they can hide instructions.

/**
 * Direction controls, zero-width characters, fillers, tags, and control characters other than line breaks and tabs. Allowed are joiners
 * inside an emoji or between letters of scripts that need them, and the tags of a flag, which the first alternative matches.
 */
const HIDDEN_OR_FLAG =
  /\u{1f3f4}[\u{e0020}-\u{e007e}]{1,6}\u{e007f}|(?<![\p{Extended_Pictographic}\p{Emoji_Modifier}\ufe0f\p{M}\p{Script=Arabic}])\u200d|(?<!\p{L}|\p{M})\u200c|\u034f|[\u00ad\u061c\u115f\u1160\u180e\u200b\u200e\u200f\u2028-\u202e\u2060-\u206f\u3164\ufeff\uffa0\ufff9-\ufffb\u{1d173}-\u{1d17a}\u{e0000}-\u{e0fff}]|(?![\t\n\r])\p{Cc}/gu;
const FLAG = "\u{1f3f4}";

/** @example findHidden("a\u202eb") // ["U+202E"] */
export function findHidden(text: string): string[] {
  // Fast path for ASCII.
  if (/^[\t\n\r -~]*$/.test(text)) return [];
  const found = new Set<string>();
  for (const [match] of text.matchAll(HIDDEN_OR_FLAG)) {
    if (!match.startsWith(FLAG)) found.add(`U+${hexOf(match).toUpperCase()}`);
  }
  return [...found];
}

/** @example revealHidden("a\u202eb") // "a\\u202eb" */
export function revealHidden(text: string): string {
  return text.replace(HIDDEN_OR_FLAG, (match) => {
    if (match.startsWith(FLAG)) return match;
    const hex = hexOf(match);
    return hex.length > 4 ? `\\u{${hex}}` : `\\u${hex}`;
  });
}

function hexOf(character: string): string {
  return (character.codePointAt(0) ?? 0).toString(16).padStart(4, "0");
}
