// The lines that two texts have in common, and those that one has alone (Myers, "An O(ND) Difference Algorithm").

export interface DiffLine {
  readonly kind: "same" | "added" | "removed";
  readonly text: string;
  /** Line numbers, from 1; undefined on the side that does not have the line. */
  readonly before: number | undefined;
  readonly after: number | undefined;
}

/** Beyond this many differing lines the whole rest is shown as replaced: the search takes quadratic time. */
const MAX_EDITS = 1000;

export function diffLines(before: string, after: string): DiffLine[] {
  const a = linesOf(before);
  const b = linesOf(after);
  const start = commonPrefix(a, b);
  const end = commonSuffix(a, b, start);
  const lines: DiffLine[] = [];
  const same = (x: number, y: number) => lines.push({ kind: "same", text: a[x] ?? "", before: x + 1, after: y + 1 });
  for (let i = 0; i < start; i += 1) same(i, i);
  for (const { from, x, y } of edits(a.slice(start, a.length - end), b.slice(start, b.length - end))) {
    const [i, j] = [x + start, y + start];
    if (from === "both") same(i, j);
    else if (from === "a") lines.push({ kind: "removed", text: a[i] ?? "", before: i + 1, after: undefined });
    else lines.push({ kind: "added", text: b[j] ?? "", before: undefined, after: j + 1 });
  }
  for (let i = end; i > 0; i -= 1) same(a.length - i, b.length - i);
  return lines;
}

const linesOf = (text: string) => (text === "" ? [] : text.replace(/\n$/, "").split("\n"));

function commonPrefix(a: readonly string[], b: readonly string[]): number {
  let n = 0;
  while (n < a.length && n < b.length && a[n] === b[n]) n += 1;
  return n;
}

function commonSuffix(a: readonly string[], b: readonly string[], start: number): number {
  let n = 0;
  while (n < a.length - start && n < b.length - start && a.at(-1 - n) === b.at(-1 - n)) n += 1;
  return n;
}

interface Edit {
  readonly from: "a" | "b" | "both";
  readonly x: number;
  readonly y: number;
}

function edits(a: readonly string[], b: readonly string[]): Edit[] {
  const trace = search(a, b);
  if (trace === undefined) {
    return [...a.map((_, x): Edit => ({ from: "a", x, y: 0 })), ...b.map((_, y): Edit => ({ from: "b", x: 0, y }))];
  }
  return walkBack(trace, a.length, b.length);
}

/** The furthest x on each diagonal, before each step. */
function search(a: readonly string[], b: readonly string[]): Map<number, number>[] | undefined {
  const furthest = new Map<number, number>([[1, 0]]);
  const trace: Map<number, number>[] = [];
  for (let d = 0; d <= Math.min(a.length + b.length, MAX_EDITS); d += 1) {
    trace.push(new Map(furthest));
    for (let k = -d; k <= d; k += 2) {
      const down = k === -d || (k !== d && at(furthest, k - 1) < at(furthest, k + 1));
      let x = down ? at(furthest, k + 1) : at(furthest, k - 1) + 1;
      while (x < a.length && x - k < b.length && a[x] === b[x - k]) x += 1;
      furthest.set(k, x);
      if (x >= a.length && x - k >= b.length) return trace;
    }
  }
  return undefined;
}

function walkBack(trace: readonly Map<number, number>[], width: number, height: number): Edit[] {
  const path: Edit[] = [];
  let [x, y] = [width, height];
  for (const [d, furthest] of [...trace.entries()].toReversed()) {
    const k = x - y;
    const down = k === -d || (k !== d && at(furthest, k - 1) < at(furthest, k + 1));
    const previousX = at(furthest, down ? k + 1 : k - 1);
    const previousY = previousX - (down ? k + 1 : k - 1);
    while (x > previousX && y > previousY) path.push({ from: "both", x: (x -= 1), y: (y -= 1) });
    if (d > 0) path.push({ from: down ? "b" : "a", x: previousX, y: previousY });
    [x, y] = [previousX, previousY];
  }
  return path.toReversed();
}

const at = (furthest: ReadonlyMap<number, number>, k: number) => furthest.get(k) ?? 0;
