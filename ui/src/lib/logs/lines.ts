// Lines of logs as the pages show them: of servers, of the hub, and marks between them.

import type { ServerLogged } from "$api/event.ts";
import type { LogLine, LogSource, ServerLogLevel } from "$api/log.ts";
import { plain } from "../text/ansi.ts";
import { levelIn, type Level } from "./merge.ts";

export type Source = LogSource;
export const SOURCES: readonly Source[] = ["stderr", "mcp"];

export interface ShownLine {
  readonly timestamp: string;
  readonly text: string;
  readonly server?: string | undefined;
  /** Undefined for lines that do not say how grave they are. */
  readonly level?: Level | undefined;
  /** Undefined for the hub's own lines. */
  readonly source?: Source | undefined;
  /** What stands before the text: level and logger of a message. */
  readonly origin?: string | undefined;
  /** Not written by a server: says what happened to it at this time. */
  readonly isMark?: boolean;
}

const LEVEL_OF: Readonly<Record<ServerLogLevel, Level>> = {
  debug: "debug",
  info: "info",
  notice: "info",
  warning: "warn",
  error: "error",
  critical: "error",
  alert: "error",
  emergency: "error",
};

export function shownLine({ server, timestamp, text, source, level, logger }: ServerLogged): ShownLine {
  if (source === "stderr") return { server, timestamp, text, source, level: levelIn(plain(text)) };
  const origin = [level, logger].filter(Boolean).join(" ");
  return {
    server,
    timestamp,
    text,
    source,
    level: level === null ? undefined : LEVEL_OF[level],
    origin: origin === "" ? undefined : origin,
  };
}

export function shownHubLine({ timestamp, message, level, server }: LogLine): ShownLine {
  return { timestamp, text: message, server, level };
}

export function isShown(line: ShownLine, source: Source | undefined): boolean {
  return source === undefined || line.source === source;
}

/** Equal for the same line in the log and in an event. */
export function lineKey({ server, timestamp, source, origin, text }: ShownLine): string {
  return [server, timestamp, source, origin, text].join("\n");
}

/** The line as it is copied and saved. */
export function lineText({ timestamp, origin, text }: ShownLine): string {
  return [timestamp, ...(origin === undefined ? [] : [`[${origin}]`]), plain(text)].join(" ");
}

/** The first line at or after a time; the number of lines if all are older. */
export function indexAt(lines: readonly ShownLine[], at: string): number {
  const index = lines.findIndex(({ timestamp }) => timestamp >= at);
  return index < 0 ? lines.length : index;
}
