// The time range of a page as it stands in the address: `since=24h`, or two times.

export const PRESETS = ["15m", "1h", "24h", "7d", "30d"] as const;
export type Preset = (typeof PRESETS)[number];

export type TimeRange =
  | { readonly kind: "last"; readonly span: string; readonly spanMs: number }
  | { readonly kind: "between"; readonly from: number; readonly until: number }
  | { readonly kind: "all" };

const UNIT_MS: Readonly<Record<string, number>> = { s: 1_000, m: 60_000, h: 3_600_000, d: 86_400_000 };
const MAX_SPAN_MS = 3_650 * 86_400_000;

/** Reads `since` and `until` of an address. What is not understood counts as the given default. */
export function parseRange(since: string | undefined, until: string | undefined, fallback: Preset): TimeRange {
  if (since === "all") return { kind: "all" };
  const from = since === undefined ? Number.NaN : parseTime(since);
  if (!Number.isNaN(from)) {
    const end = until === undefined ? Number.NaN : parseTime(until);
    return { kind: "between", from, until: Number.isNaN(end) || end <= from ? from + 3_600_000 : end };
  }
  return lastSpan(since ?? fallback) ?? lastSpan(fallback) ?? { kind: "all" };
}

/** The members of the address for a range; the default is left out. */
export function rangeQuery(
  range: TimeRange,
  fallback: Preset,
): { since: string | undefined; until: string | undefined } {
  switch (range.kind) {
    case "all":
      return { since: "all", until: undefined };
    case "last":
      return { since: range.span === fallback ? undefined : range.span, until: undefined };
    case "between":
      return { since: new Date(range.from).toISOString(), until: new Date(range.until).toISOString() };
  }
}

/** The bounds of a range at a given time. `until` is undefined for a range that ends now. */
export function bounds(range: TimeRange, now: number): { from: number | undefined; until: number | undefined } {
  switch (range.kind) {
    case "all":
      return { from: undefined, until: undefined };
    case "last":
      return { from: now - range.spanMs, until: undefined };
    case "between":
      return { from: range.from, until: range.until };
  }
}

function lastSpan(text: string): TimeRange | undefined {
  const match = /^(\d{1,5})([smhd])$/u.exec(text);
  if (match === null) return undefined;
  const spanMs = Number(match[1]) * (UNIT_MS[match[2] ?? ""] ?? 0);
  return spanMs > 0 && spanMs <= MAX_SPAN_MS ? { kind: "last", span: text, spanMs } : undefined;
}

function parseTime(text: string): number {
  return /^\d{4}-\d{2}-\d{2}/u.test(text) ? Date.parse(text) : Number.NaN;
}

const axisClock = new Intl.DateTimeFormat("en-GB", { hour: "2-digit", minute: "2-digit" });
const axisSeconds = new Intl.DateTimeFormat("en-GB", { hour: "2-digit", minute: "2-digit", second: "2-digit" });
const axisDay = new Intl.DateTimeFormat("en-GB", { day: "numeric", month: "short" });

/** A moment on an axis of so many milliseconds: the day at midnight and on long axes, else the clock. */
export function axisTime(time: number, spanMs: number): string {
  const at = new Date(time);
  const isMidnight = at.getHours() === 0 && at.getMinutes() === 0 && at.getSeconds() === 0;
  if (spanMs > 4 * 86_400_000 || (isMidnight && spanMs > 3_600_000)) return axisDay.format(time);
  return (spanMs <= 600_000 ? axisSeconds : axisClock).format(time);
}

/** Steps of a time axis: the smallest of these that gives at most `count` steps in the span. */
const STEPS_MS = [
  1, 2, 5, 10, 20, 50, 100, 200, 500, 1_000, 2_000, 5_000, 10_000, 15_000, 30_000, 60_000, 120_000, 300_000, 600_000,
  900_000, 1_800_000, 3_600_000, 7_200_000, 10_800_000, 21_600_000, 43_200_000, 86_400_000, 172_800_000, 604_800_000,
  1_209_600_000, 2_592_000_000,
];

/** Round times for the ticks of an axis, at most `count` of them. */
export function ticks(from: number, until: number, count: number): { stepMs: number; times: number[] } {
  const span = Math.max(until - from, 1);
  const stepMs = STEPS_MS.find((step) => span / step <= count) ?? span;
  const offset = new Date(from).getTimezoneOffset() * 60_000;
  const times: number[] = [];
  for (
    let time = Math.ceil((from - offset) / stepMs) * stepMs + offset;
    time <= until && times.length < count + 1;
    time += stepMs
  ) {
    times.push(time);
  }
  return { stepMs, times };
}
