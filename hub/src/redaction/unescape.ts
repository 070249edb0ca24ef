// Undoes JSON escapes and percent-encoding, and remembers where each byte came from, so that the original can be masked.

const BACKSLASH = 0x5c;
const PERCENT = 0x25;
const LETTER_U = 0x75;
const REPLACEMENT = 0xfffd;
/** The letter after the backslash, and the escaped byte. */
const SHORT: ReadonlyMap<number, number> = new Map([
  [0x22, 0x22],
  [0x5c, 0x5c],
  [0x2f, 0x2f],
  [0x62, 0x08],
  [0x66, 0x0c],
  [0x6e, 0x0a],
  [0x72, 0x0d],
  [0x74, 0x09],
]);

/** A text without its escapes. */
export interface Unescaped {
  readonly bytes: Buffer;
  /** Position of a byte in the original text; the start of the escape for a byte that was escaped. */
  originOf(at: number): number;
}

/** Undefined if nothing was escaped. Invalid escapes stay as they are. */
export function unescapeJson(bytes: Buffer): Unescaped | undefined {
  return unescape(bytes, BACKSLASH, jsonUnit);
}

/** Undefined if nothing was encoded. */
export function unescapePercent(bytes: Buffer): Unescaped | undefined {
  return unescape(bytes, PERCENT, percentUnit);
}

/** One escape: its length, and the escaped code point or byte. */
interface Unit {
  readonly length: number;
  readonly code: number;
  readonly isByte: boolean;
}

function unescape(
  bytes: Buffer,
  mark: number,
  unitAt: (bytes: Buffer, at: number) => Unit | undefined,
): Unescaped | undefined {
  if (!bytes.includes(mark)) return undefined;
  // An escape is never shorter than the unescaped bytes.
  const out = Buffer.allocUnsafe(bytes.length);
  const origins = new Uint32Array(bytes.length + 1);
  let size = 0;
  for (let at = 0; at < bytes.length;) {
    const unit = bytes[at] === mark ? unitAt(bytes, at) : undefined;
    origins[size] = at;
    if (unit === undefined || unit.isByte) out[size++] = unit?.code ?? bytes[at] ?? 0;
    else {
      const length = out.write(String.fromCodePoint(unit.code), size);
      origins.fill(at, size, size + length);
      size += length;
    }
    at += unit?.length ?? 1;
  }
  if (size === bytes.length) return undefined;
  origins[size] = bytes.length;
  return { bytes: out.subarray(0, size), originOf: (place) => origins[place] ?? bytes.length };
}

function jsonUnit(bytes: Buffer, at: number): Unit | undefined {
  const letter = bytes[at + 1] ?? 0;
  const short = SHORT.get(letter);
  if (short !== undefined) return { length: 2, code: short, isByte: true };
  if (letter !== LETTER_U) return undefined;
  const first = hex(bytes, at + 2, 4);
  if (first === undefined) return undefined;
  if (first < 0xd800 || first > 0xdfff) return { length: 6, code: first, isByte: false };
  const second = bytes[at + 6] === BACKSLASH && bytes[at + 7] === LETTER_U ? hex(bytes, at + 8, 4) : undefined;
  if (first > 0xdbff || second === undefined || second < 0xdc00 || second > 0xdfff) {
    return { length: 6, code: REPLACEMENT, isByte: false };
  }
  return { length: 12, code: 0x10000 + ((first - 0xd800) << 10) + (second - 0xdc00), isByte: false };
}

function percentUnit(bytes: Buffer, at: number): Unit | undefined {
  const code = hex(bytes, at + 1, 2);
  return code === undefined ? undefined : { length: 3, code, isByte: true };
}

function hex(bytes: Buffer, at: number, digits: number): number | undefined {
  let value = 0;
  for (let index = at; index < at + digits; index++) {
    const digit = hexDigit(bytes[index] ?? 0);
    if (digit < 0) return undefined;
    value = value * 16 + digit;
  }
  return value;
}

function hexDigit(byte: number): number {
  if (byte >= 0x30 && byte <= 0x39) return byte - 0x30;
  const letter = byte | 0x20;
  return letter >= 0x61 && letter <= 0x66 ? letter - 0x57 : -1;
}
