// Redacts the output of a server, and errors that quote it, as they enter the hub. Answers to clients are not redacted.

import { hideAll, maskText } from "../redaction/mask.ts";
import type { HubError } from "../errors.ts";

/** Knows the secrets of all servers, in all encodings. */
export interface Redactor {
  /** Replaces the secrets of one owner. Empty: removes the owner. */
  setSecrets(owner: object, values: readonly string[]): void;
  redactText(text: string): string;
}

export type Redact = (text: string) => string;

/** Masks known secrets, and texts that look like one: a program also prints credentials that are in no config. */
export function createRedact(redactor: Redactor): Redact {
  return (text) => maskText(redactor.redactText(text), hideAll);
}

/** The same error if there is nothing to mask, otherwise a copy with masked texts. */
export function redactError(error: HubError, redact: Redact): HubError {
  const { message, detail, hint, cause } = error;
  const texts = { message, detail, hint, trace: cause instanceof Error ? cause.stack : undefined };
  const clean = Object.fromEntries(
    Object.entries(texts).map(([name, text]) => [name, text === undefined ? undefined : redact(text)]),
  );
  if (Object.entries(texts).every(([name, text]) => clean[name] === text)) return error;
  // Keeps the other members of its class.
  const redacted: HubError = Object.create(error, {
    message: { value: clean["message"] },
    detail: { value: clean["detail"] },
    hint: { value: clean["hint"] },
    cause: { value: clean["trace"] === texts.trace ? cause : undefined },
    stack: { value: clean["message"] },
  });
  return redacted;
}
