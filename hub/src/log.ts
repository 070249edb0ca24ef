// The hub's structured log: one JSON line for every connect, failure, call, reload and warning. Payloads and the text
// that servers print never get in: either may hold a secret.

import type { ErrorBody } from "./errors.ts";
import type { CallRecord, HubEvents } from "./events.ts";
import { JsonLog, type Destination, type LogLevel } from "./json-log.ts";
import { LogFile } from "./log-file.ts";
import type { Status } from "./servers/status.ts";

export const LOG_LEVELS = ["debug", "info", "warn", "error", "silent"] as const satisfies readonly LogLevel[];

export interface FileLogOptions {
  readonly maxBytes?: number;
}

/** Of so many kinds of calls the beginning of the line is kept. */
const MAX_KINDS = 1000;

/** Logs to a file. Where it cannot be written, that is said, and the hub goes on. */
export function startFileLog(events: HubEvents, path: string, { maxBytes }: FileLogOptions = {}): JsonLog {
  const onError = (code: string) => void events.emit("warning", { message: `The log file cannot be written: ${code}` });
  return startLog(events, new LogFile(path, { maxBytes, onError }));
}

/** Logs what happens from now on, one line for each. */
export function startLog(
  events: HubEvents,
  destination: Destination,
  { level = "info" }: { level?: LogLevel } = {},
): JsonLog {
  const log = JsonLog.open(destination, { name: "plugboard", level });
  events.on("server.status", ({ server, status }) => logStatus(log, server, status));
  events.on("server.circuit", ({ server, breaker }) => {
    if (breaker.state === "open") log.warn({ server }, "circuit opened");
    else log.info({ server }, `circuit ${breaker.state}`);
  });
  const logOf = callLogs(log);
  events.on("call.finished", (call) => {
    const { durationMs, ok, error } = call;
    const duration_ms = Math.round(durationMs * 1000) / 1000;
    if (ok) logOf(call).info({ duration_ms, ok }, "call finished");
    else logOf(call).info({ duration_ms, ok, ...failure(error) }, "call failed");
  });
  events.on("config.reloaded", ({ description }) => log.info({ changes: description }, "config reloaded"));
  events.on("config.rejected", ({ error }) => log.error(failure(error), "config rejected, the last good one stays"));
  events.on("warning", ({ message }) => log.warn({}, message));
  events.on("unexpected", ({ requestId, error }) => log.error({ request_id: requestId, error }, "unexpected error"));
  return log;
}

/** What calls of one kind have in common is put into words once: there is nothing that the hub logs more often. */
function callLogs(log: JsonLog): (call: CallRecord) => JsonLog {
  const known = new Map<string, JsonLog>();
  return ({ server, tool, group }) => {
    const kind = `${server}\n${tool}\n${group}`;
    let found = known.get(kind);
    if (found === undefined) {
      if (known.size >= MAX_KINDS) known.clear();
      found = log.child({ server, tool, group });
      known.set(kind, found);
    }
    return found;
  };
}

function logStatus(log: JsonLog, server: string, status: Status): void {
  switch (status.state) {
    case "running":
      return log.info({ server, tools: status.tools.length }, "server running");
    case "error":
      return log.error({ server, ...failure(status.error) }, "server failed");
    case "disconnected":
      return log.warn({ server, ...failure(status.error) }, "server disconnected");
    case "unauthenticated":
      return log.warn({ server, ...failure(status.error) }, "server wants other credentials");
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
