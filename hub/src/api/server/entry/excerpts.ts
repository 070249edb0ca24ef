// Two versions of a long text, reduced to the lines that differ and those around them.

/** Texts up to this size are shown as a whole. */
const MAX_CHARACTERS = 64 * 1024;
const CONTEXT_LINES = 20;
const GAP = "…";

export function excerpts(before: string, after: string): [before: string, after: string] {
  if (before.length <= MAX_CHARACTERS && after.length <= MAX_CHARACTERS) return [before, after];
  const [a, b] = [before.split("\n"), after.split("\n")];
  const shorter = Math.min(a.length, b.length);
  let start = 0;
  while (start < shorter && a[start] === b[start]) start++;
  let end = 0;
  while (end < shorter - start && a.at(-1 - end) === b.at(-1 - end)) end++;
  const from = Math.max(0, start - CONTEXT_LINES);
  const left = Math.max(0, end - CONTEXT_LINES);
  const part = (lines: readonly string[]) =>
    [...(from > 0 ? [GAP] : []), ...lines.slice(from, lines.length - left), ...(left > 0 ? [GAP] : [])].join("\n");
  return [part(a), part(b)];
}
