// The processes of a target without its upstream servers: their CPU time and memory.

import { readdirSync, readFileSync } from "node:fs";
import { residentBytes } from "../support/memory.ts";
import { commandLine } from "../support/processes.ts";
import { UPSTREAMS } from "./places.ts";

/** Other systems do not report CPU time and memory of other processes; these figures are left out there. */
export const seesProcesses = process.platform === "linux";

/** The process and its descendants, except upstream servers. */
export function processesOf(root: number): number[] {
  const children = new Map<number, number[]>();
  for (const name of list("/proc")) {
    if (!/^\d+$/.test(name)) continue;
    const parent = Number(statOf(Number(name))[1]);
    children.set(parent, [...(children.get(parent) ?? []), Number(name)]);
  }
  const own: number[] = [];
  const add = (pid: number) => {
    if (pid !== root && commandLine(pid).includes(UPSTREAMS)) return;
    own.push(pid);
    children.get(pid)?.forEach(add);
  };
  add(root);
  return own;
}

/** In microseconds, for all threads. */
export function cpuTime(pids: readonly number[]): number {
  return pids.reduce((sum, pid) => sum + cpuTimeOf(pid), 0);
}

export function residentKb(pids: readonly number[]): number {
  return pids.reduce((sum, pid) => sum + residentBytes(pid).now / 1024, 0);
}

function cpuTimeOf(pid: number): number {
  const threads = list(`/proc/${pid}/task`).map((thread) => read(`/proc/${pid}/task/${thread}/schedstat`));
  if (threads.length > 0 && threads.every((text) => text !== ""))
    return threads.reduce((sum, text) => sum + Number(text.split(" ")[0]) / 1000, 0);
  // Without scheduler statistics, the resolution is a tick, usually 10 ms.
  const [userTicks, systemTicks] = statOf(pid).slice(11, 13).map(Number);
  return ((userTicks ?? 0) + (systemTicks ?? 0)) * 10_000;
}

/** The fields of its stat from the third on; the second, its name, may contain anything. */
function statOf(pid: number): string[] {
  const text = read(`/proc/${pid}/stat`);
  return text.slice(text.lastIndexOf(")") + 2).split(" ");
}

function read(path: string): string {
  try {
    return readFileSync(path, "latin1");
  } catch {
    return ""; // it has exited
  }
}

function list(path: string): string[] {
  try {
    return readdirSync(path);
  } catch {
    return []; // it has exited
  }
}
