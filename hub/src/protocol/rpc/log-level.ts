// The log levels of MCP, and their order.

import { isObject } from "../../lib/json/json.ts";

/** Least urgent first. */
export const LOG_LEVELS = ["debug", "info", "notice", "warning", "error", "critical", "alert", "emergency"] as const;

export type LogLevel = (typeof LOG_LEVELS)[number];

export function isLogLevel(level: unknown): level is LogLevel {
  return LOG_LEVELS.some((known) => known === level);
}

/** Whether a log message is at or above a client's level. A client that set no level gets every message. */
export function passesLevel(message: unknown, level: string | undefined): boolean {
  const given = isObject(message) && typeof message["level"] === "string" ? message["level"] : "emergency";
  return level === undefined || rank(given) >= rank(level);
}

/** The least urgent of several levels. */
export function lowestLevel(levels: readonly (string | undefined)[]): string | undefined {
  const ranks = levels.flatMap((level) => (level === undefined ? [] : [rank(level)]));
  return ranks.length === 0 ? undefined : LOG_LEVELS[Math.min(...ranks)];
}

function rank(level: string): number {
  const index = LOG_LEVELS.findIndex((known) => known === level);
  return index < 0 ? LOG_LEVELS.length - 1 : index;
}
