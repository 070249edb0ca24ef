// The hub in the background: `plugboard up` as a detached process of its own, with its output in a log file. Started
// only once, waited for until it is ready or has failed, and stopped until nothing of it is left.

import { spawn, type ChildProcess } from "node:child_process";
import { once } from "node:events";
import { mkdir, open, readFile, stat } from "node:fs/promises";
import { dirname } from "node:path";
import { setTimeout as sleep } from "node:timers/promises";
import { fileURLToPath } from "node:url";
import { HubError } from "../errors.ts";
import { fromBody } from "./error-body.ts";
import { findLocalHub } from "./find-hub.ts";
import type { GlobalOptions, Io } from "./io.ts";
import { isAlive, placesOf, type HubRecord, type Places } from "./record.ts";

export interface DaemonOptions extends GlobalOptions {
  readonly port?: string;
  readonly host?: string;
}

export interface Daemon {
  readonly record: HubRecord;
  readonly log: string;
  /** It was there before. */
  readonly found: boolean;
  /** Resolves when each of its servers is up or has failed, or the hub has gone. */
  readonly settled: Promise<void>;
  /** Leaves it to itself. */
  release(): void;
}

const START_MS = 30_000;
const STOP_MS = 30_000;
const KILL_MS = 5000;
const SOON_MS = 1000;
const LOG_LINES = 20;
/** The log is started anew when it has grown beyond this. */
const MAX_LOG_BYTES = 8 << 20;

/** Starts the hub unless it runs. Resolves when it listens. */
export async function startDaemon(io: Io, options: DaemonOptions): Promise<Daemon> {
  refuseRemote(io, options);
  const places = placesOf(io, options);
  const found = await findLocalHub(io, options);
  if (found !== undefined) return already(found.record, places);
  const { child, logStart } = await launch(io, places, options);
  const failure = await heard(child, (message) => "listening" in message, START_MS).catch((thrown: unknown) => ({
    thrown,
  }));
  const hub = failure === undefined ? await findLocalHub(io, options) : await findSoon(io, options);
  if (failure !== undefined || hub === undefined) {
    await ended(child);
    // Two were started at once, and the other one was first.
    if (hub !== undefined && hub.record.pid !== child.pid) return already(hub.record, places);
    throw failure?.thrown instanceof HubError ? failure.thrown : await reasonInLog(places.log, logStart, child);
  }
  const settled = heard(child, (message) => "settled" in message).then(
    () => undefined,
    () => undefined,
  );
  const release = () => {
    if (child.connected) child.disconnect();
    child.unref();
  };
  return { record: hub.record, log: places.log, found: false, settled, release };
}

/** Another hub that took the port first leaves its record a moment later. */
async function findSoon(io: Io, options: DaemonOptions): ReturnType<typeof findLocalHub> {
  for (const deadline = performance.now() + SOON_MS; ;) {
    const hub = await findLocalHub(io, options);
    if (hub !== undefined || performance.now() > deadline) return hub;
    await sleep(25);
  }
}

async function ended(child: ChildProcess): Promise<void> {
  if (child.exitCode !== null || child.signalCode !== null) return;
  const exited = once(child, "exit");
  child.kill("SIGKILL");
  await exited;
}

function already(record: HubRecord, { log }: Places): Daemon {
  return { record, log, found: true, settled: Promise.resolve(), release: () => undefined };
}

/** Stops the hub of this config. Undefined where none runs. Resolves when its process is gone. */
export async function stopDaemon(io: Io, options: GlobalOptions): Promise<HubRecord | undefined> {
  refuseRemote(io, options);
  const found = await findLocalHub(io, options);
  if (found === undefined) return undefined;
  const { pid } = found.record;
  process.kill(pid, "SIGTERM");
  if (await isGone(pid, STOP_MS)) return found.record;
  // Its watchdog ends what it leaves.
  process.kill(pid, "SIGKILL");
  if (await isGone(pid, KILL_MS)) return found.record;
  throw new HubError("Timeout", `The hub (pid ${pid}) did not stop`, { hint: `kill -9 ${pid}` });
}

