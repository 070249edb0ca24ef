// One server process in its own process group, from spawn until all members have exited (LC-4). The watchdog ends it if the
// hub dies.

import type { ChildProcessWithoutNullStreams } from "node:child_process";
import { once } from "node:events";
import type { Readable, Writable } from "node:stream";
import { setTimeout as delay } from "node:timers/promises";
import crossSpawn from "cross-spawn";
import { removeContainer } from "./container.ts";
import type { Container } from "./container.ts";
import { diagnoseSpawn } from "./diagnose.ts";
import { START_VARIABLE, clientEnvironment } from "./environment.ts";
import type { Watchdog } from "./watchdog.ts";
import type { LaunchCommand } from "./command-line.ts";
import { StderrRing } from "./stderr-ring.ts";
import { groupRuns, killStarted, signalGroup } from "./process-group.ts";

export interface ProcessExit {
  readonly code: number | null;
  readonly signal: NodeJS.Signals | null;
}

/** How long each step of a stop may take. */
export interface Grace {
  /** After stdin was closed. */
  readonly stdin: number;
  /** After SIGTERM. */
  readonly term: number;
}

export interface ProcessOptions {
  readonly watchdog: Watchdog;
  readonly graceMs?: Grace;
  /** Chunks of stderr. */
  readonly onStderr?: (chunk: Buffer) => void;
}

// Together the five seconds of LC-4.
const GRACE_MS: Grace = { stdin: 2_000, term: 3_000 };
/** For helpers whose group leader exited on its own. */
const REST_MS = 300;
const KILLED_MS = 1_000;
const POLL_MS = 20;
const POLL_MAX_MS = 100;
const SWEEPS = 5;

export class ServerProcess {
  readonly pid: number;
  readonly stdin: Writable;
  readonly stdout: Readable;
  readonly stderr = new StderrRing();
  /** Never rejects. When it resolves, helpers and container have ended too, and stderr is complete. */
  readonly exited: Promise<ProcessExit>;

  readonly #child: ChildProcessWithoutNullStreams;
  /** Resolves when the leader has exited. Its helpers may still run. */
  readonly left: Promise<ProcessExit>;
  readonly #start: string | undefined;
  readonly #container: Container | undefined;
  readonly #graceMs: Grace;
  #stopping: Promise<ProcessExit> | undefined;
  /** The last signal to the group, and its deadline. */
  #sent: "nothing" | "SIGTERM" | "SIGKILL" = "nothing";
  #deadline = 0;
  #gone = false;

  /** Rejects with a reason that the user can fix: no such command, no such folder, not executable. */
  static async spawn(command: LaunchCommand, options: ProcessOptions): Promise<ServerProcess> {
    const { watchdog, graceMs = GRACE_MS, onStderr = () => {} } = options;
    try {
      // Before the child: the watchdog finds it by its tag even if the hub dies before the group is registered.
      watchdog.start();
      // On Windows it finds npx.cmd for npx, and starts it by a shell with the arguments quoted.
      const child = crossSpawn.spawn(command.command, command.args, {
        ...(command.cwd === undefined ? {} : { cwd: command.cwd }),
        env: command.env,
        // A separate group: npx and uvx start the real server as a grandchild, and all of them must end together. On Windows it
        // would be a separate window.
        detached: process.platform !== "win32",
        windowsHide: true,
        stdio: ["pipe", "pipe", "pipe"],
      });
      if (child.pid !== undefined) return new ServerProcess(child, child.pid, { command, watchdog, graceMs, onStderr });
      const [error] = (await once(child, "error")) as unknown[];
      throw error;
    } catch (error) {
      throw await diagnoseSpawn(command, error);
    }
  }

