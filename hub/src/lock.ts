// One writer at a time, also across processes: a lock file beside the file that is edited. Readers need none of it,
// since a file is replaced as a whole.

import { readFile, rm } from "node:fs/promises";
import { setTimeout as delay } from "node:timers/promises";
import { createFileExclusive } from "./atomic.ts";
import { HubError } from "./errors.ts";

const PATIENCE_MS = 2000;
const RETRY_MS = 25;

interface LockOptions {
  /** How long to wait for another holder. 0: not at all. */
  readonly patienceMs?: number;
  /** Ends the wait for another holder, with the signal's reason. */
  readonly signal?: AbortSignal;
}

/** Runs `edit` while no other hub or command edits the same file. Who waits too long gets StaleConfig. */
export async function withLock<T>(
  path: string,
  edit: () => Promise<T>,
  { patienceMs = PATIENCE_MS, signal }: LockOptions = {},
): Promise<T> {
  const lock = lockOf(path);
  const deadline = performance.now() + patienceMs;
  while (!(await createFileExclusive(lock, String(process.pid), { mode: 0o600, durable: false }))) {
    if (await removeAbandonedLock(path)) continue;
    if (performance.now() > deadline) {
      throw new HubError("StaleConfig", `Somebody else is changing ${path}`, { hint: `Try again, or remove ${lock}` });
    }
    await delay(RETRY_MS, undefined, signal === undefined ? {} : { signal });
  }
  try {
    return await edit();
  } finally {
    await rm(lock, { force: true });
  }
}

/** Removes the lock of a holder that was killed. True where there was one. */
export async function removeAbandonedLock(path: string): Promise<boolean> {
  const lock = await findAbandonedLock(path);
  if (lock !== undefined) await rm(lock, { force: true });
  return lock !== undefined;
}

/** The lock file of a holder that was killed. */
export async function findAbandonedLock(path: string): Promise<string | undefined> {
  const lock = lockOf(path);
  return (await isAbandoned(lock)) ? lock : undefined;
}

function lockOf(path: string): string {
  return `${path}.lock`;
}

async function isAbandoned(lock: string): Promise<boolean> {
  const pid = Number(await readFile(lock, "utf8").catch(() => ""));
  if (!Number.isInteger(pid) || pid <= 0) return false;
  try {
    process.kill(pid, 0);
    return false;
  } catch (error) {
    return error instanceof Error && "code" in error && error.code === "ESRCH";
  }
}
