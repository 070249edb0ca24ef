// A server's own words without secrets: what it prints, and the errors that quote it. Cleaned where they come in, so that
// nobody behind has to think of it. Answers to a client are not among them: they are passed on as they are.

import { hideAll, maskText } from "../config/mask.ts";
import type { HubError } from "../errors.ts";

/** Knows the secrets of all servers, in whatever form they appear. */
export interface Redactor {
  /** Replaces what is secret because of one owner; nothing, where it is gone. */
  setSecrets(owner: object, values: readonly string[]): void;
  redactText(text: string): string;
}

export type Redact = (text: string) => string;

/** Known secrets, and what is one by its looks: a program also prints credentials that stand in no config. */
export function createRedact(redactor: Redactor): Redact {
  return (text) => maskText(redactor.redactText(text), hideAll);
}

/** The same error where there is nothing to hide; else one that differs from it in its texts only. */
export function redactError(error: HubError, redact: Redact): HubError {
  const { message, detail, hint, cause } = error;
  const texts = { message, detail, hint, trace: cause instanceof Error ? cause.stack : undefined };
  const clean = Object.fromEntries(
    Object.entries(texts).map(([name, text]) => [name, text === undefined ? undefined : redact(text)]),
  );
  if (Object.entries(texts).every(([name, text]) => clean[name] === text)) return error;
  // Whatever its class has besides the texts is still there.
  const redacted: HubError = Object.create(error, {
    message: { value: clean["message"] },
    detail: { value: clean["detail"] },
    hint: { value: clean["hint"] },
    cause: { value: clean["trace"] === texts.trace ? cause : undefined },
    stack: { value: clean["message"] },
  });
  return redacted;
}