async function launch(
  io: Io,
  places: Places,
  { host, port }: DaemonOptions,
): Promise<{ child: ChildProcess; logStart: number }> {
  await mkdir(dirname(places.log), { recursive: true, mode: 0o700 });
  const log = await open(places.log, "a", 0o600);
  try {
    await log.chmod(0o600);
    if ((await log.stat()).size > MAX_LOG_BYTES) await log.truncate(0);
    const { size: logStart } = await log.stat();
    const words = ["up", "--config", places.config];
    if (port !== undefined) words.push("--port", port);
    if (host !== undefined) words.push("--host", host);
    const child = spawn(process.execPath, [MAIN, ...words], {
      detached: true,
      cwd: await folderOf(io, places),
      env: { ...io.env },
      stdio: ["ignore", log.fd, log.fd, "ipc"],
    });
    await new Promise<void>((resolve, reject) => {
      child.once("spawn", resolve);
      child.once("error", (error) =>
        reject(
          new HubError("ProcessSpawnFailed", "The hub cannot be started", { detail: error.message, cause: error }),
        ),
      );
    });
    return { child, logStart };
  } finally {
    await log.close();
  }
}

/** The same wherever it is started from; some users have no home. */
async function folderOf({ home }: Io, { log }: Places): Promise<string> {
  const info = await stat(home).catch(() => undefined);
  return info?.isDirectory() === true ? home : dirname(log);
}

const MAIN = fileURLToPath(new URL("../../bin/plugboard.js", import.meta.url));

/** Waits for a message of the hub. Rejects with its error where it says that it failed, with undefined where it is gone. */
function heard(child: ChildProcess, wanted: (message: object) => boolean, withinMs?: number): Promise<void> {
  return new Promise((resolve, reject) => {
    const timer =
      withinMs === undefined
        ? undefined
        : setTimeout(
            () => end(() => reject(new HubError("Timeout", `The hub is not ready after ${withinMs / 1000} s`))),
            withinMs,
          );
    const onMessage = (message: unknown) => {
      if (typeof message !== "object" || message === null) return;
      if ("failed" in message)
        end(() =>
          reject(fromBody(typeof message.failed === "object" && message.failed !== null ? message.failed : {})),
        );
      else if (wanted(message)) end(resolve);
    };
    const onGone = () => end(() => reject(undefined));
    const end = (how: () => void) => {
      clearTimeout(timer);
      child.off("message", onMessage).off("exit", onGone).off("disconnect", onGone);
      how();
    };
    child.on("message", onMessage).on("exit", onGone).on("disconnect", onGone);
  });
}

/** Why a hub ended that said nothing: its last words in the log. */
async function reasonInLog(path: string, from: number, { exitCode, signalCode }: ChildProcess): Promise<HubError> {
  const bytes = await readFile(path).catch(() => Buffer.alloc(0));
  const lines = bytes.subarray(from).toString().trimEnd().split("\n").slice(-LOG_LINES).join("\n");
  const how = signalCode === null ? `exit code ${exitCode ?? "unknown"}` : `signal ${signalCode}`;
  return new HubError("ProcessSpawnFailed", `The hub ended at its start (${how})`, {
    detail: lines === "" ? "It said nothing" : lines,
    hint: `plugboard up shows more; the log is ${path}`,
  });
}

async function isGone(pid: number, withinMs: number): Promise<boolean> {
  const deadline = performance.now() + withinMs;
  while (isAlive(pid)) {
    if (performance.now() > deadline) return false;
    await sleep(25);
  }
  return true;
}

function refuseRemote(io: Io, { url }: GlobalOptions): void {
  if (url === undefined && !io.env["PLUGBOARD_URL"]) return;
  throw new HubError("InvalidConfig", "A hub elsewhere cannot be started or stopped from here", {
    field: "url",
    hint: "Do it on its own machine, or name one of its servers",
  });
}
