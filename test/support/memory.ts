// Memory use of this process after a garbage collection, and of another process as reported by the system.

import { readFileSync } from "node:fs";
import { setFlagsFromString } from "node:v8";
import { runInNewContext } from "node:vm";

export function collectGarbage(): void {
  setFlagsFromString("--expose-gc");
  // eslint-disable-next-line typescript/no-unsafe-type-assertion -- there since the flag above
  const collect = runInNewContext("gc") as () => void;
  collect();
}

/** The reachable bytes of this process: objects and buffers. */
export function reachableBytes(): number {
  collectGarbage();
  const { heapUsed, arrayBuffers } = process.memoryUsage();
  return heapUsed + arrayBuffers;
}

/** The current and peak resident memory of a process in bytes; 0 if the system does not report it. */
export function residentBytes(pid: number | undefined): { now: number; peak: number } {
  let status = "";
  try {
    status = readFileSync(`/proc/${pid}/status`, "latin1");
  } catch {
    // no /proc here
  }
  const field = (name: string) => Number(new RegExp(`^${name}:\\s+(\\d+) kB$`, "m").exec(status)?.[1] ?? 0) * 1024;
  return { now: field("VmRSS"), peak: field("VmHWM") };
}
