// The log levels of MCP, least urgent first, and what a client of a level wants to see.

import { isObject } from "../wire/json.ts";

const LEVELS = ["debug", "info", "notice", "warning", "error", "critical", "alert", "emergency"] as const;

export function isLogLevel(level: string): boolean {
  return LEVELS.some((known) => known === level);
}

/** Whether a log message is for a client of this level. A client that named none gets everything its server sends. */
export function passesLevel(message: unknown, level: string | undefined): boolean {
  const given = isObject(message) && typeof message["level"] === "string" ? message["level"] : "emergency";
  return level === undefined || rank(given) >= rank(level);
}

/** The least urgent of the levels that anybody wants. */
export function lowestLevel(levels: readonly (string | undefined)[]): string | undefined {
  const ranks = levels.flatMap((level) => (level === undefined ? [] : [rank(level)]));
  return ranks.length === 0 ? undefined : LEVELS[Math.min(...ranks)];
}

function rank(level: string): number {
  const index = LEVELS.findIndex((known) => known === level);
  return index < 0 ? LEVELS.length - 1 : index;
}
