// Many short byte strings, looked for in one pass: the secrets in the forms they can take, and the hints of a credential's
// name. What is done about a find is left to redact.ts.

import { CREDENTIAL_HINTS, isCredentialKey } from "./credential-key.ts";

/** Half-open, in bytes. */
export interface Span {
  readonly start: number;
  readonly end: number;
}

interface Needle {
  readonly bytes: Buffer;
  /** Base64 is found by its middle, and hidden as the whole run of letters around it. */
  readonly form: "text" | "base64" | "hex";
}

const GRAM = 4;
const TABLE_BITS = 14;
/** The longest name of a member that is looked at. */
const MAX_KEY = 128;

export class Needles {
  /** A filter over every four bytes: 0 where no needle begins. Letters count in lower case. */
  readonly #table = new Uint8Array(1 << TABLE_BITS);
  readonly #byGram = new Map<number, Needle[]>();
  readonly #hints = new Set<number>();
  /** Whether a secret holds what JSON writes with a short escape, or a slash. */
  readonly hasEscapable: boolean;
  readonly hasSlash: boolean;
  readonly longestBytes: number;

  constructor(secrets: Iterable<string>) {
    const needles = [...secrets].flatMap(formsOf);
    for (const needle of needles) {
      const gram = gramAt(needle.bytes, 0);
      const group = this.#byGram.get(gram);
      if (group === undefined) this.#byGram.set(gram, [needle]);
      else group.push(needle);
      this.#table[slot(gram)] = 1;
    }
    for (const hint of CREDENTIAL_HINTS) {
      const gram = gramAt(Buffer.from(hint), 0);
      this.#hints.add(gram);
      this.#table[slot(gram)] = 1;
    }
    this.hasEscapable = needles.some(({ bytes }) => bytes.some((byte) => byte < 0x20 || byte === 0x22 || byte === 0x5c));
    this.hasSlash = needles.some(({ bytes }) => bytes.includes(0x2f));
    this.longestBytes = Math.max(0, ...needles.map(({ bytes }) => bytes.length));
  }

  /** Whether there is anything to hide: a secret, or (where asked) the name of a credential followed by a colon. */
  has(bytes: Buffer, { names = true }: { names?: boolean } = {}): boolean {
    return this.#scan(bytes, (at, gram) => {
      if (names && this.#hints.has(gram) && keyAround(bytes, at) !== undefined) return true;
      return this.#byGram.get(gram)?.some((needle) => matches(bytes, at, needle)) === true;
    });
  }

  /** Where secrets stand, and the values of members that are credentials by their name. They may overlap. */
  find(bytes: Buffer): Span[] {
    const spans: Span[] = [];
    this.#scan(bytes, (at, gram) => {
      const colon = this.#hints.has(gram) ? keyAround(bytes, at) : undefined;
      const value = colon === undefined ? undefined : valueAfter(bytes, colon);
      if (value !== undefined) spans.push(value);
      for (const needle of this.#byGram.get(gram) ?? []) {
        if (matches(bytes, at, needle)) spans.push(spanOf(bytes, at, needle));
      }
      return false;
    });
    return spans;
  }

  #scan(bytes: Buffer, visit: (at: number, gram: number) => boolean): boolean {
    const table = this.#table;
    let gram = 0;
    for (let at = 0; at < bytes.length; at++) {
      gram = (gram << 8) | ((bytes[at] ?? 0) | 0x20);
      if (table[slot(gram)] === 1 && at >= GRAM - 1 && visit(at - GRAM + 1, gram)) return true;
    }
    return false;
  }
}

function formsOf(secret: string): Needle[] {
  const bytes = Buffer.from(secret);
  const texts = new Set([secret, secret.replaceAll(" ", "+")]);
  const cores = new Set([0, 1, 2].flatMap((offset) => base64Core(bytes, offset)));
  return [
    ...[...texts].map((text): Needle => ({ bytes: Buffer.from(text), form: "text" })),
    ...[...cores].map((core): Needle => ({ bytes: Buffer.from(core), form: "base64" })),
    { bytes: Buffer.from(bytes.toString("hex")), form: "hex" },
  ];
}

/** The letters of base64 that do not depend on what stands around the secret, where it begins `offset` bytes into a group. */
function base64Core(bytes: Buffer, offset: number): string[] {
  const text = Buffer.concat([Buffer.alloc(offset), bytes]).toString("base64");
  const core = text.slice(Math.ceil((offset * 8) / 6), Math.floor(((offset + bytes.length) * 8) / 6));
  return [core, core.replaceAll("+", "-").replaceAll("/", "_")];
}

