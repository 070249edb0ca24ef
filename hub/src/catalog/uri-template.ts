// Whether a URI can come from a template (RFC 6570). Permissive, since the server decides in the end; linear time, since both may be
// hostile. Extracts no values.
import { matchesGlob } from "./glob.ts";

/** Longer URIs match no template. */
const MAX_URI_LENGTH = 65_536;
/** `{var}`: one or more characters, none of them a slash. */
const SEGMENT = Symbol("segment");

export class UriTemplate {
  /** Literals and segments before the first expression that may match anything. */
  readonly #head: readonly (string | typeof SEGMENT)[];
  /** Literals after that expression, with anything between them. */
  readonly #tail: readonly string[] | undefined;
  /** `?` or `#`, if the template ends in an optional query or fragment. */
  readonly #end: string | undefined;

  /** @example new UriTemplate("messages://{source}/{chat}{?since,limit}").matches("messages://telegram/Antti?since=7d") */
  constructor(template: string) {
    const { head, tail, end } = parse(template);
    this.#head = head;
    this.#tail = tail;
    this.#end = end;
  }

  matches(uri: string): boolean {
    if (uri.length > MAX_URI_LENGTH) return false;
    const end = this.#end === undefined ? -1 : uri.indexOf(this.#end);
    const text = end === -1 ? uri : uri.slice(0, end);
    const at = this.#matchHead(text);
    if (at === undefined) return false;
    return this.#tail === undefined ? at === text.length : matchesGlob(this.#tail, text, at);
  }

  /** The end of the head in the text. Uses the first match of each literal: a later one never matches more. */
  #matchHead(text: string): number | undefined {
    let at = 0;
    let slash = -1;
    for (let index = 0; index < this.#head.length; index++) {
      const token = this.#head[index];
      if (typeof token === "string") {
        if (!text.startsWith(token, at)) return undefined;
        at += token.length;
        continue;
      }
      if (slash < at) slash = indexOrEnd(text, "/", at);
      const next = this.#nextAfterSegment(text, at, index);
      if (next <= at || next > slash) return undefined;
      at = next;
    }
    return at;
  }

  /** The start of the literal after a segment, or -1. The last literal must be at the end of the text. */
  #nextAfterSegment(text: string, at: number, index: number): number {
    const literal = this.#head[index + 1];
    if (typeof literal !== "string") return this.#tail === undefined ? text.length : at + 1;
    const isLast = index + 2 === this.#head.length && this.#tail === undefined;
    if (!isLast) return text.indexOf(literal, at + 1);
    return text.endsWith(literal) ? text.length - literal.length : -1;
  }
}

interface Parsed {
  readonly head: (string | typeof SEGMENT)[];
  readonly tail: string[] | undefined;
  readonly end: string | undefined;
}

function parse(template: string): Parsed {
  const head: (string | typeof SEGMENT)[] = [];
  let tail: string[] | undefined;
  let at = 0;
  while (at < template.length) {
    const open = indexOrEnd(template, "{", at);
    const close = template.indexOf("}", open);
    const literal = template.slice(at, close === -1 ? undefined : open);
    if (tail !== undefined) tail.push(tail.pop() + literal);
    else if (literal !== "") head.push(literal);
    if (close === -1) break;

    const expression = template.slice(open + 1, close);
    at = close + 1;
    const operator = expression.charAt(0);
    if (operator === "?" || operator === "#") return { head, tail, end: operator };
    // Any expression but `{var}` matches anything; so does `{var}` after such an expression.
    if (tail !== undefined) tail.push("");
    else if ("+/.;&".includes(operator) || expression.endsWith("*")) tail = ["", ""];
    else if (head.at(-1) !== SEGMENT) head.push(SEGMENT);
  }
  return { head, tail, end: undefined };
}

function indexOrEnd(text: string, search: string, from: number): number {
  const found = text.indexOf(search, from);
  return found === -1 ? text.length : found;
}
