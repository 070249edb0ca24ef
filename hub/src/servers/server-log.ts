// The log of a server over all its starts, redacted: the last lines of its stderr, and its last MCP log messages. Each source has
// its own bound, so that one cannot evict the other.

import { stripVTControlCharacters } from "node:util";
import type { JsonObject } from "../lib/json/json.ts";
import { isLogLevel, passesLevel, type LogLevel } from "../protocol/rpc/log-level.ts";
import { MASK } from "../redaction/mask.ts";
import type { Redact } from "./server-redaction.ts";

export type LogSource = "stderr" | "mcp";

export interface LogLine {
  /** Milliseconds since the epoch. */
  readonly at: number;
  readonly text: string;
  readonly source: LogSource;
  /** Only MCP messages have one. */
  readonly level?: LogLevel;
  /** The part of the server that wrote an MCP message, if it says so. */
  readonly logger?: string;
}

export interface LogFilter {
  /** Without it: both, in the order of time. */
  readonly source?: LogSource | undefined;
  /** Omits MCP messages below it. Lines of stderr have no level and stay. */
  readonly level?: LogLevel | undefined;
}

const MAX_LINES = 2000;
const MAX_LINE_CHARS = 4096;
/** A message may have several lines. */
const MAX_MESSAGE_LINES = 100;
const MAX_LOGGER_CHARS = 128;
/** The longest value of a config, every byte of it escaped. */
const MAX_SECRET_CHARS = 3 * 4096;
const KEPT_CHARS = MAX_LINE_CHARS + MAX_SECRET_CHARS;
const CONTROL = /(?!\t)[\p{Cc}\u2028\u2029]/gu;
const CONTROL_IN_MESSAGE = /(?![\t\n])[\p{Cc}\u2028\u2029]/gu;

export interface ServerLogOptions {
  readonly redact: Redact;
  readonly onLine: (line: LogLine) => void;
}

export class ServerLog {
  readonly #options: ServerLogOptions;
  readonly #kept = { stderr: new LastLines(), mcp: new LastLines() };

  constructor(options: ServerLogOptions) {
    this.#options = options;
  }

  /** Takes the output of a new process. Each has its own decoder, so that lines of two do not mix. */
  start(): (chunk: Uint8Array) => void {
    const decoder = new TextDecoder();
    let rest = "";
    return (chunk) => {
      const lines = (rest + decoder.decode(chunk, { stream: true })).split("\n");
      // Bounds a line without an end: its beginning, and the rest of a secret that begins in it.
      rest = lines.pop()?.slice(0, KEPT_CHARS) ?? "";
      for (const line of lines) {
        const text = this.#clean(line, CONTROL);
        if (text !== "") this.#add({ at: Date.now(), text, source: "stderr" });
      }
    };
  }

  /** Takes the params of a `notifications/message`. */
  message({ level, logger, data }: JsonObject): void {
    const text = this.#clean(typeof data === "string" ? data : (JSON.stringify(data) ?? ""), CONTROL_IN_MESSAGE);
    const name = typeof logger === "string" ? this.#clean(logger, CONTROL).slice(0, MAX_LOGGER_CHARS) : "";
    const about = {
      at: Date.now(),
      source: "mcp" as const,
      ...(isLogLevel(level) ? { level } : {}),
      ...(name === "" ? {} : { logger: name }),
    };
    for (const line of text.split("\n", MAX_MESSAGE_LINES)) if (line !== "") this.#add({ ...about, text: line });
  }

  /** The last lines, oldest first. */
  tail(lines: number, { source, level }: LogFilter = {}): readonly LogLine[] {
    if (lines <= 0) return [];
    const { stderr, mcp } = this.#kept;
    const messages = source === "stderr" ? [] : mcp.lines.filter((line) => passesLevel(line, level));
    if (source === "mcp") return messages.slice(-lines);
    return (messages.length === 0 ? stderr.lines : mergeByTime(stderr.lines, messages)).slice(-lines);
  }

  /** Without controls and secrets, and of bounded length. */
  #clean(given: string, control: RegExp): string {
    // Colours first: they may be in the middle of a secret.
    const plain = stripVTControlCharacters(given.slice(0, KEPT_CHARS)).replace(control, "");
    if (plain === "") return "";
    const shown = this.#options.redact(plain);
    // If the text was cut, its last characters may be part of a secret that is not recognized any more.
    const sure = given.length < KEPT_CHARS ? shown.length : shown.length - MAX_SECRET_CHARS;
    return shown.slice(0, Math.max(0, Math.min(sure, MAX_LINE_CHARS))) || MASK;
  }

  #add(line: LogLine): void {
    this.#kept[line.source].add(line);
    this.#options.onLine(line);
  }
}

class LastLines {
  #lines: LogLine[] = [];

  get lines(): readonly LogLine[] {
    return this.#lines;
  }

  add(line: LogLine): void {
    this.#lines.push(line);
    // Trimmed in bulk: shifting one line for each new one would copy the list every time.
    if (this.#lines.length > 2 * MAX_LINES) this.#lines = this.#lines.slice(-MAX_LINES);
  }
}

/** Both are in the order of time, as long as the clock is not set back. */
function mergeByTime(first: readonly LogLine[], second: readonly LogLine[]): LogLine[] {
  return [...first, ...second].toSorted((a, b) => a.at - b.at);
}
