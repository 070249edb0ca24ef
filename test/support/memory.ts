// How much memory there is in use: of this process after a collection, of another one as the system sees it.

import { readFileSync } from "node:fs";
import { setFlagsFromString } from "node:v8";
import { runInNewContext } from "node:vm";

export function collectGarbage(): void {
  setFlagsFromString("--expose-gc");
  // eslint-disable-next-line typescript/no-unsafe-type-assertion -- there since the flag above
  const collect = runInNewContext("gc") as () => void;
  collect();
}

/** What is reachable in this process, in bytes: objects, and the bytes of buffers. */
export function reachableBytes(): number {
  collectGarbage();
  const { heapUsed, arrayBuffers } = process.memoryUsage();
  return heapUsed + arrayBuffers;
}

/** The memory of a process that is resident now, and the most that ever was, in bytes; 0 where the system does not tell. */
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
