// Which process a process id means: ids are used again, after a crash and in every container, so a note that is to be
// trusted later also has when its process was started.

import { execFile } from "node:child_process";
import { readFile } from "node:fs/promises";
import { promisify } from "node:util";
import { isAlive } from "./atomic.ts";

export interface ProcessIdentity {
  readonly pid: number;
  /** When it was started, in the words of its system; undefined where that cannot be known. */
  readonly started?: string | undefined;
}

const PS_MS = 2000;
/** What `ps` says is rounded to seconds. */
const PS_TOLERANCE_MS = 3000;

/** The process that runs this. */
export async function ownIdentity(): Promise<ProcessIdentity> {
  const { pid } = process;
  if (process.platform === "linux") return { pid, started: await linuxStart(pid) };
  return { pid, started: String(Math.round(Date.now() - process.uptime() * 1000)) };
}

/** Whether that very process is there. Where its start cannot be known, a process of its id counts. */
export async function isRunning({ pid, started }: ProcessIdentity): Promise<boolean> {
  if (!isAlive(pid)) return false;
  if (started === undefined) return true;
  if (process.platform === "linux") {
    const now = await linuxStart(pid);
    return now === undefined || now === started;
  }
  const now = pid === process.pid ? Date.now() - process.uptime() * 1000 : await psStart(pid);
  return now === undefined || Math.abs(now - Number(started)) <= PS_TOLERANCE_MS;
}

/** Ticks since the boot, and which boot that was. */
async function linuxStart(pid: number): Promise<string | undefined> {
  try {
    const [stat, boot] = await Promise.all([
      readFile(`/proc/${pid}/stat`, "utf8"),
      readFile("/proc/sys/kernel/random/boot_id", "utf8"),
    ]);
    // The name of the program stands in brackets, and may have brackets and blanks in it.
    const ticks = stat.slice(stat.lastIndexOf(")") + 2).split(" ")[19];
    return ticks === undefined ? undefined : `${boot.trim()}/${ticks}`;
  } catch {
    return undefined; // gone meanwhile, or /proc is not to be looked into
  }
}

async function psStart(pid: number): Promise<number | undefined> {
  try {
    const run = promisify(execFile);
    const { stdout } = await run("ps", ["-o", "lstart=", "-p", String(pid)], { timeout: PS_MS, env: { LC_ALL: "C" } });
    const at = Date.parse(stdout.trim());
    return Number.isNaN(at) ? undefined : at;
  } catch {
    return undefined; // no ps here
  }
}
