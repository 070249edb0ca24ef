// Identifies processes by id and start time: ids are reused, after a crash and in every container.

import { execFile } from "node:child_process";
import { readFileSync } from "node:fs";
import { readFile } from "node:fs/promises";
import { promisify } from "node:util";
import { errorCode } from "./error-code.ts";

export interface ProcessIdentity {
  readonly pid: number;
  /** The start time in a form of the platform; undefined if unknown. */
  readonly started?: string | undefined;
}

const PS_MS = 2000;
/** `ps` rounds to seconds. */
const PS_TOLERANCE_MS = 3000;

export async function ownIdentity(): Promise<ProcessIdentity> {
  const { pid } = process;
  if (process.platform === "linux") return { pid, started: await linuxStart(pid) };
  return { pid, started: String(Math.round(Date.now() - process.uptime() * 1000)) };
}

/** Whether a process with this id runs, under any user. A zombie does not count. */
export function isAlive(pid: number): boolean {
  try {
    process.kill(pid, 0);
    return !isZombie(pid);
  } catch (error) {
    return errorCode(error) === "EPERM";
  }
}

function isZombie(pid: number): boolean {
  try {
    // "pid (name) state …": the name may contain brackets.
    return /\) Z /.test(readFileSync(`/proc/${pid}/stat`, "latin1"));
  } catch {
    return false; // not Linux
  }
}

/** Whether this very process runs. Without a known start time, any process with the id counts. */
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

/** Clock ticks since boot, with the id of the boot. */
async function linuxStart(pid: number): Promise<string | undefined> {
  try {
    const [stat, boot] = await Promise.all([
      readFile(`/proc/${pid}/stat`, "utf8"),
      readFile("/proc/sys/kernel/random/boot_id", "utf8"),
    ]);
    // The program name is in brackets, and may contain brackets and blanks.
    const ticks = stat.slice(stat.lastIndexOf(")") + 2).split(" ")[19];
    return ticks === undefined ? undefined : `${boot.trim()}/${ticks}`;
  } catch {
    return undefined; // exited in the meantime, or /proc is not readable
  }
}

async function psStart(pid: number): Promise<number | undefined> {
  try {
    const run = promisify(execFile);
    const { stdout } = await run("ps", ["-o", "lstart=", "-p", String(pid)], { timeout: PS_MS, env: { LC_ALL: "C" } });
    const at = Date.parse(stdout.trim());
    return Number.isNaN(at) ? undefined : at;
  } catch {
    return undefined; // ps is not installed
  }
}
