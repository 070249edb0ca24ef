// Matching with `*` in linear time, without regular expressions: the text may come from a hostile server.

/** @example parseGlob("a*b") // ["a", "b"] */
export function parseGlob(pattern: string): readonly string[] {
  return pattern.split("*");
}

/**
 * Whether the text from `from` to its end consists of the pieces, with anything between them.
 *
 * @example matchesGlob(parseGlob("get_*"), "get_user") === true
 */
export function matchesGlob(pieces: readonly string[], text: string, from = 0): boolean {
  const first = pieces[0] ?? "";
  if (!text.startsWith(first, from)) return false;
  let at = from + first.length;
  if (pieces.length < 2) return at === text.length;

  // The first match of each piece leaves the most room for the rest, so no backtracking is needed.
  for (let index = 1; index < pieces.length - 1; index++) {
    const piece = pieces[index] ?? "";
    const found = text.indexOf(piece, at);
    if (found === -1) return false;
    at = found + piece.length;
  }
  const last = pieces.at(-1) ?? "";
  return text.length - last.length >= at && text.endsWith(last);
}
