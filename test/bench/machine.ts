// The machine: its cores, and how they are assigned.

import { execFileSync, spawnSync } from "node:child_process";
import { availableParallelism, cpus } from "node:os";
import { setTimeout as sleep } from "node:timers/promises";
import { ROOT } from "./places.ts";

export interface Machine {
  readonly cores: number;
  readonly cpu: string;
  readonly node: string;
  readonly pinned: boolean;
  /** The commit, and whether the working tree has changes. */
  readonly commit: string;
}

const TARGET_CORE = "0";
const OTHER_CORE = "1";

/** Which process runs on which core. The target has its own core, so that other processes do not delay it. */
export interface Pinning {
  readonly target: readonly string[];
  readonly others: readonly string[];
}

export const UNPINNED: Pinning = { target: [], others: [] };

/** Pins this process, the load generator, to the second core; its children inherit that by default. */
export function pin(): Pinning {
  const works = (...args: string[]) => spawnSync("taskset", args, { stdio: "ignore" }).status === 0;
  if (availableParallelism() < 2 || !works("-c", OTHER_CORE, "true")) return UNPINNED;
  if (!works("-acp", OTHER_CORE, String(process.pid))) return UNPINNED;
  return { target: ["taskset", "-c", TARGET_CORE], others: ["taskset", "-c", OTHER_CORE] };
}

/** The share of all cores in use, sampled for a moment. */
export async function sampleBusy(ms: number): Promise<number> {
  const before = jiffies();
  await sleep(ms);
  const after = jiffies();
  const total = after.total - before.total;
  return total === 0 ? 0 : 1 - (after.idle - before.idle) / total;
}

function jiffies(): { idle: number; total: number } {
  const times = cpus().map((cpu) => cpu.times);
  const sum = (pick: (time: (typeof times)[number]) => number) => times.reduce((all, time) => all + pick(time), 0);
  return {
    idle: sum((time) => time.idle),
    total: sum((time) => time.user + time.nice + time.sys + time.irq + time.idle),
  };
}

/** Must be called before `pin`, which leaves this process one core. */
export function describeMachine(): Omit<Machine, "pinned"> {
  return {
    cores: availableParallelism(),
    cpu: cpus()[0]?.model.trim() ?? "unknown",
    node: process.version,
    commit: commit(),
  };
}

function commit(): string {
  try {
    const git = (...args: string[]) => execFileSync("git", args, { cwd: ROOT, encoding: "utf8" }).trim();
    const changed = git("status", "--porcelain", "--untracked-files=no", "--", "hub") === "" ? "" : " with changes";
    return `${git("rev-parse", "--short=10", "HEAD")}${changed}`;
  } catch {
    return "unknown"; // no git, or no repository
  }
}
