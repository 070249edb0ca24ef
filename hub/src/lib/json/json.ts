// JSON as bytes: finds the members of an object without parsing their values, and replaces some of them. All other bytes stay the same,
// so numbers, key order and unknown fields pass through the hub unchanged. Does not check validity: callers run JSON.parse too.

export type JsonObject = { readonly [key: string]: unknown };

export function isObject(value: unknown): value is JsonObject {
  return typeof value === "object" && value !== null && !Array.isArray(value);
}

export interface Member {
  readonly key: string;
  readonly keyStart: number;
  readonly valueStart: number;
  readonly valueEnd: number;
}

const QUOTE = 0x22;
const BACKSLASH = 0x5c;
const OPEN_BRACE = 0x7b;
const CLOSE_BRACE = 0x7d;
const OPEN_BRACKET = 0x5b;
const CLOSE_BRACKET = 0x5d;
const COMMA = 0x2c;
const COLON = 0x3a;

/** The members of an object; undefined if the bytes are not an object, are incomplete, or are nested too deeply. */
export function membersOf(bytes: Buffer, maxDepth = 256): Member[] | undefined {
  const members: Member[] = [];
  let at = skipBlank(bytes, 0);
  if (bytes[at] !== OPEN_BRACE) return undefined;
  at = skipBlank(bytes, at + 1);
  if (bytes[at] === CLOSE_BRACE) return members;
  for (;;) {
    if (bytes[at] !== QUOTE) return undefined;
    const keyStart = at;
    const keyEnd = stringEnd(bytes, at);
    at = skipBlank(bytes, keyEnd);
    if (bytes[at] !== COLON) return undefined;
    const valueStart = skipBlank(bytes, at + 1);
    const valueEnd = skipValue(bytes, valueStart, maxDepth - 1);
    if (valueEnd === undefined) return undefined;
    members.push({ key: keyText(bytes, keyStart, keyEnd), keyStart, valueStart, valueEnd });
    at = skipBlank(bytes, valueEnd);
    if (bytes[at] === CLOSE_BRACE) return members;
    if (bytes[at] !== COMMA) return undefined;
    at = skipBlank(bytes, at + 1);
  }
}

/**
 * The elements of an array, as bytes; undefined if the bytes are not an array, are incomplete, or are nested too deeply. Stops
 * after `max + 1` elements.
 */
export function elementsOf(bytes: Buffer, max: number, maxDepth = 256): Buffer[] | undefined {
  const elements: Buffer[] = [];
  let at = skipBlank(bytes, 0);
  if (bytes[at] !== OPEN_BRACKET) return undefined;
  at = skipBlank(bytes, at + 1);
  if (bytes[at] === CLOSE_BRACKET) return isBlankFrom(bytes, at + 1) ? elements : undefined;
  while (elements.length <= max) {
    const end = skipValue(bytes, at, maxDepth - 1);
    if (end === undefined) return undefined;
    elements.push(bytes.subarray(at, end));
    at = skipBlank(bytes, end);
    if (bytes[at] === CLOSE_BRACKET) return isBlankFrom(bytes, at + 1) ? elements : undefined;
    if (bytes[at] !== COMMA) return undefined;
    at = skipBlank(bytes, at + 1);
  }
  return elements;
}

/** The bytes of one member's value. */
export function valueOf(bytes: Buffer, members: readonly Member[], key: string): Buffer | undefined {
  const member = members.find((candidate) => candidate.key === key);
  return member && bytes.subarray(member.valueStart, member.valueEnd);
}

/** Replaces members (by JSON as a string or bytes) or removes them (undefined). New members go to the end. */
export function editObject(
  bytes: Buffer,
  changes: Readonly<Record<string, string | Buffer | undefined>>,
  members: readonly Member[] = membersOf(bytes) ?? [],
): Buffer {
  const parts: Buffer[] = [];
  const add = (part: Buffer) => parts.push(parts.length === 0 ? OPEN : SEPARATOR, part);
  for (const member of members) {
    if (!Object.hasOwn(changes, member.key)) add(bytes.subarray(member.keyStart, member.valueEnd));
  }
  for (const [key, value] of Object.entries(changes)) {
    if (value === undefined) continue;
    add(Buffer.from(`${JSON.stringify(key)}:`));
    parts.push(typeof value === "string" ? Buffer.from(value) : value);
  }
  if (parts.length === 0) return EMPTY;
  parts.push(CLOSE);
  return Buffer.concat(parts);
}

