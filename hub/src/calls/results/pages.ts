// Text in pages of a number of bytes, never inside a character.

export function byteLength(text: string): number {
  return Buffer.byteLength(text);
}

/** The beginning of a text, of at most so many bytes of UTF-8. */
export function cutText(text: string, maxBytes: number): string {
  if (text.length <= maxBytes / 3 || byteLength(text) <= maxBytes) return text;
  const bytes = Buffer.from(text.slice(0, maxBytes));
  return bytes.subarray(0, characterStart(bytes, maxBytes)).toString();
}

/** Page 1 is the first. Undefined beyond the last. */
export function pageOf(text: string, page: number, maxBytes: number): string | undefined {
  const bytes = Buffer.from(text);
  const from = characterStart(bytes, (page - 1) * maxBytes);
  if (page < 1 || (page > 1 && from >= bytes.length)) return undefined;
  return bytes.subarray(from, characterStart(bytes, page * maxBytes)).toString();
}

export function pagesOf(text: string, maxBytes: number): number {
  return Math.max(1, Math.ceil(byteLength(text) / maxBytes));
}

/** The start of the character at an offset. */
function characterStart(bytes: Buffer, offset: number): number {
  let at = Math.min(Math.floor(offset), bytes.length);
  while (at > 0 && at < bytes.length && ((bytes[at] ?? 0) & 0xc0) === 0x80) at--;
  return at;
}
