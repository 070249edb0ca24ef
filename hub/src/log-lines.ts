// A line of the structured log: JSON in the form that pino made common, so that its tools can read it. What is worth a
// line is left to log.ts.

import { hostname } from "node:os";

export const LOG_LEVELS = ["debug", "info", "warn", "error", "silent"] as const;
export type LogLevel = (typeof LOG_LEVELS)[number];

const SEVERITIES: Readonly<Record<LogLevel, number>> = { debug: 20, info: 30, warn: 40, error: 50, silent: 100 };

export interface Destination {
  write(line: string): unknown;
}

export class LogLines {
  readonly #destination: Destination;
  readonly #least: number;
  readonly #time = isoTime();
  /** What every line says of its process. */
  readonly #process = membersOf({ pid: process.pid, hostname: hostname(), name: "plugboard" });

  constructor(destination: Destination, level: LogLevel) {
    this.#destination = destination;
    this.#least = SEVERITIES[level];
  }

  has(level: LogLevel): boolean {
    return SEVERITIES[level] >= this.#least;
  }

  say(level: LogLevel, msg: string, about: object = {}): void {
    if (this.has(level)) this.write(level, membersOf({ ...about, msg }));
  }

  /** For members that are JSON already. The level is not looked at. */
  write(level: LogLevel, members: string): void {
    this.#destination.write(`{"level":${SEVERITIES[level]},"time":"${this.#time()}",${this.#process},${members}}\n`);
  }
}

/** An object as JSON, without its braces. */
export function membersOf(value: object): string {
  return JSON.stringify(value).slice(1, -1);
}

/** Lines of the same millisecond share the text of it: making it takes as long as the rest of a line. */
function isoTime(): () => string {
  let made = { at: 0, text: "" };
  return () => {
    const at = Date.now();
    if (at !== made.at) made = { at, text: new Date(at).toISOString() };
    return made.text;
  };
}
