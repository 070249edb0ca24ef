// Finds names similar to a mistyped one: a server, tool, group, command or chat.

/** Longer names are cut: the cost grows with the product of the lengths. */
const LENGTH_MAX = 64;
/** Further candidates are ignored. */
const NAMES_MAX = 5000;
const LISTED_MAX = 12;

/** Up to `limit` known names that contain the given one, are contained in it, or differ in a few letters; the nearest first. */
export function nearNames(given: string, known: Iterable<string>, limit: number): readonly string[] {
  const wanted = fold(given);
  if (wanted.length < 2) return [];
  const maxDistance = Math.max(1, Math.floor(wanted.length * 0.4));
  const ranked: { readonly name: string; readonly rank: number }[] = [];
  let compared = 0;
  for (const name of new Set(known)) {
    if (++compared > NAMES_MAX) break;
    const folded = fold(name);
    const isPart = folded.length > 2 && wanted.length > 2 && (folded.includes(wanted) || wanted.includes(folded));
    const distance = editDistance(wanted, folded, maxDistance);
    const rank = isPart ? Math.min(1, distance) : distance;
    if (rank <= maxDistance) ranked.push({ name, rank });
  }
  return ranked
    .toSorted((a, b) => a.rank - b.rank)
    .slice(0, limit)
    .map(({ name }) => name);
}

/** The most similar known name; undefined if none is close. */
export function closest(name: string, known: Iterable<string>): string | undefined {
  return nearNames(name, known, 1)[0];
}

/**
 * A hint for an error about an unknown name.
 *
 * @example didYouMean("memry", ["memory", "files"], "Servers") // "Did you mean memory?"
 */
export function didYouMean(name: string, known: readonly string[], what: string): string {
  const similar = closest(name, known);
  if (similar !== undefined) return `Did you mean ${similar}?`;
  if (known.length === 0) return `${what}: none`;
  const more = known.length > LISTED_MAX ? ` and ${known.length - LISTED_MAX} more` : "";
  return `${what}: ${known.slice(0, LISTED_MAX).join(", ")}${more}`;
}

/** Without accents and case. */
function fold(name: string): string {
  return name
    .slice(0, LENGTH_MAX)
    .normalize("NFKD")
    .replace(/\p{M}+/gu, "")
    .trim()
    .toLowerCase();
}

/** The Damerau-Levenshtein distance; Infinity if it is certain to exceed the maximum. */
function editDistance(a: string, b: string, max: number): number {
  if (Math.abs(a.length - b.length) > max) return Infinity;
  let before: number[] = [];
  let above = Array.from({ length: b.length + 1 }, (_, column) => column);
  for (let row = 1; row <= a.length; row++) {
    const line = [row];
    for (let column = 1; column <= b.length; column++) {
      const differs = a[row - 1] === b[column - 1] ? 0 : 1;
      let least = Math.min((above[column] ?? 0) + 1, (line[column - 1] ?? 0) + 1, (above[column - 1] ?? 0) + differs);
      if (row > 1 && column > 1 && a[row - 1] === b[column - 2] && a[row - 2] === b[column - 1]) {
        least = Math.min(least, (before[column - 2] ?? 0) + 1);
      }
      line.push(least);
    }
    [before, above] = [above, line];
  }
  return above[b.length] ?? 0;
}
