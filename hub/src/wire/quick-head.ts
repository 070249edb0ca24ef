// The head of an ordinary POST, read without Node's parser. Whatever is not plain is left to Node, which decides about it: this
// reader never refuses, and never guesses.

import type { IncomingHttpHeaders } from "node:http";

export interface QuickHead {
  readonly url: string;
  readonly headers: IncomingHttpHeaders;
  readonly bodyBytes: number;
}

const LINE = /^POST (\/[A-Za-z0-9_/-]*) HTTP\/1\.1$/;
/**
 * Names and values as nearly all clients write them: no other characters, nothing before the colon but the name. A value
 * begins with what is no blank, so that there is one way to read it: this is matched before anybody is known.
 */
const HEADER = /^([A-Za-z][A-Za-z0-9-]*):[\t ]*((?:[!-~][\t -~]*)?)$/;
const LENGTH = /^\d{1,9}$/;
/** They say how the connection goes on, or that the body comes in another way. */
const NODES_OWN: ReadonlySet<string> = new Set([
  "expect",
  "http2-settings",
  "proxy-connection",
  "te",
  "trailer",
  "transfer-encoding",
  "upgrade",
]);

/** Clients say the same again and again, but for the length of what they send: to look it up takes a fifth of reading it. */
const MAX_KNOWN = 256;
const MAX_KNOWN_LENGTH = 1 << 10;

export class QuickHeads {
  readonly #known = new Map<string, QuickHead>();

  /** As below. */
  read(text: string): QuickHead | undefined {
    const known = this.#known.get(text);
    if (known !== undefined) return known;
    const head = readQuickHead(text);
    if (head === undefined || text.length > MAX_KNOWN_LENGTH) return head;
    if (this.#known.size >= MAX_KNOWN) this.#known.clear();
    this.#known.set(text, head);
    return head;
  }
}

/** `text` is all of it, without the blank line at its end. Undefined: for Node to read. */
export function readQuickHead(text: string): QuickHead | undefined {
  const [line = "", ...fields] = text.split("\r\n");
  const url = LINE.exec(line)?.[1];
  if (url === undefined) return undefined;
  // No prototype: every name is only a name.
  const headers: Record<string, string> = Object.create(null);
  for (const field of fields) {
    const [, name, value] = HEADER.exec(field) ?? [];
    if (name === undefined || value === undefined) return undefined;
    const key = name.toLowerCase();
    // Twice: which of them counts is for Node to say.
    if (headers[key] !== undefined || NODES_OWN.has(key)) return undefined;
    headers[key] = value.trimEnd();
  }
  const { host = "", connection = "keep-alive", "content-length": length = "" } = headers;
  if (host === "" || connection.toLowerCase() !== "keep-alive" || !LENGTH.test(length)) return undefined;
  return { url, headers, bodyBytes: Number(length) };
}
