// The hub's structured log: one JSON line for every connect, failure, call, reload and warning. Payloads and the text
// that servers print never get in: either may hold a secret.

import { renameSync } from "node:fs";
import { mkdir, stat } from "node:fs/promises";
import { dirname } from "node:path";
import type { DestinationStream, Logger, pino as Pino } from "pino";
import type { ErrorBody } from "./errors.ts";
import type { HubEvents } from "./events.ts";
import type { Status } from "./servers/status.ts";

const MAX_FILE_BYTES = 16 << 20;
const GATHER_BYTES = 2 << 10;
const GATHER_MS = 1000;
/** Lines that a full disk does not take yet; more are dropped. */
const MAX_WAITING_BYTES = 1 << 20;

export const LOG_LEVELS = ["debug", "info", "warn", "error", "silent"] as const;
export type LogLevel = (typeof LOG_LEVELS)[number];

export interface FileLogOptions {
  readonly maxBytes?: number;
}

/** Logs to a file. One that has grown large is kept aside, and the one aside before it goes. */
export async function startFileLog(
  events: HubEvents,
  path: string,
  { maxBytes = MAX_FILE_BYTES }: FileLogOptions = {},
): Promise<Logger> {
  // Loaded here: it takes longer than the hub needs to be ready, and nobody waits for it.
  const { pino } = await import("pino");
  await mkdir(dirname(path), { recursive: true, mode: 0o700 });
  const size = await stat(path).then(
    (info) => info.size,
    () => 0,
  );
  // Written together, at the latest after a second, and on the spot: a thread for it would cost more than the write.
  const gathered = { sync: true, minLength: GATHER_BYTES, maxLength: MAX_WAITING_BYTES, periodicFlush: GATHER_MS };
  const isAside = size > maxBytes && keepAside(path);
  const file = pino.destination({ dest: path, mode: 0o600, ...gathered });
  rollWhenLarge(file, path, { size: isAside ? 0 : size, maxBytes });
  let warned = false;
  // Unheard it would end the hub.
  file.on("error", ({ code }: NodeJS.ErrnoException) => {
    if (warned) return;
    warned = true; // before it is told: that is a line too
    events.emit("warning", { message: `The log file cannot be written: ${code ?? "unknown error"}` });
  });
  return startLog(events, file);
}

function rollWhenLarge(
  file: ReturnType<typeof Pino.destination>,
  path: string,
  { size, maxBytes }: { size: number; maxBytes: number },
): void {
  let written = size;
  file.on("write", (bytes: number) => {
    written += bytes;
    if (written <= maxBytes) return;
    written = 0;
    if (keepAside(path)) file.reopen();
  });
}

/** At once, so that no line is written between the two. Where it cannot be done, the file just goes on. */
function keepAside(path: string): boolean {
  try {
    renameSync(path, `${path}.1`);
    return true;
  } catch {
    return false;
  }
}

/** Logs what happens from now on, one line for each. */
export async function startLog(
  events: HubEvents,
  destination: DestinationStream,
  { level = "info" }: { level?: LogLevel } = {},
): Promise<Logger> {
  const { pino } = await import("pino");
  const log = pino({ name: "plugboard", level, timestamp: isoTime() }, destination);
  events.on("server.status", ({ server, status }) => logStatus(log, server, status));
  events.on("server.circuit", ({ server, breaker }) => {
    if (breaker.state === "open") log.warn({ server }, "circuit opened");
    else log.info({ server }, `circuit ${breaker.state}`);
  });
  events.on("call.finished", ({ server, tool, group, durationMs, ok, error }) => {
    const duration_ms = Math.round(durationMs * 1000) / 1000;
    log.info({ server, tool, group, duration_ms, ok, ...failure(error) }, ok ? "call finished" : "call failed");
  });
  events.on("config.reloaded", ({ description }) => log.info({ changes: description }, "config reloaded"));
  events.on("config.rejected", ({ error }) => log.error(failure(error), "config rejected, the last good one stays"));
  events.on("warning", ({ message }) => log.warn(message));
  events.on("unexpected", ({ requestId, error }) => log.error({ request_id: requestId, error }, "unexpected error"));
  return log;
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
