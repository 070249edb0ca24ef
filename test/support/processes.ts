// Finds real processes, so that tests can check which are still running.

import { readFileSync, readdirSync } from "node:fs";
import type { Readable } from "node:stream";
import { setTimeout as delay } from "node:timers/promises";

/** Detects a process that is left behind, not a slow machine. */
const PATIENCE_MS = 60_000;

/** Environments of other processes can be read in /proc only. */
export const seesTags = process.platform === "linux";

/** Full path of a fixture program. */
export function program(name: string): string {
  return new URL(`../fixtures/programs/${name}`, import.meta.url).pathname;
}

/** Ids of the processes with this setting, written `NAME=value`, in their environment. Zombies have no environment. */
export function processesWithMark(mark: string): number[] {
  const pids = readdirSync("/proc").filter((name) => /^\d+$/.test(name));
  return pids.filter((pid) => read(`/proc/${pid}/environ`).split("\0").includes(mark)).map(Number);
}

/** Waits until no process has the mark and returns how long it took; after the limit it throws, with their command lines. */
export async function untilNoneWithMark(mark: string, withinMs = PATIENCE_MS): Promise<number> {
  const start = performance.now();
  for (;;) {
    const left = processesWithMark(mark);
    const elapsed = performance.now() - start;
    if (left.length === 0) return elapsed;
    if (elapsed > withinMs) {
      const who = left.map((pid) => `${pid} ${commandLine(pid)}`).join("; ");
      throw new Error(`After ${withinMs} ms still there: ${who}`);
    }
    await delay(10);
  }
}

/** The processes of one run of the hub. */
export function processesWithTag(tag: string): number[] {
  return processesWithMark(`PLUGBOARD_INSTANCE=${tag}`);
}

export function untilNoneWithTag(tag: string, withinMs = PATIENCE_MS): Promise<number> {
  return untilNoneWithMark(`PLUGBOARD_INSTANCE=${tag}`, withinMs);
}

/** The arguments of a process, as all users of the machine can see them. */
export function commandLine(pid: number): string {
  return read(`/proc/${pid}/cmdline`).replaceAll("\0", " ");
}

export function isRunning(pid: number): boolean {
  try {
    process.kill(pid, 0);
    return true;
  } catch {
    return false;
  }
}

/** The next line of a stream. */
export function nextLine(stream: Readable): Promise<string> {
  return new Promise((resolve, reject) => {
    let text = "";
    const onData = (chunk: Buffer) => {
      text += chunk.toString();
      const end = text.indexOf("\n");
      if (end < 0) return;
      stream.off("data", onData).off("end", onEnd);
      resolve(text.slice(0, end));
    };
    const onEnd = () => reject(new Error(`The stream ended without a line: ${JSON.stringify(text)}`));
    stream.on("data", onData).on("end", onEnd);
  });
}

function read(path: string): string {
  try {
    return readFileSync(path, "latin1");
  } catch {
    return "";
  }
}

/** A variable in the environment of another process. */
export function variableOf(pid: number, name: string): string | undefined {
  const entry = read(`/proc/${pid}/environ`)
    .split("\0")
    .find((line) => line.startsWith(`${name}=`));
  return entry?.slice(name.length + 1);
}

/** Ids of the processes whose command line holds this text. */
export function processesWithCommand(text: string): number[] {
  const pids = readdirSync("/proc").filter((name) => /^\d+$/.test(name));
  return pids.map(Number).filter((pid) => pid !== process.pid && commandLine(pid).includes(text));
}
