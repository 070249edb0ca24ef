// The outermost members of a JSON object in bytes, without parsing their values: all that a minimal proxy needs.

export interface Span {
  readonly from: number;
  readonly to: number;
}

const QUOTE = 0x22;
const BACKSLASH = 0x5c;
const isOpening = (byte: number | undefined) => byte === 0x7b || byte === 0x5b;
const isClosing = (byte: number | undefined) => byte === 0x7d || byte === 0x5d;
const isBetween = (byte: number | undefined) =>
  byte === 0x2c || byte === 0x3a || byte === 0x20 || byte === 0x0a || byte === 0x0d || byte === 0x09;

/** The spans of the member values of the object that begins at `from`. The JSON must be valid. */
export function membersOf(bytes: Buffer, from = 0): Map<string, Span> {
  const members = new Map<string, Span>();
  let at = from + 1;
  while (at < bytes.length) {
    while (isBetween(bytes[at])) at++;
    if (bytes[at] !== QUOTE) break;
    const keyEnd = stringEnd(bytes, at);
    let value = keyEnd;
    while (isBetween(bytes[value])) value++;
    const to = valueEnd(bytes, value);
    members.set(bytes.toString("latin1", at + 1, keyEnd - 1), { from: value, to });
    at = to;
  }
  return members;
}

export function textAt(bytes: Buffer, { from, to }: Span): string {
  return bytes.toString("utf8", from, to);
}

/** Up to this size a message is cheaper to send as one string together with its head. */
const TEXT_MAX = 65_536;

/** Replaces a span by another text. */
export function replaced(bytes: Buffer, { from, to }: Span, text: string): string | Buffer {
  if (bytes.length > TEXT_MAX) return Buffer.concat([bytes.subarray(0, from), Buffer.from(text), bytes.subarray(to)]);
  return bytes.toString("utf8", 0, from) + text + bytes.toString("utf8", to);
}

function valueEnd(bytes: Buffer, from: number): number {
  if (bytes[from] === QUOTE) return stringEnd(bytes, from);
  let at = from;
  if (!isOpening(bytes[from])) {
    while (at < bytes.length && !isBetween(bytes[at]) && !isClosing(bytes[at])) at++;
    return at;
  }
  for (let depth = 0; at < bytes.length; at++) {
    if (bytes[at] === QUOTE) at = stringEnd(bytes, at) - 1;
    else if (isOpening(bytes[at])) depth++;
    else if (isClosing(bytes[at]) && --depth === 0) return at + 1;
  }
  return at;
}

/** The position after the closing quote. */
function stringEnd(bytes: Buffer, from: number): number {
  for (let end = bytes.indexOf(QUOTE, from + 1); end >= 0; end = bytes.indexOf(QUOTE, end + 1)) {
    let first = end;
    while (bytes[first - 1] === BACKSLASH) first--;
    if ((end - first) % 2 === 0) return end + 1;
  }
  return bytes.length;
}
