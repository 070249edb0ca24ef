// A line of a server's log, as the management API shows it.

import type { LogLine } from "../../servers/server-log.ts";
import type { ServerLogLine } from "../schemas/server.ts";

export function toLogLine({ at, text, source, level, logger }: LogLine): ServerLogLine {
  return { timestamp: new Date(at).toISOString(), text, source, level: level ?? null, logger: logger ?? null };
}
