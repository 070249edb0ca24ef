// Masks secrets in everything that is recorded or shown: call log, logs, errors, traces, API answers.
//
// Threat model. Servers and clients are not hostile to their own secrets, but echo them: in results, error messages, URLs,
// headers and dumps of their settings. A record must not contain
//  - a configured secret (env values, headers, secretRefs): plain, in base64 or hex, JSON-escaped, percent-encoded, or with
//    one such escape inside another (JSON in a string of JSON, JSON in a URL);
//  - the value of a member whose name means a credential (`password`, `X-Api-Key`), even if it is not configured.
// Not covered: a server that hides a secret on purpose (encryption, compression, splitting, deeper nesting), secrets
// shorter than four characters, and personal data. If masking is not certain, the whole value is masked.
// setSecrets says which values are secret.

import { onOneLine } from "../lib/json/json.ts";
import { isCredential } from "./credential-key.ts";
import { credentialValues, hasCredentialMember } from "./credential-members.ts";
import { cutJson } from "../lib/json/cut-json.ts";
import { SecretForms, type Span } from "./secret-forms.ts";
import { secretParts } from "./secret-parts.ts";
import { unescapeJson, unescapePercent, type Unescaped } from "./unescape.ts";

const MASK = "***";
const MASKED_JSON = Buffer.from(`"${MASK}"`);
const DEFAULT_MAX_BYTES = 64 * 1024;
/** The escapes of the JSON document, and one level inside its strings. */
const MAX_DEPTH = 2;
/** The most bytes that one byte of a secret takes when it is escaped twice. */
const ESCAPE_GROWTH = 12;
const MAX_NESTING = 1000;
const BACKSLASH = 0x5c;
const PERCENT = 0x25;
const UNICODE_ESCAPE = Buffer.from("\\u");
const SLASH_ESCAPE = Buffer.from("\\/");

export interface Redacted {
  /** Valid JSON on one line; the given bytes if nothing had to change. */
  readonly json: Buffer | undefined;
  /** Cut off at the size limit. */
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
  /** Built lazily, because servers that start together set their secrets one after another. */
  #cachedForms: SecretForms | undefined;

  constructor({ maxBytes = DEFAULT_MAX_BYTES }: { maxBytes?: number } = {}) {
    this.#maxBytes = maxBytes;
  }

  /** Replaces the secrets of one owner, such as a server; an empty list removes them. */
  setSecrets(owner: unknown, values: readonly string[]): void {
    const secrets = new Set(values.flatMap((value) => [...secretParts(value)]));
    const known = this.#secrets.get(owner) ?? new Set();
    if (secrets.size === 0) this.#secrets.delete(owner);
    else this.#secrets.set(owner, secrets);
    if (secrets.size !== known.size || [...secrets].some((secret) => !known.has(secret))) this.#cachedForms = undefined;
  }

  get #forms(): SecretForms {
    return (this.#cachedForms ??= new SecretForms(
      new Set([...this.#secrets.values()].flatMap((secrets) => [...secrets])),
    ));
  }

  redact(json: Buffer | undefined): Redacted {
    if (json === undefined) return { json, truncated: false };
    const fits = json.length <= this.#maxBytes;
    // Includes a secret that crosses the cut.
    const neededBytes = this.#maxBytes + 64 + this.#forms.longestBytes * ESCAPE_GROWTH;
    const head = fits ? json : json.subarray(0, neededBytes);
    const masked = this.#isSuspicious(head) ? this.#maskJson(head, { isWhole: head.length === json.length }) : head;
    const truncated = head.length < json.length || masked.length > this.#maxBytes;
    return { json: onOneLine(truncated ? cutJson(masked, this.#maxBytes) : masked), truncated };
  }

  /** For text other than JSON: a log line, an error message. */
  redactText(text: string): string {
    const bytes = Buffer.from(text);
    return this.#isSuspicious(bytes) ? this.#maskText(bytes) : text;
  }

  /** A fast check, which is false for almost all data. */
  #isSuspicious(bytes: Buffer): boolean {
    return this.#hasSecret(bytes) || this.#viewsOf(bytes).some((view) => this.#hasSecret(view.bytes));
  }

  #hasSecret(bytes: Buffer): boolean {
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
    // A secret may span several values, or be formed by masking another one.
    const isSecretLeft = [masked, ...this.#viewsOf(masked).map(({ bytes: view }) => view)].some((view) =>
      this.#forms.isIn(view),
    );
    return isSecretLeft ? MASKED_JSON : masked;
  }

  #maskValue(value: unknown, depth: number): unknown {
    if (depth > MAX_NESTING) return MASK;
    if (typeof value === "string") return this.#maskString(value);
    if (Array.isArray(value)) return value.map((item) => this.#maskValue(item, depth + 1));
    if (typeof value !== "object" || value === null) return this.#maskScalar(value);
    // fromEntries treats `__proto__` like any other name.
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
    // Parsing rounds long numbers, and the remaining digits may be those of a secret.
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

  /** The bytes with JSON escapes or percent-encoding undone, in every order, up to MAX_DEPTH; without the bytes themselves. */
  #viewsOf(bytes: Buffer, depth = MAX_DEPTH): Unescaped[] {
    if (depth === 0) return [];
    return this.#unescaped(bytes).flatMap((view) => [
      view,
      ...this.#viewsOf(view.bytes, depth - 1).map((inner) => ({
        bytes: inner.bytes,
        originOf: (at: number) => view.originOf(inner.originOf(at)),
      })),
    ]);
  }

  #unescaped(bytes: Buffer): Unescaped[] {
    const { hasEscapable, hasSlash } = this.#forms;
    // Escaped line breaks and quotes, which almost every text has, matter only if a secret contains such a character.
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
    // Overlapping spans share one mask.
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
