// A process that the benchmark started, in its own process group, and how it is ended.

import { spawn, type ChildProcessByStdio } from "node:child_process";
import { once } from "node:events";
import type { Readable, Writable } from "node:stream";
import { setTimeout as sleep } from "node:timers/promises";

export interface RunOptions {
  readonly env?: Readonly<Record<string, string>>;
  readonly cwd?: string;
}

/** How much of its output is kept for error messages. */
const KEPT = 2000;
const GRACE_MS = 3000;

export class Running {
  readonly pid: number;
  readonly stdin: Writable;
  readonly stdout: Readable;
  /** Resolves when it has exited; never rejects. */
  readonly ended: Promise<void>;
  readonly #child: ChildProcessByStdio<Writable, Readable, Readable>;
  #said = "";

  constructor([command = "", ...args]: readonly string[], { env = {}, cwd }: RunOptions = {}) {
    this.#child = spawn(command, args, {
      detached: true,
      env: { ...process.env, ...env },
      stdio: ["pipe", "pipe", "pipe"],
      ...(cwd === undefined ? {} : { cwd }),
    });
    this.pid = this.#child.pid ?? 0;
    this.stdin = this.#child.stdin.on("error", () => {}); // an exited process is reported below
    this.stdout = this.#child.stdout;
    const failed = new Promise<void>((resolve) => this.#child.once("error", () => resolve()));
    this.ended = Promise.race([
      once(this.#child, "exit").then(
        () => undefined,
        () => undefined,
      ),
      failed,
    ]);
    this.#child.stderr.on("data", (piece) => (this.#said = `${this.#said}${piece}`.slice(-KEPT)));
    const killLast = () => this.#signal("SIGKILL");
    process.once("exit", killLast);
    void this.ended.then(() => process.off("exit", killLast));
  }

  get hasEnded(): boolean {
    return this.pid === 0 || this.#child.exitCode !== null || this.#child.signalCode !== null;
  }

  /** The end of its stderr. */
  get said(): string {
    return this.#said;
  }

  async stop(): Promise<void> {
    const impatient = new AbortController();
    if (!this.hasEnded) this.#signal("SIGTERM");
    await Promise.race([this.ended, sleep(GRACE_MS, undefined, { signal: impatient.signal }).catch(() => undefined)]);
    impatient.abort();
    // Some peers leave their servers running.
    this.#signal("SIGKILL");
    await this.ended;
  }

  #signal(signal: NodeJS.Signals): void {
    try {
      if (this.pid !== 0) process.kill(-this.pid, signal);
    } catch {
      // the whole group has exited
    }
  }
}
