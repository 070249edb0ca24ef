// Finds and ends what is left of a server: members of its process group, and on Linux helpers outside the group with its tag. Windows
// has no groups and no signals: the tree of the process is ended at once.

import { spawn } from "node:child_process";
import { readFile, readdir } from "node:fs/promises";
import { START_VARIABLE } from "./environment.ts";

/** A machine may have more processes than the hub may open files. */
const AT_ONCE = 16;

/** Sends a signal to every member of a group. False if the group is empty. */
export function signalGroup(pgid: number, signal: NodeJS.Signals | 0, platform = process.platform): boolean {
  try {
    if (platform !== "win32") return process.kill(-pgid, signal);
    process.kill(pgid, 0);
    if (signal !== 0) killTree(pgid);
    return true;
  } catch {
    // ESRCH: the group is empty. EPERM: on macOS a group of zombies; there is nothing to end in either case.
    return false;
  }
}

/** The server was asked to end by the end of its stdin: on Windows no other request reaches a program without a window. */
function killTree(pid: number): void {
  const killer = spawn("taskkill", ["/pid", String(pid), "/T", "/F"], { stdio: "ignore", windowsHide: true });
  // Whether it worked shows when the process exits.
  killer.on("error", () => {});
}

/** Ends helpers that called setsid. Returns how many were found; call it until it returns 0. */
export async function killStarted(start: string): Promise<number> {
  const found = await findProcesses(async (pid) => (await environment(pid)).includes(`${START_VARIABLE}=${start}`));
  for (const pid of found) {
    try {
      process.kill(pid, "SIGKILL");
    } catch {
      // Ended by itself in the meantime.
    }
  }
  return found.length;
}

/** True while a process of the group runs. Zombies do not count: if the hub is PID 1, no process reaps them. */
export async function groupRuns(pgid: number): Promise<boolean> {
  if (!signalGroup(pgid, 0)) return false;
  if (process.platform !== "linux") return true;
  const running = await findProcesses(async (pid) => {
    // pid (name) state ppid pgrp …; the name may contain anything.
    const [state, , group] = (await read(pid, "stat")).replace(/^.*\) /s, "").split(" ");
    return group === String(pgid) && state !== "Z" && state !== "X";
  });
  return running.length > 0;
}

async function findProcesses(matches: (pid: number) => Promise<boolean>): Promise<number[]> {
  if (process.platform !== "linux") return [];
  const pids = (await readdir("/proc")).filter((name) => /^\d+$/.test(name)).map(Number);
  const found: number[] = [];
  for (let at = 0; at < pids.length; at += AT_ONCE) {
    const some = pids.slice(at, at + AT_ONCE);
    const verdicts = await Promise.all(some.map(matches));
    found.push(...some.filter((_pid, index) => verdicts[index]));
  }
  return found;
}

async function environment(pid: number): Promise<string[]> {
  return (await read(pid, "environ")).split("\0");
}

async function read(pid: number, file: string): Promise<string> {
  try {
    return await readFile(`/proc/${pid}/${file}`, "latin1");
  } catch {
    // Ended since the listing, or owned by another user.
    return "";
  }
}
