// Two changes of one text, by lines.

import { diffLines } from "./diff.ts";

/** Lines of the base that are replaced. */
interface Hunk {
  readonly from: number;
  readonly to: number;
  readonly lines: readonly string[];
}

/** The base with both changes. Undefined if they touch: then a person has to decide. */
export function mergeLines(base: string, theirs: string, mine: string): string | undefined {
  const [left, right] = [hunksOf(base, theirs), hunksOf(base, mine)];
  const own = right.filter((hunk) => !left.some((other) => isSame(hunk, other)));
  if (own.some((hunk) => left.some((other) => hunk.from <= other.to && other.from <= hunk.to))) return undefined;
  const lines = base === "" ? [] : base.replace(/\n$/, "").split("\n");
  // From the end, so that places before it stay what they are.
  for (const { from, to, lines: next } of [...left, ...own].toSorted((a, b) => b.from - a.from))
    lines.splice(from, to - from, ...next);
  return lines.join("\n") + (mine.endsWith("\n") ? "\n" : "");
}

function hunksOf(base: string, changed: string): Hunk[] {
  const hunks: { from: number; to: number; lines: string[] }[] = [];
  let at = 0;
  let isOpen = false;
  for (const { kind, text } of diffLines(base, changed)) {
    if (kind !== "same" && !isOpen) hunks.push({ from: at, to: at, lines: [] });
    isOpen = kind !== "same";
    const hunk = hunks.at(-1);
    if (kind === "added") hunk?.lines.push(text);
    else at += 1;
    if (kind === "removed" && hunk !== undefined) hunk.to = at;
  }
  return hunks;
}

function isSame(a: Hunk, b: Hunk): boolean {
  return a.from === b.from && a.to === b.to && a.lines.join("\n") === b.lines.join("\n");
}
