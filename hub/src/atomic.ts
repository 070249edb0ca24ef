// Files that are either the old text or the new one, whatever instant the process dies at. What the text means, and who
// may write it, is left to the callers.

import { randomBytes } from "node:crypto";
import { constants, link, lstat, mkdir, open, readdir, readlink, realpath, rename, rm } from "node:fs/promises";
import { basename, dirname, join, resolve } from "node:path";
import { HubError } from "./errors.ts";

const MAX_LINKS = 40;
/** A temp of a process that we cannot see (another container, a reused pid) is stale after this long. */
const TEMP_MAX_AGE_MS = 3_600_000;
const CLOCK_SLACK_MS = 2000;
const TEMP_NAME = /^\..+\.(\d+)\.[0-9a-f]{16}\.tmp$/;

interface WriteOptions {
  /** Exactly these permission bits, whatever the umask. */
  readonly mode: number;
  /** False: it need not survive a power failure (a lock). */
  readonly durable?: boolean;
}

/**
 * Replaces a file's text as a whole, and returns when it is on the disk.
 *
 * @example await writeFileAtomic("/home/me/.config/plugboard/group.json", "{}\n", { mode: 0o600 });
 */
export async function writeFileAtomic(path: string, text: string, { mode }: WriteOptions): Promise<void> {
  await translated(path, async () => {
    const target = await resolveLinks(path);
    await withTemp(target, { text, mode }, (temp) => rename(temp, target));
  });
}

/** Makes a file that is not there yet; false, and nothing touched, where it is. A reader never sees half of it. */
export async function createFileExclusive(path: string, text: string, options: WriteOptions): Promise<boolean> {
  return translated(path, async () => {
    try {
      // A link, unlike a rename, fails when the name is taken; unlike O_EXCL on the name itself, it shows the file whole.
      await withTemp(path, { text, ...options }, (temp) => link(temp, path));
      return true;
    } catch (error) {
      if (errorCode(error) === "EEXIST") return false;
      throw error;
    }
  });
}

/** Removes what killed writers left in a folder; leaves the temps of living ones alone. Returns what it removed. */
export async function removeStaleTemps(folder: string): Promise<string[]> {
  const stale = await findStaleTemps(folder);
  for (const path of stale) await rm(path, { force: true });
  return stale;
}

export async function findStaleTemps(folder: string): Promise<string[]> {
  const names = await readdir(folder).catch((): string[] => []);
  const stale: string[] = [];
  for (const name of names) {
    const pid = TEMP_NAME.exec(name)?.[1];
    if (pid === undefined) continue;
    const path = join(folder, name);
    if (isAlive(Number(pid)) && !(await isOld(path, Number(pid)))) continue;
    stale.push(path);
  }
  return stale;
}

/** The file that a path means: people link their dotfiles, and a rename must not replace the link. */
export async function resolveLinks(path: string): Promise<string> {
  let current = resolve(path);
  for (let links = 0; links < MAX_LINKS; links++) {
    try {
      return await realpath(current);
    } catch (error) {
      if (errorCode(error) !== "ENOENT") throw error;
    }
    const info = await lstat(current).catch(() => undefined);
    if (info === undefined) return current;
    // The link stands, its file does not yet: go where it points.
    current = resolve(dirname(current), await readlink(current));
  }
  throw new Error(`Too many symbolic links at ${path}`);
}

/** The code of a failed system call: `ENOENT`. */
export function errorCode(error: unknown): string | undefined {
  return error instanceof Error && "code" in error && typeof error.code === "string" ? error.code : undefined;
}

async function withTemp(
  target: string,
  { text, mode, durable = true }: WriteOptions & { text: string },
  publish: (temp: string) => Promise<void>,
): Promise<void> {
  const folder = dirname(target);
  await mkdir(folder, { recursive: true, mode: 0o700 });
  const temp = join(folder, `.${basename(target)}.${process.pid}.${randomBytes(8).toString("hex")}.tmp`);
  try {
    const { O_WRONLY, O_CREAT, O_EXCL, O_NOFOLLOW } = constants;
    // Windows has no O_NOFOLLOW; O_EXCL alone refuses a planted link there.
    const file = await open(temp, O_WRONLY | O_CREAT | O_EXCL | (O_NOFOLLOW ?? 0), mode);
    try {
      await file.chmod(mode);
      await file.writeFile(text);
      if (durable) await file.sync();
    } finally {
      await file.close();
    }
    await publish(temp);
  } finally {
    // Gone already after a rename; the other name of the file after a link; half a file after a failure.
    await rm(temp, { force: true });
  }
  if (durable) await syncFolder(folder);
}

/** The new name is part of the folder, and is lost with it unless the folder reaches the disk too. */
async function syncFolder(folder: string): Promise<void> {
  if (process.platform === "win32") return;
  const handle = await open(folder, constants.O_RDONLY);
  try {
    await handle.sync();
  } finally {
    await handle.close();
  }
}

/** Whether a process is there, whoever it belongs to. */
export function isAlive(pid: number): boolean {
  try {
    process.kill(pid, 0);
    return true;
  } catch (error) {
    return errorCode(error) === "EPERM";
  }
}

/** One of our own id from before our start is another's: in a container the hub has the same id every time. */
async function isOld(path: string, pid: number): Promise<boolean> {
  const info = await lstat(path).catch(() => undefined);
  const maxAgeMs = pid === process.pid ? process.uptime() * 1000 + CLOCK_SLACK_MS : TEMP_MAX_AGE_MS;
  return info === undefined || Date.now() - info.mtimeMs > maxAgeMs;
}

async function translated<T>(path: string, write: () => Promise<T>): Promise<T> {
  try {
    return await write();
  } catch (error) {
    throw cannotWrite(path, error);
  }
}

/** That the disk is full is nobody's network, and is over when somebody makes room. */
function cannotWrite(path: string, error: unknown): HubError {
  const detail = error instanceof Error ? error.message : String(error);
  const code = errorCode(error);
  if (code !== "ENOSPC" && code !== "EDQUOT") {
    return new HubError("IoError", `Cannot write ${path}`, { detail, cause: error });
  }
  const full = code === "ENOSPC" ? "The disk is full" : "The disk quota is used up";
  return new HubError("DiskFull", `${full}: nothing can be written to ${dirname(path)}`, {
    detail,
    hint: "Make room there and try again; nothing was changed",
    cause: error,
  });
}
