// Lines of JSON with a level and a time, in the form that pino made common. Where they go is left to the destination. It is
// loaded at every start, so it is no library: that took as long to load as all commands together.

import { hostname } from "node:os";

const LEVELS = { debug: 20, info: 30, warn: 40, error: 50, silent: Infinity } as const;

export type LogLevel = keyof typeof LEVELS;
type Fields = Readonly<Record<string, unknown>>;

export interface Destination {
  write(line: string): unknown;
  flush?(done?: () => void): void;
}

export interface JsonLogOptions {
  readonly name: string;
  readonly level: LogLevel;
}

/** What a log and its children have in common. */
interface Shared {
  readonly destination: Destination;
  readonly least: number;
  readonly time: () => string;
}

export class JsonLog {
  readonly #shared: Shared;
  /** The members of every line, in JSON, each with a comma before it. */
  readonly #always: string;

  private constructor(shared: Shared, always: string) {
    this.#shared = shared;
    this.#always = always;
  }

  static open(destination: Destination, { name, level }: JsonLogOptions): JsonLog {
    const shared = { destination, least: LEVELS[level], time: isoTime() };
    return new JsonLog(shared, members({ pid: process.pid, hostname: hostname(), name }));
  }

  /** One whose lines all have these too: what is the same each time is put into words once. */
  child(fields: Fields): JsonLog {
    return new JsonLog(this.#shared, this.#always + members(fields));
  }

  debug(fields: Fields, message: string): void {
    this.#write(LEVELS.debug, fields, message);
  }

  info(fields: Fields, message: string): void {
    this.#write(LEVELS.info, fields, message);
  }

  warn(fields: Fields, message: string): void {
    this.#write(LEVELS.warn, fields, message);
  }

  error(fields: Fields, message: string): void {
    this.#write(LEVELS.error, fields, message);
  }

  flush(done?: () => void): void {
    if (this.#shared.destination.flush === undefined) done?.();
    else this.#shared.destination.flush(done);
  }

  #write(level: number, fields: Fields, message: string): void {
    const { destination, least, time } = this.#shared;
    if (level < least) return;
    const msg = JSON.stringify(message);
    destination.write(`{"level":${level},"time":"${time()}"${this.#always}${members(fields)},"msg":${msg}}\n`);
  }
}

function members(fields: Fields): string {
  const json = JSON.stringify(fields);
  return json === "{}" ? "" : `,${json.slice(1, -1)}`;
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
