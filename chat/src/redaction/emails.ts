// E-mail addresses, also those with letters beyond ASCII.

import type { Span } from "./span.ts";

/** Bounded, as addresses are: a long text without one must not take long. */
const EMAIL = /[\p{L}\p{N}._%+'-]{1,64}@(?:[\p{L}\p{N}-]{1,63}\.){1,8}[\p{L}\p{N}-]{2,63}/gu;

export function findEmails(view: string): readonly Span[] {
  if (!view.includes("@")) return [];
  return [...view.matchAll(EMAIL)].map(({ 0: email, index }) => ({
    kind: "email",
    start: index,
    end: index + email.length,
  }));
}
