// The hub's structured log: one JSON line for every connect, failure, call, reload and warning. Where the lines go is the
// caller's choice. Payloads and the text that servers print never get in: either may hold a secret.

import { pino, type DestinationStream, type Logger } from "pino";
import type { ErrorBody } from "./errors.ts";
import type { HubEvents } from "./events.ts";
import type { Status } from "./servers/status.ts";

export interface LogOptions {
  readonly events: HubEvents;
  readonly destination: DestinationStream;
  readonly level?: string;
}

export function startLog({ events, destination, level = "info" }: LogOptions): Logger {
  const log = pino({ name: "plugboard", level, timestamp: pino.stdTimeFunctions.isoTime }, destination);
  events.on("server.status", ({ server, status }) => logStatus(log, server, status));
  events.on("call.finished", ({ server, tool, group, durationMs, ok, error }) => {
    const record = { server, tool, group, duration_ms: Math.round(durationMs * 1000) / 1000, ok, ...failure(error) };
    log.info(record, ok ? "call finished" : "call failed");
  });
  events.on("config.reloaded", ({ description }) => log.info({ changes: description }, "config reloaded"));
  events.on("config.rejected", ({ error }) => log.error(failure(error), "config rejected, the last good one stays"));
  events.on("warning", ({ message }) => log.warn(message));
  return log;
}

function logStatus(log: Logger, server: string, status: Status): void {
  switch (status.state) {
    case "running":
      return log.info({ server, tools: status.tools.length }, "server running");
    case "error":
      return log.error({ server, ...failure(status.error) }, "server failed");
    case "disconnected":
      return log.warn({ server, ...failure(status.error) }, "server disconnected");
    case "starting":
      return log.debug({ server, stage: status.stage }, "server starting");
    case "stopped":
    case "disabled":
      return log.info({ server }, `server ${status.state}`);
  }
}

/** Code and message only: the detail may quote what the server printed. */
function failure(error: ErrorBody | undefined) {
  return error === undefined ? {} : { code: error.code, kind: error.kind, error: error.message };
}
