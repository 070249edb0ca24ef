// One writer at a time, also across processes: a lock file beside the file that is edited. Readers need none of it,
// since a file is replaced as a whole.

import { createHash, randomBytes } from "node:crypto";
import { link, readFile, rm, stat } from "node:fs/promises";
import { setTimeout as delay } from "node:timers/promises";
import { createFileExclusive, errorCode } from "./atomic.ts";
import { HubError } from "./errors.ts";
import { isRunning, ownIdentity, type ProcessIdentity } from "./process-identity.ts";

const PATIENCE_MS = 2000;
const RETRY_MS = 25;
/** A lock appears whole, so one that names no process, or that an earlier version wrote, is believed this long only. */
const GRACE_MS = 1000;
/** Removing an abandoned lock takes milliseconds: who has not done it after this was killed too. */
const REMOVAL_MS = 5000;

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
  const text = JSON.stringify({ ...(await ownIdentity()), nonce: randomBytes(8).toString("hex") });
  while (!(await createFileExclusive(lock, text, { mode: 0o600, durable: false }))) {
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

/** Removes the lock of a holder that was killed. True where it is gone. */
export async function removeAbandonedLock(path: string): Promise<boolean> {
  const lock = lockOf(path);
  const abandoned = await readAbandoned(lock);
  if (abandoned === undefined) return false;
  // By a name of its own for each abandoned lock, one of all who found it is let to remove it: without that, the second
  // would remove the lock that a third took after the first.
  const claim = `${lock}.${createHash("sha256").update(abandoned).digest("hex").slice(0, 16)}.stale`;
  try {
    await link(lock, claim);
  } catch (error) {
    if (errorCode(error) === "ENOENT") return true;
    if (errorCode(error) === "EEXIST") await removeAbandonedClaim(claim);
    return false;
  }
  try {
    // The lock may have been another one by the time of the claim.
    if ((await readFile(claim, "utf8")) === abandoned) await rm(lock, { force: true });
    return true;
  } finally {
    await rm(claim, { force: true });
  }
}

/** The lock file of a holder that was killed. */
export async function findAbandonedLock(path: string): Promise<string | undefined> {
  const lock = lockOf(path);
  return (await readAbandoned(lock)) === undefined ? undefined : lock;
}

function lockOf(path: string): string {
  return `${path}.lock`;
}

/** What an abandoned lock says; undefined where there is none, or its holder lives. */
async function readAbandoned(lock: string): Promise<string | undefined> {
  try {
    const [text, info] = await Promise.all([readFile(lock, "utf8"), stat(lock)]);
    const holder = parseHolder(text);
    const isHeld = holder === undefined ? Math.abs(Date.now() - info.mtimeMs) < GRACE_MS : await isRunning(holder);
    return isHeld ? undefined : text;
  } catch {
    return undefined; // released meanwhile, or not ours to look into
  }
}

/** Undefined for a lock that is not of this form: any process may have its id by now. */
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
  // A link changes the times of what it links to.
  if (info !== undefined && Date.now() - info.ctimeMs > REMOVAL_MS) await rm(claim, { force: true });
}
