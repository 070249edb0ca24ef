// A JSON value as lines that can be folded.

export interface JsonLine {
  readonly depth: number;
  /** The name of a member, with quotes. */
  readonly name: string | undefined;
  readonly text: string;
  readonly kind: "text" | "number" | "word" | "mark";
  /** How many lines belong to the object or array that begins here, its end included; 0 if none does. */
  readonly span: number;
  /** Members or items of what begins here. */
  readonly size: number;
  readonly isArray: boolean;
}

type Writable<T> = { -readonly [K in keyof T]: T[K] };

export function jsonLines(value: unknown): JsonLine[] {
  const lines: JsonLine[] = [];
  write(lines, value, 0, undefined, "");
  return lines;
}

function write(lines: JsonLine[], value: unknown, depth: number, name: string | undefined, end: string): void {
  const base = { depth, name, span: 0, size: 0, isArray: false };
  if (typeof value !== "object" || value === null) {
    lines.push({ ...base, text: `${JSON.stringify(value) ?? "null"}${end}`, kind: kindOf(value) });
    return;
  }
  const isArray = Array.isArray(value);
  const [open, close] = isArray ? ["[", "]"] : ["{", "}"];
  const entries: [string | undefined, unknown][] = isArray
    ? value.map((item: unknown) => [undefined, item])
    : Object.entries(value);
  if (entries.length === 0) {
    lines.push({ ...base, text: `${open}${close}${end}`, kind: "mark" });
    return;
  }
  const first: Writable<JsonLine> = { ...base, text: open, kind: "mark", size: entries.length, isArray };
  const at = lines.push(first);
  for (const [index, [key, each]] of entries.entries()) {
    const comma = index < entries.length - 1 ? "," : "";
    write(lines, each, depth + 1, key === undefined ? undefined : JSON.stringify(key), comma);
  }
  lines.push({ ...base, name: undefined, text: `${close}${end}`, kind: "mark" });
  first.span = lines.length - at;
}

function kindOf(value: unknown): JsonLine["kind"] {
  if (typeof value === "string") return "text";
  return typeof value === "number" ? "number" : "word";
}

/** Indexes of the lines that are seen when some are folded. */
export function unfolded(lines: readonly JsonLine[], folded: ReadonlySet<number>): number[] {
  const seen: number[] = [];
  for (let index = 0; index < lines.length; index += 1) {
    seen.push(index);
    if (folded.has(index)) index += lines[index]?.span ?? 0;
  }
  return seen;
}

/** What is folded at first: everything deeper than three levels that has more than a few members. */
export function foldedAtFirst(lines: readonly JsonLine[]): Set<number> {
  const isLong = lines.length > 60;
  return new Set(lines.flatMap(({ span, depth }, index) => (isLong && span > 2 && depth >= 3 ? [index] : [])));
}
