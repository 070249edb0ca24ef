// Hides secrets in what is recorded and shown: the values known from the config, in whatever form they appear, and the
// values of members that are credentials by their name. Which values are secret is left to whoever sets them.

import { onOneLine } from "../wire/json.ts";
import { isCredential } from "../config/credential-key.ts";
import { credentialValues, hasCredentialMember } from "./credential-members.ts";
import { cutJson } from "./cut-json.ts";
import { isPlainJson } from "./plain-json.ts";
import { SecretForms, type Span } from "./secret-forms.ts";
import { secretParts } from "./secret-parts.ts";
import { unescapeJson, unescapePercent, type Unescaped } from "./unescape.ts";

const MASK = "***";
const MASKED_JSON = Buffer.from(`"${MASK}"`);
const DEFAULT_MAX_BYTES = 64 * 1024;
/** Escapes inside escapes: JSON in a string of JSON in a URL. */
const MAX_DEPTH = 3;
const MAX_VIEWS = 12;
/** The most bytes that one byte of a secret takes when it is escaped twice. */
const ESCAPE_GROWTH = 12;
const MAX_NESTING = 1000;
const BACKSLASH = 0x5c;
const PERCENT = 0x25;
const UNICODE_ESCAPE = Buffer.from("\\u");
const SLASH_ESCAPE = Buffer.from("\\/");

export interface Redacted {
  /** Valid JSON on one line; the bytes that were given where nothing had to change. */
  readonly json: Buffer | undefined;
  /** Only the beginning is left. */
  readonly truncated: boolean;
}

/**
 * @example
 * const redactor = new Redactor();
 * redactor.setSecrets("github", [token]);
 * redactor.redact(params.bytes).json;
 */
export class Redactor {
  readonly #maxBytes: number;
  readonly #secrets = new Map<unknown, ReadonlySet<string>>();
  /** Made when it is needed: servers that start together tell their secrets together. */
  #made: SecretForms | undefined;

  constructor({ maxBytes = DEFAULT_MAX_BYTES }: { maxBytes?: number } = {}) {
    this.#maxBytes = maxBytes;
  }

  /** Replaces what is secret because of one owner, such as a server; nothing, where it is gone. */
  setSecrets(owner: unknown, values: readonly string[]): void {
    const secrets = new Set(values.flatMap((value) => [...secretParts(value)]));
    const known = this.#secrets.get(owner) ?? new Set();
    if (secrets.size === 0) this.#secrets.delete(owner);
    else this.#secrets.set(owner, secrets);
    if (secrets.size !== known.size || [...secrets].some((secret) => !known.has(secret))) this.#made = undefined;
  }

  get #forms(): SecretForms {
    return (this.#made ??= new SecretForms(new Set([...this.#secrets.values()].flatMap((secrets) => [...secrets]))));
  }

