// E-mail addresses, also those with letters beyond ASCII.

import type { Span } from "./span.ts";

/**
 * Bounded, as addresses are, and looked for by their `@`, with what stands before it looked at from there: a long text
 * without one must not take long.
 */
const EMAIL = /@(?<=([\p{L}\p{N}._%+'-]{1,64})@)(?:[\p{L}\p{N}-]{1,63}\.){1,8}[\p{L}\p{N}-]{2,63}/gu;

export function findEmails(view: string): readonly Span[] {
  if (!view.includes("@")) return [];
  const found: Span[] = [];
  for (const { 0: domain, 1: local = "", index } of view.matchAll(EMAIL)) {
    const start = Math.max(index - local.length, found.at(-1)?.end ?? 0);
    // What belongs to the address before it cannot be the beginning of this one.
    if (start < index) found.push({ kind: "email", start, end: index + domain.length });
  }
  return found;
}
