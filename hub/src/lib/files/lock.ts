// A lock file beside the file that is edited, for one writer at a time across processes. Readers need no lock, since files are
// replaced atomically.

import { createHash, randomBytes } from "node:crypto";
import { link, readFile, rm, stat } from "node:fs/promises";
import { setTimeout as delay } from "node:timers/promises";
import { createFileExclusive } from "./atomic.ts";
import { errorCode } from "@plugboard/shared/error-code";
import { HubError } from "../../errors.ts";
import { isRunning, ownIdentity, type ProcessIdentity } from "@plugboard/shared/process-identity";

const WAIT_MS = 2000;
const RETRY_MS = 25;
/** How long a lock that names no process is respected. Locks are created atomically, so it is not incomplete. */
const GRACE_MS = 1000;
/** Removing an abandoned lock takes milliseconds: after this time the remover was killed too. */
const REMOVAL_MS = 5000;

interface LockOptions {
  /** How long to wait for another holder. */
  readonly waitMs?: number;
  /** Ends the wait, with the reason of the signal. */
  readonly signal?: AbortSignal;
}

/** Runs `edit` while holding the lock. Rejects with Locked if the lock is not free in time. */
export async function withLock<T>(
  path: string,
  edit: () => Promise<T>,
  { waitMs = WAIT_MS, signal }: LockOptions = {},
): Promise<T> {
  const lock = lockOf(path);
  const deadline = performance.now() + waitMs;
  const text = JSON.stringify({ ...(await ownIdentity()), nonce: randomBytes(8).toString("hex") });
  while (!(await createFileExclusive(lock, text, { mode: 0o600, durable: false }))) {
    if (await removeAbandonedLock(path)) continue;
    if (performance.now() > deadline) {
      throw new HubError("Locked", `Another process is changing ${path}`, {
        hint: `Try again, or remove ${lock}`,
      });
    }
    await delay(RETRY_MS, undefined, signal === undefined ? {} : { signal });
  }
  try {
    return await edit();
  } finally {
    await rm(lock, { force: true });
  }
}

/** Removes the lock of a killed holder. Returns true if it was removed. */
export async function removeAbandonedLock(path: string): Promise<boolean> {
  const lock = lockOf(path);
  const abandoned = await readAbandoned(lock);
  if (abandoned === undefined) return false;
  // Only the process that creates the claim file may remove the lock. Without it, a second process could remove a lock that a
  // third one took after the first removal.
  const claim = `${lock}.${createHash("sha256").update(abandoned).digest("hex").slice(0, 16)}.stale`;
  try {
    await link(lock, claim);
  } catch (error) {
    if (errorCode(error) === "ENOENT") return true;
    if (errorCode(error) === "EEXIST") await removeAbandonedClaim(claim);
    return false;
  }
  try {
    // Check again: the lock may have changed before the claim.
    if ((await readFile(claim, "utf8")) === abandoned) await rm(lock, { force: true });
    return true;
  } finally {
    await rm(claim, { force: true });
  }
}

/** The path of a lock whose holder was killed. */
export async function findAbandonedLock(path: string): Promise<string | undefined> {
  const lock = lockOf(path);
  return (await readAbandoned(lock)) === undefined ? undefined : lock;
}

function lockOf(path: string): string {
  return `${path}.lock`;
}

/** The text of an abandoned lock; undefined if there is no lock or its holder runs. */
async function readAbandoned(lock: string): Promise<string | undefined> {
  try {
    const [text, info] = await Promise.all([readFile(lock, "utf8"), stat(lock)]);
    const holder = parseHolder(text);
    const isHeld = holder === undefined ? Math.abs(Date.now() - info.mtimeMs) < GRACE_MS : await isRunning(holder);
    return isHeld ? undefined : text;
  } catch {
    return undefined; // released in the meantime, or not readable
  }
}

/** Undefined for any other form: the pid alone may have been reused. */
function parseHolder(text: string): ProcessIdentity | undefined {
  try {
    const parsed: unknown = JSON.parse(text);
    if (typeof parsed !== "object" || parsed === null || !("pid" in parsed) || !("nonce" in parsed)) return undefined;
    const { pid } = parsed;
    if (typeof pid !== "number" || !Number.isInteger(pid) || pid <= 0) return undefined;
    return { pid, started: "started" in parsed && typeof parsed.started === "string" ? parsed.started : undefined };
  } catch {
    return undefined;
  }
}

async function removeAbandonedClaim(claim: string): Promise<void> {
  const info = await stat(claim).catch(() => undefined);
  // Creating a link sets the ctime of its target.
  if (info !== undefined && Date.now() - info.ctimeMs > REMOVAL_MS) await rm(claim, { force: true });
}
