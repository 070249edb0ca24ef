// A target's processes, without the upstream servers that it started: the time that they were on a CPU, and their memory.

import { readdirSync, readFileSync } from "node:fs";
import { residentBytes } from "../support/memory.ts";
import { commandLine } from "../support/processes.ts";
import { UPSTREAMS } from "./places.ts";

/** Elsewhere there is neither CPU time nor memory of other processes to be had, and these figures are left out. */
export const seesProcesses = process.platform === "linux";

/** The process and all that descend from it, but for upstream servers. */
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

/** In microseconds, all threads. */
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
  // Without the scheduler's own statistics there are ticks, of 10 ms as a rule.
  const [userTicks, systemTicks] = statOf(pid).slice(11, 13).map(Number);
  return ((userTicks ?? 0) + (systemTicks ?? 0)) * 10_000;
}

/** The fields of its stat from the third on; the second one, its name, may hold anything. */
function statOf(pid: number): string[] {
  const text = read(`/proc/${pid}/stat`);
  return text.slice(text.lastIndexOf(")") + 2).split(" ");
}

function read(path: string): string {
  try {
    return readFileSync(path, "latin1");
  } catch {
    return ""; // it has ended
  }
}

function list(path: string): string[] {
  try {
    return readdirSync(path);
  } catch {
    return []; // it has ended
  }
}
