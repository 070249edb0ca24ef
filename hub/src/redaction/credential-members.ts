// Finds members whose name means a credential in text: in JSON, in JSON inside strings with any number of escapes of the
// quotes, and in Python's notation.

import { CREDENTIAL_HINTS, isCredentialKey } from "./credential-key.ts";
import type { Span } from "./secret-forms.ts";

const COLON = 0x3a;
const BACKSLASH = 0x5c;
/** Longer names are not considered. */
const MAX_NAME = 128;

/** Four lower-case bytes of a name as a number. Names are read from their end, so the next byte goes in front. */
function gramBefore(gram: number, byte: number): number {
  return (gram >>> 8) | ((byte | 0x20) << 24);
}

const HINTS: ReadonlySet<number> = new Set(
  CREDENTIAL_HINTS.map((hint) => [...Buffer.from(hint)].reduceRight(gramBefore, 0)),
);
/** 1 if a hint has this hash. Checked before the set, which is slower. */
const HINT_TABLE = new Uint8Array(4096);
for (const gram of HINTS) HINT_TABLE[hash(gram)] = 1;

function hash(gram: number): number {
  return Math.imul(gram, 0x9e3779b1) >>> 20;
}

/** Whether the text has such a member. */
export function hasCredentialMember(bytes: Buffer): boolean {
  for (let colon = bytes.indexOf(COLON); colon >= 0; colon = bytes.indexOf(COLON, colon + 1)) {
    if (isAfterCredential(bytes, colon)) return true;
  }
  return false;
}

/** The values of such members, without quotes. */
export function credentialValues(bytes: Buffer): Span[] {
  const spans: Span[] = [];
  for (let colon = bytes.indexOf(COLON); colon >= 0; colon = bytes.indexOf(COLON, colon + 1)) {
    const value = isAfterCredential(bytes, colon) ? valueAfter(bytes, colon) : undefined;
    if (value !== undefined) spans.push(value);
  }
  return spans;
}

/** Whether the name before this colon means a credential. */
function isAfterCredential(bytes: Buffer, colon: number): boolean {
  let end = colon - 1;
  while (end > 0 && isBlank(bytes[end])) end--;
  if (!isQuote(bytes[end] ?? 0)) return false;
  end = backslashesBefore(bytes, end);
  // Some hints include the quote or backslash that follows.
  let gram = gramBefore(0, bytes[end] ?? 0);
  let isHinted = false;
  let start = end;
  for (; start > 0 && end - start < MAX_NAME; start--) {
    const byte = bytes[start - 1] ?? 0;
    if (endsName(byte)) break;
    gram = gramBefore(gram, byte);
    if (HINT_TABLE[hash(gram)] === 1 && HINTS.has(gram)) isHinted = true;
  }
  return isHinted && isCredentialKey(bytes.toString("utf8", start, end));
}

/** An unterminated value extends to the end of the bytes. */
function valueAfter(bytes: Buffer, colon: number): Span | undefined {
  let start = colon + 1;
  while (isBlank(bytes[start])) start++;
  let quote = start;
  while (bytes[quote] === BACKSLASH) quote++;
  let end = start;
  if (isQuote(bytes[quote] ?? 0)) {
    start = quote + 1;
    end = closingQuote(bytes, quote);
    // The backslashes of the closing quote belong to it, not to the value.
    if (end < bytes.length) end -= quote - backslashesBefore(bytes, quote);
  } else if (bytes[start] === 0x7b || bytes[start] === 0x5b) {
    end = closingBracket(bytes, start);
  } else {
    while (end < bytes.length && !endsScalar(bytes[end] ?? 0)) end++;
    if (/^(?:true|false|null)$/.test(bytes.toString("latin1", start, end))) return undefined;
  }
  return end > start ? { start, end } : undefined;
}

/**
 * The position of the quote that closes this one. A quote escaped for n levels has 2^n-1 backslashes. A quote inside the
 * string has more, and the backslashes of an escaped backslash before it come in whole groups.
 */
function closingQuote(bytes: Buffer, open: number): number {
  const level = open - backslashesBefore(bytes, open);
  for (let at = open + 1; at < bytes.length; at++) {
    if (bytes[at] !== bytes[open]) continue;
    const count = at - Math.max(backslashesBefore(bytes, at), open + 1);
    if (count >= level && (count - level) % (2 * (level + 1)) === 0) return at;
  }
  return bytes.length;
}

/** The offset after the bracket that closes the one at `start`. */
function closingBracket(bytes: Buffer, start: number): number {
  let depth = 0;
  for (let at = start; at < bytes.length; at++) {
    const byte = bytes[at] ?? 0;
    if (isQuote(byte)) at = closingQuote(bytes, at);
    else if (byte === 0x7b || byte === 0x5b) depth++;
    else if ((byte === 0x7d || byte === 0x5d) && --depth === 0) return at + 1;
  }
  return bytes.length;
}

/** The start of the run of backslashes that ends before this position. */
function backslashesBefore(bytes: Buffer, at: number): number {
  let start = at;
  while (start > 0 && bytes[start - 1] === BACKSLASH) start--;
  return start;
}

function isBlank(byte: number | undefined): boolean {
  return byte === 0x20 || byte === 0x09 || byte === 0x0a || byte === 0x0d;
}

function isQuote(byte: number): boolean {
  return byte === 0x22 || byte === 0x27;
}

function endsName(byte: number): boolean {
  return byte < 0x20 || byte === BACKSLASH || isQuote(byte);
}

function endsScalar(byte: number): boolean {
  return byte <= 0x20 || byte === 0x2c || byte === 0x7d || byte === 0x5d || isQuote(byte) || byte === BACKSLASH;
}
