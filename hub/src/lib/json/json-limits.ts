// Limits on the number of elements and members in JSON from outside, and optional checks for duplicate keys and invalid Unicode.
// The text has to be valid JSON; callers bound its size and depth.

export const MAX_ELEMENTS = 100_000;
export const MAX_KEYS = 10_000;
/** No shorter text can exceed a limit: a member takes at least five bytes. */
export const MIN_EXCESS_BYTES = 5 * MAX_KEYS;

const LONE_SURROGATE = /\p{Cs}/u;

export interface Strictness {
  /** Refuse duplicate keys: JSON.parse would silently keep only the last. */
  readonly unique?: boolean;
  /** Refuse lone surrogates, which cannot be encoded as UTF-8. */
  readonly wellFormed?: boolean;
}

interface Container {
  readonly keys: Set<string> | undefined;
  readonly isObject: boolean;
  count: number;
}

/** The first violation as a sentence; undefined if there is none. */
export function findExcess(json: string, { unique = false, wellFormed = false }: Strictness = {}): string | undefined {
  const open: Container[] = [];
  let isKey = false;
  for (let at = 0; at < json.length; at++) {
    const character = json[at];
    const inside = open.at(-1);
    if (character === '"') {
      const end = endOfString(json, at);
      const text = wellFormed || (isKey && unique) ? textOf(json.slice(at, end + 1)) : "";
      if (wellFormed && LONE_SURROGATE.test(text)) return "A string is not valid Unicode: it contains a lone surrogate";
      if (isKey && inside?.keys?.has(text) === true) return `Duplicate key ${JSON.stringify(truncated(text))}`;
      if (isKey) inside?.keys?.add(text);
      isKey = false;
      at = end;
    } else if (character === "{" || character === "[") {
      const isObject = character === "{";
      open.push({ isObject, keys: isObject && unique ? new Set() : undefined, count: 1 });
      isKey = isObject;
    } else if (character === "}" || character === "]") {
      open.pop();
      isKey = false;
    } else if (character === "," && inside !== undefined) {
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

/** The offset of the closing quote. */
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

function truncated(name: string): string {
  return name.length > 80 ? `${name.slice(0, 80)}…` : name;
}
