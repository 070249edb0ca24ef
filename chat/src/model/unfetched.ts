// Time spans of a chat whose messages are on the network and not in the store, newest last. Pure functions: the store keeps
// the spans, and history.ts fetches their messages.

export interface Span {
  /** Inclusive; `BEGINNING` if the chat's beginning was never reached. */
  readonly from: number;
  /** Inclusive: messages of exactly this time may be missing. */
  readonly to: number;
  /** Position in the source to continue from, below `to`. */
  readonly token?: string;
}

export interface Range {
  readonly since?: number | undefined;
  readonly before?: number | undefined;
}

export const BEGINNING = Number.MIN_SAFE_INTEGER;
export const END = Number.MAX_SAFE_INTEGER;
/** At this number spans are no longer split: messages are then fetched in order. */
const MAX_SPANS = 64;

/** The span of a chat without recorded ones: everything older than what is stored. */
export function olderThan(oldestAt: number | null): readonly Span[] {
  return [{ from: BEGINNING, to: oldestAt ?? END }];
}

/** The newest span that overlaps the range. */
export function newestWithin(spans: readonly Span[], { since = BEGINNING, before = END }: Range): Span | undefined {
  return spans.findLast(({ from, to }) => from < before && to >= since);
}

/** Adds a span that a sync skipped, and removes those that it covers. */
export function addSpan(spans: readonly Span[], span: Span): readonly Span[] {
  if (span.from > span.to) return spans;
  const others = spans.filter(({ from, to }) => to < span.from || from > span.to);
  return sorted([...others, span]);
}

/** Splits a span, so that fetching can begin in its middle. */
export function splitAt(spans: readonly Span[], span: Span, at: number): readonly Span[] {
  if (at >= span.to || at <= span.from || spans.length >= MAX_SPANS) return spans;
  return sorted([...spans.filter((one) => one !== span), { from: span.from, to: at }, { ...span, from: at }]);
}

/** Shortens the span that ends at `to` after a page was fetched from its upper end. */
export function afterPage(
  spans: readonly Span[],
  to: number,
  page: { readonly exhausted: boolean; readonly reachedAt?: number; readonly token?: string },
): readonly Span[] {
  if (page.exhausted) return spans.filter((span) => span.to > to);
  return spans.flatMap((span) => {
    if (span.to !== to) return [span];
    const reachedAt = Math.min(page.reachedAt ?? to, to);
    if (reachedAt < span.from) return [];
    return [{ from: span.from, to: reachedAt, ...(page.token === undefined ? {} : { token: page.token }) }];
  });
}

function sorted(spans: readonly Span[]): readonly Span[] {
  return spans.toSorted((a, b) => a.to - b.to);
}
