// The hub's structured log: one JSON line for every connect, failure, call, reload and warning. Payloads never get in, and
// of what a server prints only the one line that says why it is down, without its secrets.

import { ByRoute } from "./calls/by-route.ts";
import { hideAll, maskText } from "./config/mask.ts";
import type { ErrorBody } from "./errors.ts";
import type { CallRecord, HubEvents } from "./events.ts";
import { LogFile } from "./log-file.ts";
import { LogLines, membersOf, type Destination, type LogLevel } from "./log-lines.ts";
import type { Status } from "./servers/status.ts";
import { tellingLine } from "./servers/telling.ts";

export interface FileLogOptions {
  readonly maxBytes?: number;
  /** What the hub warned of before there was a log. */
  readonly warnings?: readonly string[];
}

/** Of what a server said last. Secrets that the hub knows are out of it already; what looks like one is masked here. */
const MAX_DETAIL = 500;
/** Of so many kinds of calls the beginning of the line is kept. */
const MAX_KINDS = 1000;

/** Logs to a file. Where it cannot be written, that is said, and the hub goes on. */
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

/** Logs what happens from now on, one line for each. */
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
  let beginningOf = callBeginnings();
  const tellsCalls = log.has("info");
  events.on("call.finished", (call) => {
    if (!tellsCalls) return;
    const { outcome } = call;
    const how =
      outcome === "ok" ? DONE : membersOf({ ok: false, outcome, ...failure(call.error), msg: MESSAGES[outcome] });
    const duration = Math.round(call.durationMs * 1000) / 1000;
    log.write("info", `${beginningOf(call)},"duration_ms":${duration},${how}`);
  });
  events.on("config.reloaded", ({ changes, description }) => {
    // What is called from now on is said anew: else those that were removed would be kept.
    if (changes.removed.length > 0) beginningOf = callBeginnings();
    log.say("info", "config reloaded", { changes: description });
  });
  events.on("config.rejected", ({ error }) =>
    log.say("error", "config rejected, the last good one stays", failure(error)),
  );
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

/** What the lines of one kind of call have in common is put into words once: there is nothing that the hub logs more often. */
function callBeginnings(): (call: CallRecord) => string {
  const known = new ByRoute<string>();
  return ({ server, tool, group }) => {
    let found = known.get(server, tool, group, null);
    if (found === undefined) {
      if (known.size >= MAX_KINDS) known.clear();
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
      return log.say("warn", "server wants other credentials", { server, ...reason(status.error) });
    case "starting":
      return log.say("debug", "server starting", { server, stage: status.stage });
    case "stopped":
    case "disabled":
      return log.say("info", `server ${status.state}`, { server });
  }
}

/** Code and message only: the detail may quote what the server printed. */
function failure(error: ErrorBody | undefined) {
  return error === undefined ? {} : { code: error.code, kind: error.kind, error: error.message };
}

/** Of a server that is down also what tells why: the missing variable, the command, the line of stderr that says most. */
function reason(error: ErrorBody) {
  const telling = error.detail === undefined ? undefined : tellingLine(error.detail)?.slice(0, MAX_DETAIL);
  const detail = telling === undefined ? undefined : maskText(telling, hideAll);
  return { ...failure(error), field: error.field, detail };
}
