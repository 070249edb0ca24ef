// Numbers, times and sizes as text. Everything that people read about quantities goes through here.

const whole = new Intl.NumberFormat("en");
const short = new Intl.NumberFormat("en", { maximumFractionDigits: 1 });
const plurals = new Intl.PluralRules("en");
const list = new Intl.ListFormat("en", { type: "conjunction" });

export const SECOND = 1000;
export const MINUTE = 60 * SECOND;
export const HOUR = 60 * MINUTE;
export const DAY = 24 * HOUR;

/** "12,480" */
export const count = (n: number): string => whole.format(n);

/** "1 server", "12,480 servers" */
export function plural(n: number, one: string, many = `${one}s`): string {
  return `${count(n)} ${plurals.select(n) === "one" ? one : many}`;
}

/** "a, b, and c" */
export const and = (items: readonly string[]): string => list.format(items);

/** A duration of a call: "0.4 ms", "12 ms", "1.2 s", "2 min 5 s". */
export function ms(value: number): string {
  if (value < 9.95) return `${short.format(value)} ms`;
  if (value < 999.5) return `${Math.round(value)} ms`;
  if (value < 59_950) return `${(value / SECOND).toFixed(1)} s`;
  return duration(value);
}

/** A span of time, in its two biggest units: "41 s", "3 d 2 h". */
export function duration(value: number): string {
  const units = [
    ["d", DAY],
    ["h", HOUR],
    ["min", MINUTE],
    ["s", SECOND],
  ] as const;
  let rest = Math.max(0, Math.round(value / SECOND)) * SECOND;
  const parts: string[] = [];
  for (const [unit, size] of units) {
    const n = Math.floor(rest / size);
    rest -= n * size;
    if (n > 0) parts.push(`${n} ${unit}`);
    // Two units that follow each other: nothing between days and minutes is worth saying.
    else if (parts.length > 0) break;
    if (parts.length === 2) break;
  }
  return parts.length === 0 ? "0 s" : parts.join(" ");
}

/** A span of time where there is little room: its biggest unit. */
export const age = (value: number): string => duration(value).split(" ").slice(0, 2).join(" ");

/** An estimate: "310", "9.8k", "1.6M". */
export function compact(n: number): string {
  if (n < 1000) return count(Math.round(n));
  if (n < 999_500) return n < 99_950 ? `${short.format(n / 1000)}k` : `${Math.round(n / 1000)}k`;
  return `${short.format(n / 1_000_000)}M`;
}

/** "640 B", "4.2 MB" */
export function bytes(n: number): string {
  const units = ["B", "kB", "MB", "GB", "TB"];
  let value = n;
  let unit = 0;
  while (value >= 999.5 && unit < units.length - 1) {
    value /= 1000;
    unit += 1;
  }
  return `${unit === 0 ? count(value) : value < 9.95 ? value.toFixed(1) : Math.round(value)} ${units[unit]}`;
}

/** A share: "0 %" only if it is nothing, "100 %" only if it is all. */
export function percent(part: number, total: number): string {
  if (total === 0) return "–";
  const share = (part / total) * 100;
  if (part > 0 && share < 0.1) return "< 0.1 %";
  if (part < total && share > 99.9) return "> 99.9 %";
  return `${share < 9.95 && share > 0 ? short.format(share) : Math.round(share)} %`;
}

/** "12 s ago", "just now", "in 3 h"; from a day on the date. */
export function ago(then: number, now: number): string {
  const distance = Math.abs(now - then);
  // The clocks of the hub and of this machine may differ.
  if (distance < (then > now ? MINUTE : 2 * SECOND)) return "just now";
  if (distance >= DAY) return date(then, now);
  const far =
    distance < MINUTE
      ? `${Math.floor(distance / SECOND)} s`
      : distance < HOUR
        ? `${Math.floor(distance / MINUTE)} min`
        : `${Math.floor(distance / HOUR)} h`;
  return then > now ? `in ${far}` : `${far} ago`;
}

/** "14:02:11" */
export const clock = (time: number): string => clockFormat.format(time);

/** "14:02:11.204" */
export const preciseClock = (time: number): string => preciseClockFormat.format(time);

/** "3 Oct", in another year "3 Oct 2025" */
export function date(time: number, now: number): string {
  const sameYear = new Date(time).getFullYear() === new Date(now).getFullYear();
  return (sameYear ? dateFormat : longDateFormat).format(time);
}

/** "3 Oct 2026, 14:02:11", for what has to be exact. */
export const exact = (time: number): string => exactFormat.format(time);

const clockFormat = new Intl.DateTimeFormat("en-GB", { hour: "2-digit", minute: "2-digit", second: "2-digit" });
const preciseClockFormat = new Intl.DateTimeFormat("en-GB", {
  hour: "2-digit",
  minute: "2-digit",
  second: "2-digit",
  fractionalSecondDigits: 3,
});
const dateFormat = new Intl.DateTimeFormat("en-GB", { day: "numeric", month: "short" });
const longDateFormat = new Intl.DateTimeFormat("en-GB", { day: "numeric", month: "short", year: "numeric" });
const exactFormat = new Intl.DateTimeFormat("en-GB", {
  day: "numeric",
  month: "short",
  year: "numeric",
  hour: "2-digit",
  minute: "2-digit",
  second: "2-digit",
});
