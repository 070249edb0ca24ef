// Writes lines of the structured log, in pino's format, so that its tools can read them.

import { hostname } from "node:os";

export const LOG_LEVELS = ["debug", "info", "warn", "error", "silent"] as const;
export type LogLevel = (typeof LOG_LEVELS)[number];

const SEVERITIES: Readonly<Record<LogLevel, number>> = { debug: 20, info: 30, warn: 40, error: 50, silent: 100 };

export interface Destination {
  write(line: string): unknown;
}

export class LogLines {
  readonly #destination: Destination;
  readonly #minSeverity: number;
  readonly #time = isoTime();
  /** Members of every line. */
  readonly #process = membersOf({ pid: process.pid, hostname: hostname(), name: "plugboard" });

  constructor(destination: Destination, level: LogLevel) {
    this.#destination = destination;
    this.#minSeverity = SEVERITIES[level];
  }

  has(level: LogLevel): boolean {
    return SEVERITIES[level] >= this.#minSeverity;
  }

  say(level: LogLevel, msg: string, about: object = {}): void {
    if (this.has(level)) this.write(level, membersOf({ ...about, msg }));
  }

  /** Takes members that are JSON already. Does not check the level. */
  write(level: LogLevel, members: string): void {
    this.#destination.write(`{"level":${SEVERITIES[level]},"time":"${this.#time()}",${this.#process},${members}}\n`);
  }
}

/** JSON of an object without its braces. */
export function membersOf(value: object): string {
  return JSON.stringify(value).slice(1, -1);
}

/** Caches the text for the current millisecond: formatting it takes as long as the rest of a line. */
function isoTime(): () => string {
  let cached = { at: 0, text: "" };
  return () => {
    const at = Date.now();
    if (at !== cached.at) cached = { at, text: new Date(at).toISOString() };
    return cached.text;
  };
}
