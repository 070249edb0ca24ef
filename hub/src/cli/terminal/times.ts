// Formats and parses times and durations.

import { HubError } from "../../errors.ts";

const SECOND = 1000;
const MINUTE = 60 * SECOND;
const HOUR = 60 * MINUTE;
const DAY = 24 * HOUR;
const UNITS: Readonly<Record<string, number>> = { ms: 1, s: SECOND, m: MINUTE, min: MINUTE, h: HOUR, d: DAY };

/** @example seconds(840) // "0.8s" */
export function seconds(ms: number): string {
  return `${(ms / SECOND).toFixed(1)}s`;
}

/** A duration. @example duration(1400) // "1.4s" */
export function duration(ms: number): string {
  if (ms < 10) return `${Number(ms.toFixed(ms < 1 ? 2 : 1))}ms`;
  if (ms < SECOND) return `${Math.round(ms)}ms`;
  return ms < MINUTE ? seconds(ms) : span(ms);
}

/** A long duration in at most two units. @example span(93_600_000) // "1d2h" */
export function span(ms: number): string {
  if (ms < MINUTE) return `${Math.max(0, Math.floor(ms / SECOND))}s`;
  if (ms < HOUR) return `${Math.floor(ms / MINUTE)}m`;
  if (ms < DAY) return `${Math.floor(ms / HOUR)}h${part(ms % HOUR, MINUTE, "m")}`;
  return `${Math.floor(ms / DAY)}d${part(ms % DAY, HOUR, "h")}`;
}

function part(ms: number, unit: number, name: string): string {
  const whole = Math.floor(ms / unit);
  return whole === 0 ? "" : `${whole}${name}`;
}

/** Local time, with the date unless it is today. */
export function clock(time: Date, now: Date = new Date()): string {
  const hours = `${pad(time.getHours())}:${pad(time.getMinutes())}:${pad(time.getSeconds())}`;
  if (time.toDateString() === now.toDateString()) return hours;
  return `${time.getFullYear()}-${pad(time.getMonth() + 1)}-${pad(time.getDate())} ${hours}`;
}

function pad(n: number): string {
  return String(n).padStart(2, "0");
}

/** @example parseDuration("10m", "since") // 600_000 */
export function parseDuration(text: string, field: string): number {
  const [, digits = "", unit = ""] = /^(\d+(?:\.\d+)?)(ms|s|m|min|h|d)$/.exec(text.trim()) ?? [];
  const ms = Number(digits) * (UNITS[unit] ?? Number.NaN);
  if (digits !== "" && Number.isFinite(ms)) return ms;
  throw new HubError("InvalidArgument", `Invalid duration "${text}"`, {
    field,
    hint: "Use 500ms, 30s, 10m, 24h or 7d",
  });
}

/** How long something is valid, in days. */
export function parseDays(text: string, field: string): number {
  const ms = parseDuration(text, field);
  if (ms > 0) return ms / DAY;
  throw new HubError("InvalidArgument", `"${text}" is over at once`, { field, hint: "Use 12h, 30d or 365d" });
}

/** A duration before now, or a date and time. @example parseSince("1h", "since", now) */
export function parseSince(text: string, field: string, now: number = Date.now()): Date {
  if (/^\d{4}-\d{2}-\d{2}/.test(text)) {
    const time = new Date(text);
    if (!Number.isNaN(time.getTime())) return time;
  }
  return new Date(now - parseDuration(text, field));
}
