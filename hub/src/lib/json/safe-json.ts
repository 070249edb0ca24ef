// Makes JSON safe for terminals without changing its meaning: escapes characters that move the cursor, change the direction of
// text, or are invisible. JSON.stringify does that only for the first 32 characters.

/** C1 controls and DEL, direction marks, line separators, and tag characters. */
const HARMFUL = /[\u007f-\u009f\u061c\u200e\u200f\u2028-\u202e\u2066-\u2069]|\udb40[\udc00-\udc7f]/g;

/** These characters only occur inside strings, so all of them can be escaped. */
export function safeJson(json: string): string {
  return json.replaceAll(HARMFUL, (characters) =>
    Array.from({ length: characters.length }, (_, index) => escaped(characters.charCodeAt(index))).join(""),
  );
}

function escaped(unit: number): string {
  return `\\u${unit.toString(16).padStart(4, "0")}`;
}