  redact(json: Buffer | undefined): Redacted {
    if (json === undefined) return { json, truncated: false };
    if (json.length <= this.#maxBytes && isPlainJson(json) && !this.#forms.isIn(json))
      return { json, truncated: false };
    const fits = json.length <= this.#maxBytes;
    // A secret that begins in the part that is kept must be seen whole.
    const reach = this.#maxBytes + 64 + this.#forms.longestBytes * ESCAPE_GROWTH;
    const seen = fits ? json : json.subarray(0, reach);
    const masked = this.#isSuspicious(seen) ? this.#maskJson(seen, { isWhole: seen.length === json.length }) : seen;
    const truncated = seen.length < json.length || masked.length > this.#maxBytes;
    return { json: onOneLine(truncated ? cutJson(masked, this.#maxBytes) : masked), truncated };
  }

  /** Text that is no JSON: a line of a log, the message of an error. */
  redactText(text: string): string {
    const bytes = Buffer.from(text);
    return this.#isSuspicious(bytes) ? this.#maskText(bytes) : text;
  }

  /** Almost always no, and then this is all that is done: a pass over the bytes for each of the two questions. */
  #isSuspicious(bytes: Buffer): boolean {
    return this.#isTelling(bytes) || this.#viewsOf(bytes).some((view) => this.#isTelling(view.bytes));
  }

  #isTelling(bytes: Buffer): boolean {
    return this.#forms.isIn(bytes) || hasCredentialMember(bytes);
  }

  #maskJson(bytes: Buffer, { isWhole }: { isWhole: boolean }): Buffer {
    const whole = isWhole ? bytes : cutJson(bytes, bytes.length);
    let value: unknown;
    try {
      value = JSON.parse(whole.toString());
    } catch {
      return MASKED_JSON;
    }
    const masked = Buffer.from(JSON.stringify(this.#maskValue(value, 0)));
    // What stands across several values, or comes about by hiding another one.
    const isLeft = [masked, ...this.#viewsOf(masked).map(({ bytes: view }) => view)].some((view) =>
      this.#forms.isIn(view),
    );
    return isLeft ? MASKED_JSON : masked;
  }

  #maskValue(value: unknown, depth: number): unknown {
    if (depth > MAX_NESTING) return MASK;
    if (typeof value === "string") return this.#maskString(value);
    if (Array.isArray(value)) return value.map((item) => this.#maskValue(item, depth + 1));
    if (typeof value !== "object" || value === null) return this.#maskScalar(value);
    // fromEntries, because `__proto__` is a name like any other here.
    return Object.fromEntries(
      Object.entries(value).map(([key, member]) => [
        this.#maskString(key),
        isCredential(key, member) ? MASK : this.#maskValue(member, depth + 1),
      ]),
    );
  }

  #maskString(text: string): string {
    const bytes = Buffer.from(text);
    return this.#isSuspicious(bytes) ? this.#maskText(bytes) : text;
  }

  #maskScalar(value: unknown): unknown {
    const text = JSON.stringify(value);
    // Of a long number only the first digits are left after parsing, and those may be a secret's.
    const isLong = typeof value === "number" && text.replaceAll(/\D/g, "").length > 15;
    return isLong || this.#forms.isIn(Buffer.from(text)) ? MASK : value;
  }

  #maskText(bytes: Buffer): string {
    const spans = [...this.#forms.find(bytes), ...credentialValues(bytes)];
    for (const view of this.#viewsOf(bytes)) {
      for (const { start, end } of [...this.#forms.find(view.bytes), ...credentialValues(view.bytes)]) {
        spans.push({ start: view.originOf(start), end: view.originOf(end) });
      }
    }
    return replaceSpans(bytes, spans);
  }

  /** What the bytes say once their escapes are undone, in every order; without the bytes themselves. */
  #viewsOf(bytes: Buffer): Unescaped[] {
    const views: Unescaped[] = [];
    let level = this.#innerViews(bytes);
    for (let depth = 0; level.length > 0 && depth < MAX_DEPTH && views.length < MAX_VIEWS; depth++) {
      views.push(...level);
      level = level.flatMap((view) =>
        this.#innerViews(view.bytes).map((inner) => ({
          bytes: inner.bytes,
          originOf: (at: number) => view.originOf(inner.originOf(at)),
        })),
      );
    }
    return views;
  }

  #innerViews(bytes: Buffer): Unescaped[] {
    const { hasEscapable, hasSlash } = this.#forms;
    // Line breaks and quotes, which almost every text has, can only matter to a secret that holds them.
    const isEscaped =
      bytes.includes(BACKSLASH) &&
      (hasEscapable || bytes.includes(UNICODE_ESCAPE) || (hasSlash && bytes.includes(SLASH_ESCAPE)));
    if (!isEscaped && !bytes.includes(PERCENT)) return [];
    return [isEscaped ? unescapeJson(bytes) : undefined, unescapePercent(bytes)].filter((view) => view !== undefined);
  }
}

function replaceSpans(bytes: Buffer, spans: readonly Span[]): string {
  const parts: string[] = [];
  let at = 0;
  for (const { start, end } of spans.toSorted((a, b) => a.start - b.start || b.end - a.end)) {
    // Inside the one before, or longer than it: one mask hides both.
    if (start < at) {
      at = Math.max(at, end);
      continue;
    }
    parts.push(bytes.toString("utf8", at, start), MASK);
    at = end;
  }
  parts.push(bytes.toString("utf8", at));
  return parts.join("");
}
