// Finds secrets in unescaped bytes: plain, in base64, in hex. unescape.ts undoes escapes first.

import { ByteSearch } from "./byte-search.ts";

/** Half-open, in bytes. */
export interface Span {
  readonly start: number;
  readonly end: number;
}

interface Form {
  readonly bytes: Buffer;
  /** Base64 is found by the letters that do not depend on the context, and masked with all base64 letters around them. */
  readonly isBase64: boolean;
}

/** Shorter strings have a separate search, because the shortest string determines the speed of a search. */
const LONG = 12;

export class SecretForms {
  readonly #groups: readonly { readonly forms: readonly Form[]; readonly search: ByteSearch }[];
  /** Whether a secret contains a character that JSON must escape, or a slash. */
  readonly hasEscapable: boolean;
  readonly hasSlash: boolean;
  readonly longestBytes: number;

  constructor(secrets: Iterable<string>) {
    const forms = [...secrets].flatMap(formsOf);
    const groups = [
      forms.filter(({ bytes }) => bytes.length < LONG),
      forms.filter(({ bytes }) => bytes.length >= LONG),
    ];
    this.#groups = groups
      .filter((group) => group.length > 0)
      .map((group) => ({ forms: group, search: new ByteSearch(group.map(({ bytes }) => bytes)) }));
    this.hasEscapable = forms.some(({ bytes }) => bytes.some((byte) => byte < 0x20 || byte === 0x22 || byte === 0x5c));
    this.hasSlash = forms.some(({ bytes }) => bytes.includes(0x2f));
    this.longestBytes = forms.reduce((longest, { bytes }) => Math.max(longest, bytes.length), 0);
  }

  isIn(bytes: Buffer): boolean {
    return this.#groups.some(({ search }) => search.some(bytes, () => true));
  }

  /** Spans may overlap. */
  find(bytes: Buffer): Span[] {
    const spans: Span[] = [];
    for (const { forms, search } of this.#groups) {
      search.some(bytes, (index, start) => {
        const form = forms[index];
        if (form !== undefined) spans.push(spanOf(bytes, start, form));
        return false;
      });
    }
    return spans;
  }
}

function formsOf(secret: string): Form[] {
  const bytes = Buffer.from(secret);
  const hex = bytes.toString("hex");
  // Forms encode a space as a plus.
  const plain = new Set([secret, secret.replaceAll(" ", "+"), hex, hex.toUpperCase()]);
  const cores = new Set([0, 1, 2].flatMap((offset) => base64Core(bytes, offset)));
  return [
    ...[...plain].map((text) => ({ bytes: Buffer.from(text), isBase64: false })),
    ...[...cores].map((text) => ({ bytes: Buffer.from(text), isBase64: true })),
  ];
}

/** The base64 letters that do not depend on the context, if the secret begins `offset` bytes into a group of three. */
function base64Core(bytes: Buffer, offset: number): string[] {
  const text = Buffer.concat([Buffer.alloc(offset), bytes]).toString("base64");
  const core = text.slice(Math.ceil((offset * 8) / 6), Math.floor(((offset + bytes.length) * 8) / 6));
  return [core, core.replaceAll("+", "-").replaceAll("/", "_")];
}

function spanOf(bytes: Buffer, at: number, { bytes: { length }, isBase64 }: Form): Span {
  let start = at;
  let end = at + length;
  if (isBase64) {
    while (start > 0 && isBase64Byte(bytes[start - 1] ?? 0)) start--;
    while (end < bytes.length && isBase64Byte(bytes[end] ?? 0)) end++;
  }
  return { start, end };
}

/** Of both alphabets, or padding. */
function isBase64Byte(byte: number): boolean {
  const letter = byte | 0x20;
  if ((letter >= 0x61 && letter <= 0x7a) || (byte >= 0x2f && byte <= 0x39)) return true;
  return byte === 0x2b || byte === 0x2d || byte === 0x5f || byte === 0x3d;
}
