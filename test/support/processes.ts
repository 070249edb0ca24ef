// What tests need to know about real processes: which of them are still there.

import { readFileSync, readdirSync } from "node:fs";
import type { Readable } from "node:stream";
import { setTimeout as delay } from "node:timers/promises";

/** Environments of other processes can be read in /proc only. */
export const seesTags = process.platform === "linux";

/** Full path of a fixture program. */
export function program(name: string): string {
  return new URL(`../fixtures/programs/${name}`, import.meta.url).pathname;
}

/** Ids of the processes whose environment says that they belong to this run of the hub. Zombies have none. */
export function processesWithTag(tag: string): number[] {
  const pids = readdirSync("/proc").filter((name) => /^\d+$/.test(name));
  return pids
    .filter((pid) => read(`/proc/${pid}/environ`).split("\0").includes(`PLUGBOARD_INSTANCE=${tag}`))
    .map(Number);
}

/** Waits until no process has the tag and returns how long it took; throws, with their command lines, past the limit. */
export async function untilNoneWithTag(tag: string, withinMs: number): Promise<number> {
  const start = performance.now();
  for (;;) {
    const left = processesWithTag(tag);
    const elapsed = performance.now() - start;
    if (left.length === 0) return elapsed;
    if (elapsed > withinMs) {
      throw new Error(
        `After ${withinMs} ms still there: ${left.map((pid) => `${pid} ${commandLine(pid)}`).join("; ")}`,
      );
    }
    await delay(10);
  }
}

/** The arguments of a process as everyone on the machine can see them. */
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
