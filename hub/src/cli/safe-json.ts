// JSON that can be shown on any terminal and still means the same: what could move a cursor, turn text around or hide in it
// is written as an escape. JSON.stringify does that for the first 32 characters only.

/** C1 controls and DEL, marks that change the direction of text, line separators, and tag characters. */
const HARMFUL = /[\u007f-\u009f\u061c\u200e\u200f\u2028-\u202e\u2066-\u2069]|\udb40[\udc00-\udc7f]/g;

/** Outside of strings JSON has none of them, so that every one can be replaced. */
export function safeJson(json: string): string {
  return json.replaceAll(HARMFUL, (characters) =>
    Array.from({ length: characters.length }, (_, index) => escaped(characters.charCodeAt(index))).join(""),
  );
}

function escaped(unit: number): string {
  return `\\u${unit.toString(16).padStart(4, "0")}`;
}
