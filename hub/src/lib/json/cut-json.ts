// Truncates JSON to valid JSON: drops an incomplete value at the end and closes open containers. Does not parse, so the cost depends
// on the length of the result and not of the input.

const QUOTE = 0x22;
const BACKSLASH = 0x5c;
const COMMA = 0x2c;
const COLON = 0x3a;
const BRACE = 0x7b;
const BRACKET = 0x5b;
const CLOSE_BRACE = 0x7d;
const CLOSE_BRACKET = 0x5d;

/** Valid JSON of at most `maxBytes` that begins like the given one; `null` if nothing fits. */
export function cutJson(bytes: Buffer, maxBytes: number): Buffer {
  const closers: number[] = [];
  let isKey = false;
  /** The end of the last complete value. */
  let kept = 0;
  let at = 0;
  // The closing brackets have to fit too.
  const fits = (end: number, depth: number) => end + depth <= maxBytes;
  while (at < bytes.length) {
    const byte = bytes[at] ?? 0;
    if (byte === QUOTE) {
      const end = stringEnd(bytes, at, maxBytes);
      if (end === undefined || !fits(end, closers.length)) {
        return isKey ? close(bytes, kept, closers) : closeString(bytes, at, maxBytes, closers);
      }
      at = end;
      if (!isKey) kept = at;
    } else if (byte === BRACE || byte === BRACKET) {
      if (!fits(at + 1, closers.length + 1)) break;
      closers.push(byte === BRACE ? CLOSE_BRACE : CLOSE_BRACKET);
      isKey = byte === BRACE;
      kept = ++at;
    } else if (byte === CLOSE_BRACE || byte === CLOSE_BRACKET) {
      // White space counts as well.
      if (!fits(at + 1, closers.length - 1)) break;
      closers.pop();
      kept = ++at;
    } else if (byte === COMMA) {
      isKey = closers.at(-1) === CLOSE_BRACE;
      at++;
    } else if (byte === COLON) {
      isKey = false;
      at++;
    } else if (byte <= 0x20) {
      at++;
    } else {
      const end = scalarEnd(bytes, at);
      // A number at the end of the bytes may be incomplete.
      if (!fits(end, closers.length) || (end === bytes.length && closers.length > 0)) break;
      at = end;
      kept = at;
    }
    if (closers.length === 0 && kept === at && at > 0) break;
  }
  return close(bytes, kept, closers);
}

const NULL = Buffer.from("null");

function close(bytes: Buffer, kept: number, closers: readonly number[]): Buffer {
  if (kept === 0) return NULL;
  return Buffer.concat([bytes.subarray(0, kept), Buffer.from(closers.toReversed())]);
}

/** Ends a string after the last complete character that fits. */
function closeString(bytes: Buffer, start: number, maxBytes: number, closers: readonly number[]): Buffer {
  let end = Math.min(bytes.length, maxBytes - closers.length - 1);
  if (end <= start) return NULL;
  // Not inside a multi-byte character …
  while (end > start + 1 && ((bytes[end] ?? 0) & 0xc0) === 0x80) end--;
  // … nor inside an escape sequence, which has up to six bytes.
  for (let at = Math.max(start + 1, end - 6); at < end; at++) {
    if (bytes[at] !== BACKSLASH || isEscaped(bytes, at, start)) continue;
    const length = bytes[at + 1] === 0x75 ? 6 : 2;
    if (at + length > end) end = at;
  }
  return Buffer.concat([bytes.subarray(0, end), Buffer.from([QUOTE, ...closers.toReversed()])]);
}

function isEscaped(bytes: Buffer, at: number, start: number): boolean {
  let before = at - 1;
  while (before > start && bytes[before] === BACKSLASH) before--;
  return (at - before) % 2 === 0;
}

/** The offset after a string; undefined if it ends beyond `maxBytes`. */
function stringEnd(bytes: Buffer, start: number, maxBytes: number): number | undefined {
  let at = start;
  for (;;) {
    at = bytes.indexOf(QUOTE, at + 1);
    if (at < 0 || at >= maxBytes) return undefined;
    if (!isEscaped(bytes, at, start)) return at + 1;
  }
}

function scalarEnd(bytes: Buffer, start: number): number {
  let at = start;
  for (; at < bytes.length; at++) {
    const byte = bytes[at] ?? 0;
    if (byte <= 0x20 || byte === COMMA || byte === CLOSE_BRACE || byte === CLOSE_BRACKET) break;
  }
  return at;
}