function gramAt(bytes: Buffer, at: number): number {
  let gram = 0;
  for (let index = at; index < at + GRAM; index++) gram = (gram << 8) | ((bytes[index] ?? 0) | 0x20);
  return gram;
}

function slot(gram: number): number {
  return Math.imul(gram, 0x9e3779b1) >>> (32 - TABLE_BITS);
}

function matches(bytes: Buffer, at: number, { bytes: needle, form }: Needle): boolean {
  if (at + needle.length > bytes.length) return false;
  if (form !== "hex") return bytes.compare(needle, 0, needle.length, at, at + needle.length) === 0;
  return needle.every((byte, index) => ((bytes[at + index] ?? 0) | 0x20) === byte);
}

function spanOf(bytes: Buffer, at: number, { bytes: needle, form }: Needle): Span {
  let start = at;
  let end = at + needle.length;
  if (form === "base64") {
    while (start > 0 && isBase64(bytes[start - 1] ?? 0)) start--;
    while (end < bytes.length && isBase64(bytes[end] ?? 0)) end++;
  }
  return { start, end };
}

/** The colon after the quoted name that a hint stands in, if that is the name of a credential. */
function keyAround(bytes: Buffer, hint: number): number | undefined {
  let start = hint;
  while (start > 0 && hint - start < MAX_KEY && isKeyByte(bytes[start - 1] ?? 0)) start--;
  let end = hint;
  while (end < bytes.length && end - hint < MAX_KEY && isKeyByte(bytes[end] ?? 0)) end++;
  if (!isQuote(bytes[start - 1] ?? 0)) return undefined;
  let at = end;
  // JSON inside a string of JSON has its quotes escaped.
  while (bytes[at] === 0x5c) at++;
  if (!isQuote(bytes[at] ?? 0)) return undefined;
  at = skipBlank(bytes, at + 1);
  if (bytes[at] !== 0x3a) return undefined;
  return isCredentialKey(bytes.toString("utf8", start, end)) ? at : undefined;
}

/** The value after a colon, without its quotes; to the end of the bytes where it does not end. */
function valueAfter(bytes: Buffer, colon: number): Span | undefined {
  const start = skipBlank(bytes, colon + 1);
  const first = bytes[start] ?? 0;
  if (isQuote(first)) return { start: start + 1, end: quotedEnd(bytes, start) };
  if (first === 0x7b || first === 0x5b) return { start, end: nestedEnd(bytes, start) };
  let end = start;
  while (end < bytes.length && !isScalarEnd(bytes[end] ?? 0)) end++;
  const text = bytes.toString("latin1", start, end);
  return end === start || text === "true" || text === "false" || text === "null" ? undefined : { start, end };
}

/** Where the closing quote stands. */
function quotedEnd(bytes: Buffer, start: number): number {
  for (let at = start + 1; at < bytes.length; at++) {
    if (bytes[at] === 0x5c) at++;
    else if (bytes[at] === bytes[start]) return at;
  }
  return bytes.length;
}

/** The offset after the bracket that closes the one at `start`. */
function nestedEnd(bytes: Buffer, start: number): number {
  let depth = 0;
  for (let at = start; at < bytes.length; at++) {
    const byte = bytes[at] ?? 0;
    if (isQuote(byte)) at = quotedEnd(bytes, at);
    else if (byte === 0x7b || byte === 0x5b) depth++;
    else if ((byte === 0x7d || byte === 0x5d) && --depth === 0) return at + 1;
  }
  return bytes.length;
}

function skipBlank(bytes: Buffer, from: number): number {
  let at = from;
  while (bytes[at] === 0x20 || bytes[at] === 0x09 || bytes[at] === 0x0a || bytes[at] === 0x0d) at++;
  return at;
}

function isQuote(byte: number): boolean {
  return byte === 0x22 || byte === 0x27;
}

function isScalarEnd(byte: number): boolean {
  return byte <= 0x20 || byte === 0x2c || byte === 0x7d || byte === 0x5d || isQuote(byte) || byte === 0x5c;
}

function isAlphanumeric(byte: number): boolean {
  const letter = byte | 0x20;
  return (letter >= 0x61 && letter <= 0x7a) || (byte >= 0x30 && byte <= 0x39);
}

/** What a name may hold without being escaped. */
function isKeyByte(byte: number): boolean {
  return byte >= 0x20 && byte !== 0x5c && !isQuote(byte);
}

/** Both alphabets, and the padding. */
function isBase64(byte: number): boolean {
  return isAlphanumeric(byte) || byte === 0x2b || byte === 0x2f || byte === 0x2d || byte === 0x5f || byte === 0x3d;
}
