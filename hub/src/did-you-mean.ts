// What somebody may have meant who mistyped a name: of a server, a tool, a group, a client, a secret or a command.

/** Longer names are compared by their beginning: the cost grows with the product of the lengths. */
const LENGTH_MAX = 64;
/** Of many names only these are looked at. */
const NAMES_MAX = 5000;
/** As many names are short enough to be listed. */
const LISTED_MAX = 12;

/** The known name that differs least; undefined where none is close. */
export function closest(name: string, known: Iterable<string>): string | undefined {
  const typed = normal(name);
  if (typed.length < 2) return undefined;
  let best: string | undefined;
  let least = Math.max(1, Math.floor(typed.length * 0.4)) + 1;
  let looked = 0;
  for (const candidate of known) {
    if (++looked > NAMES_MAX) break;
    const other = normal(candidate);
    // Half of a name, such as `files` for `filesystem`, is as close as two letters.
    const isPart = typed.length > 2 && (other.startsWith(typed) || typed.startsWith(other)) && other.length > 2;
    const far = isPart ? Math.min(2, distance(typed, other)) : distance(typed, other);
    if (far < least) [best, least] = [candidate, far];
  }
  return best;
}

/**
 * A note for an error about a name that nobody knows.
 *
 * @example didYouMean("memry", ["memory", "files"], "Servers") // "Did you mean memory?"
 */
export function didYouMean(name: string, known: readonly string[], what: string): string {
  const meant = closest(name, known);
  if (meant !== undefined) return `Did you mean ${meant}?`;
  if (known.length === 0) return `${what}: none`;
  const more = known.length > LISTED_MAX ? ` and ${known.length - LISTED_MAX} more` : "";
  return `${what}: ${known.slice(0, LISTED_MAX).join(", ")}${more}`;
}

function normal(name: string): string {
  return name.slice(0, LENGTH_MAX).toLowerCase();
}

/** Damerau and Levenshtein: letters inserted, left out, replaced, or two neighbours exchanged. */
function distance(a: string, b: string): number {
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
