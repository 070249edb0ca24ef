// The hub's structured log: one JSON line per connect, failure, call, reload and warning. It never contains payloads. Of a
// server's output it contains only the line that explains a failure, with secrets masked.

import { ByRoute } from "./by-route.ts";
import { hideAll, maskText } from "../redaction/mask.ts";
import type { ErrorBody } from "../errors.ts";
import type { CallRecord, HubEvents } from "../events.ts";
import { LogFile } from "./log-file.ts";
import { LogLines, membersOf, type Destination, type LogLevel } from "./log-lines.ts";
import type { LoginEvent } from "../servers/login/logins.ts";
import type { Status } from "../servers/status.ts";
import { findFailureLine } from "../servers/process/failure-line.ts";

export interface FileLogOptions {
  readonly maxBytes?: number;
  /** Warnings from before the log was opened. */
  readonly warnings?: readonly string[];
}

/** Length of a server's failure line. Known secrets are redacted before; anything that looks like one is masked here. */
const MAX_DETAIL = 500;
/** Entries in the cache of line prefixes. */
const MAX_CACHED = 1000;

/** Logs to a file. A write error becomes a warning, and the hub keeps running. */
export function startFileLog(
  events: HubEvents,
  path: string,
  { maxBytes, warnings = [] }: FileLogOptions = {},
): LogFile {
  const onError = (code: string) => void events.emit("warning", { message: `The log file cannot be written: ${code}` });
  const file = new LogFile(path, { maxBytes, onError });
  const log = startLog(events, file);
  for (const message of warnings) log.say("warn", message);
  return file;
}

export function startLog(
  events: HubEvents,
  destination: Destination,
  { level = "info" }: { level?: LogLevel } = {},
): LogLines {
  const log = new LogLines(destination, level);
  events.on("server.status", ({ server, status }) => logStatus(log, server, status));
  events.on("server.circuit", ({ server, breaker: { state } }) =>
    state === "open" ? log.say("warn", "circuit opened", { server }) : log.say("info", `circuit ${state}`, { server }),
  );
  let prefixOf = callPrefixes();
  const logsCalls = log.has("info");
  events.on("call.finished", (call) => {
    if (!logsCalls) return;
    const { outcome } = call;
    const how =
      outcome === "ok" ? DONE : membersOf({ ok: false, outcome, ...failure(call.error), msg: MESSAGES[outcome] });
    const duration = Math.round(call.durationMs * 1000) / 1000;
    log.write("info", `${prefixOf(call)},"duration_ms":${duration},${how}`);
  });
  events.on("config.reloaded", ({ changes, description }) => {
    // Drop the cached prefixes of removed servers.
    if (changes.removed.length > 0) prefixOf = callPrefixes();
    log.say("info", "config reloaded", { changes: description });
  });
  events.on("config.rejected", ({ error }) =>
    log.say("error", "config rejected, keeping the last valid one", failure(error)),
  );
  events.on("login", (event) => logLogin(log, event));
  events.on("warning", ({ message, server }) => log.say("warn", message, { server }));
  events.on("unexpected", ({ requestId, error }) =>
    log.say("error", "unexpected error", { request_id: requestId, error }),
  );
  return log;
}

const DONE = membersOf({ ok: true, outcome: "ok", msg: "call finished" });
const MESSAGES = {
  tool_error: "call failed",
  failed: "call failed",
  cancelled: "call cancelled",
  refused: "call refused",
} as const;

/** Caches the common members of a call's line, which is the most frequent one. */
function callPrefixes(): (call: CallRecord) => string {
  const known = new ByRoute<string>();
  return ({ server, tool, group }) => {
    let found = known.get(server, tool, group, null);
    if (found === undefined) {
      if (known.size >= MAX_CACHED) known.clear();
      found = membersOf({ server, tool, group });
      known.set([server, tool, group, null], found);
    }
    return found;
  };
}

function logStatus(log: LogLines, server: string, status: Status): void {
  switch (status.state) {
    case "running":
      return log.say("info", "server running", { server, tools: status.tools.length });
    case "error":
      return log.say("error", "server failed", { server, ...reason(status.error) });
    case "disconnected":
      return log.say("warn", "server disconnected", { server, ...reason(status.error) });
    case "unauthenticated":
      return log.say("warn", "server rejected the credentials", { server, ...reason(status.error) });
    case "starting":
      return log.say("debug", "server starting", { server, stage: status.stage });
    case "stopped":
    case "disabled":
      return log.say("info", `server ${status.state}`, { server });
  }
}

/** Account and server, never a token. */
function logLogin(log: LogLines, { server, what, view }: LoginEvent): void {
  const { issuer, account, error } = view;
  const level = what === "failed" || what === "expired" || what === "required" || what === "retrying" ? "warn" : "info";
  log.say(level, `login ${what}`, { server, issuer, account, ...failure(error) });
}

/** Code and message only: the detail may quote the server's output. */
function failure(error: ErrorBody | undefined) {
  return error === undefined ? {} : { code: error.code, kind: error.kind, error: error.message };
}

/** With the cause of a server's failure: the missing variable, the command, the most telling line of stderr. */
function reason(error: ErrorBody) {
  const line = error.detail === undefined ? undefined : findFailureLine(error.detail)?.slice(0, MAX_DETAIL);
  const detail = line === undefined ? undefined : maskText(line, hideAll);
  return { ...failure(error), field: error.field, detail };
}
