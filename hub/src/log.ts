// The hub's structured log: one JSON line for every connect, failure, call, reload and warning. Payloads and the text
// that servers print never get in: either may hold a secret.

import { hostname } from "node:os";
import type { DestinationStream, Logger } from "pino";
import { ByRoute } from "./calls/by-route.ts";
import type { ErrorBody } from "./errors.ts";
import type { CallRecord, HubEvents } from "./events.ts";
import { LogFile } from "./log-file.ts";
import type { Status } from "./servers/status.ts";

export const LOG_LEVELS = ["debug", "info", "warn", "error", "silent"] as const;
export type LogLevel = (typeof LOG_LEVELS)[number];

export interface FileLogOptions {
  readonly maxBytes?: number;
}

/** Of so many kinds of calls the beginning of the line is kept. */
const MAX_KINDS = 1000;

/** Logs to a file. Where it cannot be written, that is said, and the hub goes on. */
export function startFileLog(events: HubEvents, path: string, { maxBytes }: FileLogOptions = {}): Promise<Logger> {
  const onError = (code: string) => void events.emit("warning", { message: `The log file cannot be written: ${code}` });
  return startLog(events, new LogFile(path, { maxBytes, onError }));
}

/** Logs what happens from now on, one line for each. What happens before the logger is loaded is told when it is. */
export function startLog(
  events: HubEvents,
  destination: DestinationStream,
  { level = "info" }: { level?: LogLevel } = {},
): Promise<Logger> {
  const timestamp = isoTime();
  const base = { pid: process.pid, hostname: hostname(), name: "plugboard" };
  // Loading it takes longer than the hub needs to be ready.
  const loading = import("pino").then(({ pino }) => {
    log = pino({ base, level, timestamp }, destination);
    for (const line of early.splice(0)) line(log);
    return log;
  });
  let log: Logger | undefined;
  const early: ((log: Logger) => void)[] = [];
  const say = (line: (to: Logger) => void) => void (log === undefined ? early.push(line) : line(log));

  events.on("server.status", ({ server, status }) => say((to) => logStatus(to, server, status)));
  events.on("server.circuit", ({ server, breaker: { state } }) =>
    say((to) => (state === "open" ? to.warn({ server }, "circuit opened") : to.info({ server }, `circuit ${state}`))),
  );
  let beginningOf = callBeginnings(base);
  const tellsCalls = LOG_LEVELS.indexOf(level) <= LOG_LEVELS.indexOf("info");
  events.on("call.finished", (call) => {
    if (!tellsCalls) return;
    const how = call.ok ? DONE : JSON.stringify({ ok: false, ...failure(call.error), msg: "call failed" }).slice(1);
    const duration = Math.round(call.durationMs * 1000) / 1000;
    destination.write(`${INFO}${timestamp()},${beginningOf(call)},"duration_ms":${duration},${how}\n`);
  });
  events.on("config.reloaded", ({ changes, description }) => {
    // What is called from now on is said anew: else those that were removed would be kept.
    if (changes.removed.length > 0) beginningOf = callBeginnings(base);
    say((to) => to.info({ changes: description }, "config reloaded"));
  });
  events.on("config.rejected", ({ error }) =>
    say((to) => to.error(failure(error), "config rejected, the last good one stays")),
  );
  events.on("warning", ({ message }) => say((to) => to.warn(message)));
  events.on("unexpected", ({ requestId, error }) =>
    say((to) => to.error({ request_id: requestId, error }, "unexpected error")),
  );
  return loading;
}

const INFO = '{"level":30';
const DONE = '"ok":true,"msg":"call finished"}';

/**
 * What the lines of one kind of call have in common is put into words once: there is nothing that the hub logs more often, and
 * a line put together here costs a fifth of one that the logger makes.
 */
function callBeginnings(base: object): (call: CallRecord) => string {
  const known = new ByRoute<string>();
  return ({ server, tool, group }) => {
    let found = known.get(server, tool, group, null);
    if (found === undefined) {
      if (known.size >= MAX_KINDS) known.clear();
      found = JSON.stringify({ ...base, server, tool, group }).slice(1, -1);
      known.set([server, tool, group, null], found);
    }
    return found;
  };
}

/** Lines of the same millisecond share the text of it: making it takes as long as the rest of a line. */
function isoTime(): () => string {
  let made = { at: 0, text: "" };
  return () => {
    const at = Date.now();
    if (at !== made.at) made = { at, text: `,"time":"${new Date(at).toISOString()}"` };
    return made.text;
  };
}

function logStatus(log: Logger, server: string, status: Status): void {
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
