// The background hub: `plugboard up` as a detached process that logs to a file. Starting waits until it is ready or has failed;
// stopping waits until the process has exited.

import { spawn, type ChildProcess } from "node:child_process";
import { once } from "node:events";
import { mkdir, open, readFile, stat } from "node:fs/promises";
import { dirname } from "node:path";
import { setTimeout as sleep } from "node:timers/promises";
import { packagePath } from "../../lib/package-path.ts";
import { HubError } from "../../errors.ts";
import { fromBody } from "../input/error-body.ts";
import { findLocalHub } from "./find-hub.ts";
import type { GlobalOptions, Io } from "../io.ts";
import { isAlive } from "@plugboard/shared/process-identity";
import { hubFoldersOf, type HubFolders } from "./run-file.ts";
import { type RunFile } from "../../run-file.ts";

export interface DaemonOptions extends GlobalOptions {
  readonly port?: string;
  readonly host?: string;
  readonly insecureHttp?: boolean;
  /** False for --no-fast-path. */
  readonly fastPath?: boolean;
  /** False for --no-ui. */
  readonly ui?: boolean;
}

export interface Daemon {
  readonly record: RunFile;
  readonly log: string;
  /** It was already running. */
  readonly found: boolean;
  /** Resolves when each server is up or has failed, or the hub has exited. */
  readonly settled: Promise<void>;
  /** Disconnects from the process, so that this one can exit. */
  release(): void;
}

const START_MS = 30_000;
const STOP_MS = 30_000;
const KILL_MS = 5000;
const SOON_MS = 1000;
const LOG_LINES = 20;
/** A larger log is truncated at the start. */
const MAX_LOG_BYTES = 8 << 20;

/** Starts the hub unless it is running. Resolves when it listens. */
export async function startDaemon(io: Io, options: DaemonOptions): Promise<Daemon> {
  refuseRemote(io, options);
  const folders = hubFoldersOf(io, options);
  const found = await findLocalHub(io, options);
  if (found !== undefined) return already(found.record, folders);
  const { child, logStart } = await launch(io, folders, options);
  const failure = await nextMessage(child, (message) => "listening" in message, START_MS).catch((thrown: unknown) => ({
    thrown,
  }));
  const hub = failure === undefined ? await findLocalHub(io, options) : await findSoon(io, options);
  if (failure !== undefined || hub === undefined) {
    await ended(child);
    // Two hubs were started at once, and the other one won.
    if (hub !== undefined && hub.record.pid !== child.pid) return already(hub.record, folders);
    throw failure?.thrown instanceof HubError ? failure.thrown : await reasonInLog(folders.log, logStart, child);
  }
  const settled = nextMessage(child, (message) => "settled" in message).then(
    () => undefined,
    () => undefined,
  );
  const release = () => {
    if (child.connected) child.disconnect();
    child.unref();
  };
  return { record: hub.record, log: folders.log, found: false, settled, release };
}

/** A hub that has just taken the port writes its run file a moment later. */
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

function already(record: RunFile, { log }: HubFolders): Daemon {
  return { record, log, found: true, settled: Promise.resolve(), release: () => undefined };
}

/** Stops the hub of this config; undefined if none is running. Resolves when its process has exited. */
export async function stopDaemon(io: Io, options: GlobalOptions): Promise<RunFile | undefined> {
  refuseRemote(io, options);
  const found = await findLocalHub(io, options);
  if (found === undefined) return undefined;
  const { pid } = found.record;
  process.kill(pid, "SIGTERM");
  if (await hasExited(pid, STOP_MS)) return found.record;
  // Its watchdog ends the servers.
  process.kill(pid, "SIGKILL");
  if (await hasExited(pid, KILL_MS)) return found.record;
  throw new HubError("Timeout", `The hub (pid ${pid}) did not stop`, { hint: `kill -9 ${pid}` });
}

async function launch(
  io: Io,
  folders: HubFolders,
  { host, port, insecureHttp, fastPath, ui }: DaemonOptions,
): Promise<{ child: ChildProcess; logStart: number }> {
  await mkdir(dirname(folders.log), { recursive: true, mode: 0o700 });
  const log = await open(folders.log, "a", 0o600);
  try {
    await log.chmod(0o600);
    if ((await log.stat()).size > MAX_LOG_BYTES) await log.truncate(0);
    const { size: logStart } = await log.stat();
    const words = ["up", "--config", folders.config];
    if (port !== undefined) words.push("--port", port);
    if (host !== undefined) words.push("--host", host);
    if (insecureHttp === true) words.push("--insecure-http");
    if (fastPath === false) words.push("--no-fast-path");
    if (ui === false) words.push("--no-ui");
    const child = spawn(process.execPath, [MAIN, ...words], {
      detached: true,
      cwd: await folderOf(io, folders),
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

/** The same folder wherever the command runs. Some users have no home folder. */
async function folderOf({ home }: Io, { log }: HubFolders): Promise<string> {
  const info = await stat(home).catch(() => undefined);
  return info?.isDirectory() === true ? home : dirname(log);
}

const MAIN = packagePath("bin/plugboard.js");

/** Waits for a message of the hub. Rejects with the hub's error if it failed, or with undefined if it exited. */
function nextMessage(child: ChildProcess, wanted: (message: object) => boolean, withinMs?: number): Promise<void> {
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
    const onExit = () => end(() => reject(undefined));
    const end = (how: () => void) => {
      clearTimeout(timer);
      child.off("message", onMessage).off("exit", onExit).off("disconnect", onExit);
      how();
    };
    child.on("message", onMessage).on("exit", onExit).on("disconnect", onExit);
  });
}

/** The error of a hub that exited without a message: the last lines of its log. */
async function reasonInLog(path: string, from: number, { exitCode, signalCode }: ChildProcess): Promise<HubError> {
  const bytes = await readFile(path).catch(() => Buffer.alloc(0));
  const lines = bytes.subarray(from).toString().trimEnd().split("\n").slice(-LOG_LINES).join("\n");
  const how = signalCode === null ? `exit code ${exitCode ?? "unknown"}` : `signal ${signalCode}`;
  return new HubError("ProcessSpawnFailed", `The hub exited during its start (${how})`, {
    detail: lines === "" ? "The log is empty" : lines,
    hint: `Run plugboard up to see more; the log is ${path}`,
  });
}

async function hasExited(pid: number, withinMs: number): Promise<boolean> {
  const deadline = performance.now() + withinMs;
  while (isAlive(pid)) {
    if (performance.now() > deadline) return false;
    await sleep(25);
  }
  return true;
}

function refuseRemote(io: Io, { url }: GlobalOptions): void {
  if (url === undefined && !io.env["PLUGBOARD_URL"]) return;
  throw new HubError("InvalidArgument", "A remote hub cannot be started or stopped from here", {
    field: "url",
    hint: "Run the command on its machine, or name one of its servers",
  });
}
