// Replaces sensitive parts of a text by tags such as `[phone-3]`. The same original always gets the same tag, so that readers
// can still tell them apart. The presenter decides which texts are redacted.

import { invalid } from "../errors.ts";
import { findCards, findCodes, findEmails, findIbans, findPhones, type Span } from "./finders.ts";
import { toPlainView } from "./plain-view.ts";

export const REDACTION_KINDS = ["email", "iban", "card", "phone", "code"] as const;
export type RedactionKind = (typeof REDACTION_KINDS)[number];

export interface RedactionRules {
  readonly kinds?: readonly RedactionKind[];
  /** Regular expressions of the user; the name becomes the tag. */
  readonly patterns?: readonly { readonly name: string; readonly pattern: string }[];
}

/** In order: what one finder has found is blanked for the next. */
const FINDERS: readonly (readonly [kind: RedactionKind, find: (view: string) => readonly Span[]])[] = [
  ["email", findEmails],
  ["iban", findIbans],
  ["card", findCards],
  ["phone", findPhones],
  ["code", findCodes],
];
/** After this number of different originals of a kind, further ones get a tag without a number. */
const MAX_NUMBERED = 100_000;
const BLANK = "\ufffc";
const NAME = /^[a-z][a-z0-9_-]{0,30}$/;

/** @example new Redactor({ kinds: ["phone"] }).text("call +1 555 000 0001") // "call [phone-1]" */
export class Redactor {
  readonly #finders: readonly ((view: string) => readonly Span[])[];
  readonly #patterns: readonly (readonly [name: string, pattern: RegExp])[];
  /** By kind, the number of each original. */
  readonly #numbers = new Map<string, Map<string, number>>();

  /** @throws {ChatError} INVALID_PARAMETER if a pattern is invalid. */
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
      // A card number must not be found again as a phone number.
      view = blank(view, spans);
    }
    // Mask every occurrence of a match, even if no keyword is near.
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
  if (!NAME.test(name))
    throw invalid("redact", `'${name}' cannot name a pattern`, "use lower-case letters, digits, _ and -");
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

/** Merges overlapping spans, so that no part of them is left over. */
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
