// The ways in which a text can stand inside another one, undone: JSON escapes and percent-encoding. Bytes in, bytes out;
// where each byte came from is kept for whoever wants to change the original.

const BACKSLASH = 0x5c;
const PERCENT = 0x25;
const LETTER_U = 0x75;
const REPLACEMENT = 0xfffd;
/** The letter after the backslash, and the byte it stands for. */
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

/** A text with its escapes undone. */
export interface Unescaped {
  readonly bytes: Buffer;
  /** Where in the given text a byte came from; for the end of the bytes, the end of that text. */
  originOf(at: number): number;
}

/** Undefined where nothing was escaped. What is no valid escape stays as it is. */
export function unescapeJson(bytes: Buffer): Unescaped | undefined {
  return unescape(bytes, BACKSLASH, jsonUnit);
}

/** Undefined where nothing was encoded. */
export function unescapePercent(bytes: Buffer): Unescaped | undefined {
  return unescape(bytes, PERCENT, percentUnit);
}

/** One escape: how long it is, and the code point or (percent-encoding) the byte that it stands for. */
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
  let out: Buffer | undefined;
  /** Pairs: a place in the output, and the one in the input that it continues at. */
  const joints: number[] = [];
  let size = 0;
  let copied = 0;
  let at = bytes.indexOf(mark);
  while (at >= 0) {
    const unit = unitAt(bytes, at);
    if (unit !== undefined) {
      // An escape is never shorter than what it stands for.
      out ??= Buffer.allocUnsafe(bytes.length);
      size += bytes.copy(out, size, copied, at);
      joints.push(size, at);
      if (unit.isByte) out[size++] = unit.code;
      else size += out.write(String.fromCodePoint(unit.code), size);
      copied = at + unit.length;
      joints.push(size, copied);
    }
    at = bytes.indexOf(mark, at + (unit?.length ?? 1));
  }
  if (out === undefined) return undefined;
  size += bytes.copy(out, size, copied);
  return { bytes: out.subarray(0, size), originOf: (place) => originOf(joints, place) };
}

/** Between two joints the text is copied; inside an escape every byte comes from its beginning. */
function originOf(joints: readonly number[], place: number): number {
  let low = 0;
  let high = joints.length / 2;
  while (low < high) {
    const middle = (low + high) >>> 1;
    if ((joints[middle * 2] ?? 0) <= place) low = middle + 1;
    else high = middle;
  }
  if (low === 0) return place;
  const [output = 0, input = 0] = joints.slice((low - 1) * 2);
  const isEscape = (low - 1) % 2 === 0;
  return isEscape ? input : input + place - output;
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
