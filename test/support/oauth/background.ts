// A program that runs in the background of a test: started, awaited until it answers on its port, and ended with the test.

import { spawn, type ChildProcess } from "node:child_process";
import { once } from "node:events";
import { setTimeout as delay } from "node:timers/promises";

export interface Background {
  readonly process: ChildProcess;
  output(): string;
  close(): Promise<void>;
}

export interface BackgroundOptions {
  /** Answered when the program is ready. */
  readonly url: string;
  /** Whether an answer means that it is. */
  readonly isReady?: (status: number) => boolean;
  readonly withinMs: number;
  readonly env?: NodeJS.ProcessEnv;
}

/** Resolves when the program is ready. */
export async function startBackground(
  [command = "", ...args]: readonly string[],
  { url, isReady = () => true, withinMs, env = {} }: BackgroundOptions,
): Promise<Background> {
  // A group of its own, so that what it starts ends with it.
  const child = spawn(command, args, {
    stdio: ["ignore", "pipe", "pipe"],
    env: { ...process.env, ...env },
    detached: true,
  });
  let output = "";
  for (const stream of [child.stdout, child.stderr]) stream.setEncoding("utf8").on("data", (text) => (output += text));
  const exited = once(child, "exit");
  const killLast = () => {
    if (child.pid !== undefined && child.exitCode === null) process.kill(-child.pid, "SIGKILL");
  };
  process.once("exit", killLast);
  void exited.then(() => process.off("exit", killLast));
  const close = async () => {
    killLast();
    if (child.exitCode === null && child.signalCode === null) await exited;
  };
  const deadline = performance.now() + withinMs;
  for (;;) {
    const isUp = await fetch(url, { redirect: "manual" }).then(
      async (response) => {
        await response.body?.cancel();
        return isReady(response.status);
      },
      () => false,
    );
    if (isUp) return { process: child, output: () => output, close };
    if (child.exitCode !== null || performance.now() > deadline) {
      await close();
      throw new Error(`${command} does not answer at ${url}:\n${output}`);
    }
    await delay(50);
  }
}