  private constructor(
    child: ChildProcessWithoutNullStreams,
    pid: number,
    { command, watchdog, graceMs, onStderr }: Required<ProcessOptions> & { command: LaunchCommand },
  ) {
    const container = containerOf(command);
    watchdog.register({ pgid: pid, container });
    this.pid = pid;
    this.stdin = child.stdin;
    this.stdout = child.stdout;
    this.#child = child;
    this.#start = command.env[START_VARIABLE];
    this.#container = container;
    this.#graceMs = graceMs;
    this.left = new Promise((resolve) => {
      child.once("exit", (code, signal) => resolve({ code, signal }));
    });
    child.stderr.on("data", (chunk: Buffer) => {
      this.stderr.push(chunk);
      onStderr(chunk);
    });
    // A pipe breaks when its other end dies (EPIPE, ECONNRESET). The exit event reports the same.
    for (const stream of [child, child.stdin, child.stdout, child.stderr]) stream.on("error", () => {});
    this.exited = this.#untilGone(watchdog);
  }

  /** Ends stdin, then sends SIGTERM and SIGKILL to the whole group. */
  stop(): Promise<ProcessExit> {
    this.#stopping ??= this.#escalate();
    return this.#stopping;
  }

  /** At once, for a start that was cancelled. */
  kill(): Promise<ProcessExit> {
    if (!this.#gone) this.#signal("SIGKILL");
    return this.exited;
  }

  async #escalate(): Promise<ProcessExit> {
    const { stdin, term } = this.#graceMs;
    this.#deadline = performance.now() + stdin + term;
    this.stdin.end();
    if (await settlesWithin(this.left, stdin)) return this.exited;
    this.#signal("SIGTERM");
    if (await settlesWithin(this.left, term)) return this.exited;
    return this.kill();
  }

  #signal(signal: "SIGTERM" | "SIGKILL"): boolean {
    this.#sent = signal;
    return signalGroup(this.pid, signal);
  }

  async #untilGone(watchdog: Watchdog): Promise<ProcessExit> {
    const exit = await this.left;
    try {
      await this.#clearGroup();
      await this.#clearStarted();
      if (this.#container !== undefined) await removeContainer(this.#container, { mayAppear: exit.signal !== null });
      const { stderr } = this.#child;
      if (!stderr.closed) await settlesWithin(once(stderr, "close"), REST_MS);
    } catch {
      // /proc could not be read (EMFILE): the signals were sent, and the watchdog still knows the hub's tag.
    } finally {
      this.#gone = true;
      watchdog.unregister({ pgid: this.pid });
    }
    return exit;
  }

  /** The leader may be only a launcher: npm exits at once on SIGTERM, and the server behind it gets the same grace. */
  async #clearGroup(): Promise<void> {
    // Once, not twice: many programs abort their cleanup on a second SIGTERM.
    if (this.#sent === "nothing" && !this.#signal("SIGTERM")) return;
    const rest = Math.max(REST_MS, this.#deadline - performance.now());
    if (this.#sent === "SIGTERM" && (await this.#groupEnds(rest))) return;
    if (this.#signal("SIGKILL")) await this.#groupEnds(KILLED_MS);
  }

  /** Polls: the hub is not the parent of the members of a group, so there is no event when it is empty. */
  async #groupEnds(ms: number): Promise<boolean> {
    const deadline = performance.now() + ms;
    for (let pause = POLL_MS; await groupRuns(this.pid); pause = Math.min(POLL_MAX_MS, pause * 1.5)) {
      if (performance.now() > deadline) return false;
      await delay(pause);
    }
    return true;
  }

  async #clearStarted(): Promise<void> {
    if (this.#start === undefined) return;
    for (let sweep = 0; sweep < SWEEPS && (await killStarted(this.#start)) > 0; sweep++) await delay(POLL_MS);
  }
}

function containerOf({ container, env }: LaunchCommand): Container | undefined {
  return container && { name: container.name, client: { command: container.client, env: clientEnvironment(env) } };
}

async function settlesWithin(promise: Promise<unknown>, ms: number): Promise<boolean> {
  const timer = new AbortController();
  const late = delay(ms, false, { signal: timer.signal });
  try {
    return await Promise.race([promise.then(() => true), late]);
  } finally {
    timer.abort();
  }
}
