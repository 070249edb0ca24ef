// Log lines of the hub, and the sources and levels of a server's log.

import * as z from "zod/mini";
import { LOG_LEVELS } from "../../protocol/rpc/log-level.ts";
import { component } from "./docs.ts";

export const logSource = z.enum(["stderr", "mcp"]);
export const logLevel = z.enum(LOG_LEVELS);
export type LogSource = z.infer<typeof logSource>;
/** Of MCP; the hub's own log has others. */
export type ServerLogLevel = z.infer<typeof logLevel>;

export const logLine = component(
  "LogLine",
  z.object({
    timestamp: z.string(),
    level: z.enum(["debug", "info", "warn", "error"]),
    message: z.string(),
    server: z.optional(z.string()),
  }),
);
export type LogLine = z.infer<typeof logLine>;
