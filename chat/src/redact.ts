// Hides what identifies or opens something in a text on its way out: it is replaced by a tag such as `[phone-3]`, the same
// one for the same original, so that a reader can still tell them apart. Where texts go out is left to the surface.

import { invalid } from "./errors.ts";
import { findCodes } from "./redaction/codes.ts";
import { findEmails } from "./redaction/emails.ts";
import { findIbans } from "./redaction/ibans.ts";
import { findCards, findPhones } from "./redaction/numbers.ts";
import { toPlainView } from "./redaction/plain-view.ts";
import type { Span } from "./redaction/span.ts";

export const REDACTION_KINDS = ["email", "iban", "card", "phone", "code"] as const;
export type RedactionKind = (typeof REDACTION_KINDS)[number];

export interface RedactionRules {
  readonly kinds?: readonly RedactionKind[];
  /** Regular expressions of the user; the name is that of the tag. */
  readonly patterns?: readonly { readonly name: string; readonly pattern: string }[];
}

/** In this order: what one has found, the next ones do not see. */
const FINDERS: readonly (readonly [kind: RedactionKind, find: (view: string) => readonly Span[]])[] = [
  ["email", findEmails],
  ["iban", findIbans],
  ["card", findCards],
  ["phone", findPhones],
  ["code", findCodes],
];
/** After so many different ones of a kind, the next get a tag without a number. */
const MAX_NUMBERED = 100_000;
const BLANK = "\ufffc";
const NAME = /^[a-z][a-z0-9_-]{0,30}$/;

/** @example new Redactor({ kinds: ["phone"] }).text("call +1 555 000 0001") // "call [phone-1]" */
export class Redactor {
  readonly #finders: readonly ((view: string) => readonly Span[])[];
  readonly #patterns: readonly (readonly [name: string, pattern: RegExp])[];
  /** Of each kind, the number of each original. */
  readonly #numbers = new Map<string, Map<string, number>>();

  /** @throws {ChatError} INVALID_PARAMETER where a pattern is none. */
  constructor({ kinds = [], patterns = [] }: RedactionRules) {
    this.#finders = FINDERS.filter(([kind]) => kinds.includes(kind)).map(([, find]) => find);
    this.#patterns = patterns.map(({ name, pattern }) => [name, toRegExp(name, pattern)]);
  }

  text(text: string): string {
    const spans = this.#spansOf(text);
    if (spans.length === 0) return text;
    let result = "";
    let at = 0;
    for (const { kind, start, end } of spans) {
      result += text.slice(at, start) + this.#tag(kind, text.slice(start, end));
      at = end;
    }
    return result + text.slice(at);
  }

  #spansOf(text: string): readonly Span[] {
    const found = this.#patterns.flatMap(([kind, pattern]) => matches(kind, pattern, text));
    let view = toPlainView(text);
    for (const find of this.#finders) {
      const spans = find(view);
      found.push(...spans);
      // What is a card cannot be the beginning of a phone number as well.
      view = blank(view, spans);
    }
    // What was recognised once in a text is hidden wherever it stands in it, also without the word that gave it away.
    const everywhere = unique(found.map(({ kind, start, end }) => [text.slice(start, end), kind]));
    return merge([...found, ...everywhere.flatMap(([original, kind]) => occurrences(kind, original, text))]);
  }

  #tag(kind: string, original: string): string {
    const numbers = this.#numbers.get(kind) ?? new Map<string, number>();
    this.#numbers.set(kind, numbers);
    const key = toPlainView(original)
      .toLowerCase()
      .replace(/[^\p{L}\p{N}@]/gu, "");
    const known = numbers.get(key);
    if (known !== undefined) return `[${kind}-${known}]`;
    if (numbers.size >= MAX_NUMBERED) return `[${kind}]`;
    numbers.set(key, numbers.size + 1);
    return `[${kind}-${numbers.size}]`;
  }
}

function toRegExp(name: string, pattern: string): RegExp {
  if (!NAME.test(name)) throw invalid("redact", `'${name}' cannot name a pattern`, "use small letters, digits and -");
  try {
    return new RegExp(pattern, "gu");
  } catch (error) {
    throw invalid("redact", `The pattern '${name}' is not a regular expression`, String(error));
  }
}

function matches(kind: string, pattern: RegExp, text: string): Span[] {
  return [...text.matchAll(pattern)].flatMap(({ 0: match, index }) =>
    match === "" ? [] : [{ kind, start: index, end: index + match.length }],
  );
}

function blank(view: string, spans: readonly Span[]): string {
  let result = view;
  for (const { start, end } of spans) result = result.slice(0, start) + BLANK.repeat(end - start) + result.slice(end);
  return result;
}

function occurrences(kind: string, original: string, text: string): readonly Span[] {
  const spans: Span[] = [];
  for (let start = text.indexOf(original); start !== -1; start = text.indexOf(original, start + 1)) {
    spans.push({ kind, start, end: start + original.length });
  }
  return spans;
}

function unique(pairs: readonly (readonly [original: string, kind: string])[]): readonly [string, string][] {
  return [...new Map(pairs.toReversed())];
}

/** Nothing of an overlapping span may be left over, so they become one. */
function merge(spans: readonly Span[]): readonly Span[] {
  const sorted = spans
    .map((span, rank) => ({ ...span, rank }))
    .toSorted((a, b) => a.start - b.start || a.rank - b.rank);
  const merged: { kind: string; start: number; end: number; rank: number }[] = [];
  for (const span of sorted) {
    const last = merged.at(-1);
    if (last === undefined || span.start >= last.end) merged.push({ ...span });
    else {
      last.end = Math.max(last.end, span.end);
      if (span.rank < last.rank) [last.kind, last.rank] = [span.kind, span.rank];
    }
  }
  return merged;
}
