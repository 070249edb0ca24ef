// How much one list or object of JSON from outside may hold, and what it may not hold at all. For text that is known to be
// JSON; its size and depth are bounded by whoever reads it.

export const MAX_ELEMENTS = 100_000;
export const MAX_KEYS = 10_000;
/** The shortest text that can go beyond a limit: so many `"a":1,`. Anything shorter need not be looked at. */
export const MIN_EXCESS_BYTES = 5 * MAX_KEYS;

const HALF_A_PAIR = /\p{Cs}/u;

export interface Strictness {
  /** No name twice in one object: the last would win, and the first be lost without a word. */
  readonly unique?: boolean;
  /** No half of a surrogate pair, which cannot be written as UTF-8. */
  readonly wellFormed?: boolean;
}

interface Container {
  readonly keys: Set<string> | undefined;
  readonly isObject: boolean;
  count: number;
}

/** What is too much in a JSON text, in words; undefined where nothing is. */
export function findExcess(json: string, { unique = false, wellFormed = false }: Strictness = {}): string | undefined {
  const open: Container[] = [];
  let isKey = false;
  for (let at = 0; at < json.length; at++) {
    const sign = json[at];
    const inside = open.at(-1);
    if (sign === '"') {
      const end = endOfString(json, at);
      const text = wellFormed || (isKey && unique) ? textOf(json.slice(at, end + 1)) : "";
      if (wellFormed && HALF_A_PAIR.test(text)) return "A text is not valid Unicode: it has half of a surrogate pair";
      if (isKey && inside?.keys?.has(text) === true) return `${JSON.stringify(shortened(text))} is given twice`;
      if (isKey) inside?.keys?.add(text);
      isKey = false;
      at = end;
    } else if (sign === "{" || sign === "[") {
      const isObject = sign === "{";
      open.push({ isObject, keys: isObject && unique ? new Set() : undefined, count: 1 });
      isKey = isObject;
    } else if (sign === "}" || sign === "]") {
      open.pop();
      isKey = false;
    } else if (sign === "," && inside !== undefined) {
      inside.count++;
      isKey = inside.isObject;
      if (inside.count > (inside.isObject ? MAX_KEYS : MAX_ELEMENTS)) {
        return inside.isObject
          ? `An object has more than ${MAX_KEYS} members`
          : `A list has more than ${MAX_ELEMENTS} elements`;
      }
    }
  }
  return undefined;
}

/** Where the closing quote is. Texts are long where messages are: a look at each character took longer than the call. */
function endOfString(json: string, start: number): number {
  for (let at = start; ;) {
    at = json.indexOf('"', at + 1);
    if (at < 0) return json.length;
    let unescaped = at;
    while (json[unescaped - 1] === "\\") unescaped--;
    if ((at - unescaped) % 2 === 0) return at;
  }
}

function textOf(quoted: string): string {
  return quoted.includes("\\") ? String(JSON.parse(quoted)) : quoted.slice(1, -1);
}

function shortened(name: string): string {
  return name.length > 80 ? `${name.slice(0, 80)}…` : name;
}