const OPEN = Buffer.from("{");
const SEPARATOR = Buffer.from(",");
const CLOSE = Buffer.from("}");
const EMPTY = Buffer.from("{}");

/** The same JSON on one line. A line break in valid JSON is always white space: inside strings it is escaped. */
export function onOneLine(bytes: Buffer): Buffer {
  if (!bytes.includes(0x0a) && !bytes.includes(0x0d)) return bytes;
  const line = Buffer.from(bytes);
  for (let at = 0; at < line.length; at++) {
    if (line[at] === 0x0a || line[at] === 0x0d) line[at] = 0x20;
  }
  return line;
}

function isBlankFrom(bytes: Buffer, from: number): boolean {
  return skipBlank(bytes, from) === bytes.length;
}

/** The offset of the next byte that is not white space. */
export function skipBlank(bytes: Buffer, from: number): number {
  let at = from;
  for (;;) {
    const byte = bytes[at];
    if (byte !== 0x20 && byte !== 0x0a && byte !== 0x0d && byte !== 0x09) return at;
    at++;
  }
}

/** Strings are scanned by byte up to this length: for short ones the call of indexOf costs more. */
const SHORT_BYTES = 48;

/** The offset after the string that begins at `start`. */
function stringEnd(bytes: Buffer, start: number): number {
  let at = start;
  for (const limit = start + SHORT_BYTES; at < limit;) {
    const byte = bytes[++at];
    if (byte === QUOTE) return at + 1;
    // Skip an escaped character.
    if (byte === BACKSLASH) at++;
    else if (byte === undefined) return bytes.length;
  }
  for (;;) {
    at = bytes.indexOf(QUOTE, at + 1);
    if (at < 0) return bytes.length;
    let before = at - 1;
    while (bytes[before] === BACKSLASH) before--;
    if ((at - before) % 2 === 1) return at + 1;
  }
}

function skipValue(bytes: Buffer, start: number, maxDepth: number): number | undefined {
  const first = bytes[start];
  if (first === QUOTE) return stringEnd(bytes, start);
  if (first !== OPEN_BRACE && first !== OPEN_BRACKET) return skipScalar(bytes, start);
  let depth = 0;
  for (let at = start; at < bytes.length; at++) {
    const byte = bytes[at];
    if (byte === QUOTE) {
      at = stringEnd(bytes, at) - 1;
    } else if (byte === OPEN_BRACE || byte === OPEN_BRACKET) {
      if (++depth > maxDepth) return undefined;
    } else if (byte === CLOSE_BRACE || byte === CLOSE_BRACKET) {
      if (--depth === 0) return at + 1;
    }
  }
  return undefined;
}

function skipScalar(bytes: Buffer, start: number): number | undefined {
  let at = start;
  while (at < bytes.length) {
    const byte = bytes[at];
    if (byte === COMMA || byte === CLOSE_BRACE || byte === CLOSE_BRACKET || skipBlank(bytes, at) > at) break;
    at++;
  }
  return at === start ? undefined : at;
}

/** Common keys are compared as bytes, which avoids decoding them. */
const COMMON_KEYS = [
  "id",
  "name",
  "_meta",
  "error",
  "method",
  "params",
  "result",
  "content",
  "isError",
  "jsonrpc",
  "arguments",
].map((key) => ({ key, bytes: Buffer.from(key) }));

function commonKey(bytes: Buffer, start: number, length: number): string | undefined {
  next: for (const { key, bytes: common } of COMMON_KEYS) {
    if (common.length !== length) continue;
    for (let at = 0; at < length; at++) if (bytes[start + at] !== common[at]) continue next;
    return key;
  }
  return undefined;
}

function keyText(bytes: Buffer, start: number, end: number): string {
  const common = commonKey(bytes, start + 1, end - start - 2);
  if (common !== undefined) return common;
  const text = bytes.toString("utf8", start + 1, end - 1);
  if (!text.includes("\\")) return text;
  try {
    return String(JSON.parse(`"${text}"`));
  } catch {
    return text; // invalid JSON, which JSON.parse of the whole message reports
  }
}
