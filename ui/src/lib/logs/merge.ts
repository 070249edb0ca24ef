// Lines of several logs in the order of their times.

export interface TimedLine {
  readonly timestamp: string;
}

/** Merges logs that are each in order; at most the last `limit` lines. ISO times in UTC compare as text. */
export function mergeLogs<Line extends TimedLine>(logs: readonly (readonly Line[])[], limit: number): Line[] {
  return logs
    .flat()
    .toSorted((a, b) => (a.timestamp < b.timestamp ? -1 : a.timestamp > b.timestamp ? 1 : 0))
    .slice(-limit);
}

const LEVEL = /\b(?:(fatal|critical|panic|error|err)|(warning|warn)|(debug|trace)|(notice|info))\b/i;

export type Level = "error" | "warn" | "info" | "debug";
/** Least grave first. */
export const LEVELS: readonly Level[] = ["debug", "info", "warn", "error"];
const IN_PATTERN: readonly Level[] = ["error", "warn", "debug", "info"];

/** The level that a line gives itself near its beginning; undefined if it gives none. */
export function levelIn(text: string): Level | undefined {
  const match = LEVEL.exec(text.slice(0, 80));
  return match === null ? undefined : IN_PATTERN[match.slice(1).findIndex((word) => word !== undefined)];
}

const RANK: Readonly<Record<Level, number>> = { error: 0, warn: 1, info: 2, debug: 3 };

/** Whether a line of this level is at least as grave as asked for. Lines without a level count as `info`. */
export function isAtLeast(level: Level | undefined, wanted: Level): boolean {
  return RANK[level ?? "info"] <= RANK[wanted];
}
