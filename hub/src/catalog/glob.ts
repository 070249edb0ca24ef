// Matching with `*`, without regular expressions: the text may come from a hostile server and must not cost more than its length.

/** `"a*b"` → `["a", "b"]`: the pieces between the stars. */
export function parseGlob(pattern: string): readonly string[] {
  return pattern.split("*");
}

/**
 * Do the pieces, with anything between them, make up the text from `from` to its end?
 *
 * @example matchesGlob(parseGlob("get_*"), "get_user") === true
 */
export function matchesGlob(pieces: readonly string[], text: string, from = 0): boolean {
  const first = pieces[0] ?? "";
  if (!text.startsWith(first, from)) return false;
  let at = from + first.length;
  if (pieces.length < 2) return at === text.length;

  // Each piece at its first chance: that leaves most room for the rest, so there is nothing to go back for.
  for (let index = 1; index < pieces.length - 1; index++) {
    const piece = pieces[index] ?? "";
    const found = text.indexOf(piece, at);
    if (found === -1) return false;
    at = found + piece.length;
  }
  const last = pieces.at(-1) ?? "";
  return text.length - last.length >= at && text.endsWith(last);
}
