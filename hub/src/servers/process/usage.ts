// Memory and CPU time of a server's processes, with their children. Linux only.

import { readdir, readFile } from "node:fs/promises";

const PAGE_BYTES = 4096;
/** Linux reports times in hundredths of a second, whatever its own clock is. */
const TICK_MS = 10;
const MAX_PROCESSES = 256;
/** A machine may have more processes than the hub may open files. */
const AT_ONCE = 32;

export interface ProcessUsage {
  readonly pid: number;
  readonly rssBytes: number;
  readonly cpuMs: number;
  /** Its name, without arguments, which may contain secrets. */
  readonly command: string;
}

interface Stat extends ProcessUsage {
  readonly parent: number;
}

/** Undefined where the system does not say. */
export async function usageOf(roots: readonly number[]): Promise<ProcessUsage[] | undefined> {
  if (process.platform !== "linux") return undefined;
  const stats = await readAll();
  const found: Stat[] = [];
  const open = [...new Set(roots)];
  const seen = new Set<number>();
  for (let pid = open.shift(); pid !== undefined && found.length < MAX_PROCESSES; pid = open.shift()) {
    const stat = stats.get(pid);
    if (stat === undefined || seen.has(pid)) continue;
    seen.add(pid);
    found.push(stat);
    for (const child of stats.values()) if (child.parent === pid) open.push(child.pid);
  }
  return found.map(({ pid, rssBytes, cpuMs, command }) => ({ pid, rssBytes, cpuMs, command }));
}

async function readAll(): Promise<Map<number, Stat>> {
  const pids = (await readdir("/proc")).filter((name) => /^\d+$/.test(name)).map(Number);
  const stats = new Map<number, Stat>();
  for (let at = 0; at < pids.length; at += AT_ONCE) {
    const some = await Promise.all(pids.slice(at, at + AT_ONCE).map(readStat));
    for (const stat of some) if (stat !== undefined) stats.set(stat.pid, stat);
  }
  return stats;
}

/** Undefined if the process has ended. */
async function readStat(pid: number): Promise<Stat | undefined> {
  const text = await readFile(`/proc/${pid}/stat`, "latin1").catch(() => "");
  // pid (name) state ppid …; the name may contain anything.
  const end = text.lastIndexOf(")");
  if (end === -1) return undefined;
  const fields = text.slice(end + 2).split(" ");
  const field = (number: number) => Number(fields[number - 3] ?? 0);
  return {
    pid,
    parent: field(4),
    cpuMs: (field(14) + field(15)) * TICK_MS,
    rssBytes: field(24) * PAGE_BYTES,
    command: text.slice(text.indexOf("(") + 1, end),
  };
}
