// Atomic file writes: after a crash at any moment a file has either its old or its new text.

import { randomBytes } from "node:crypto";
import { constants, link, lstat, mkdir, open, readdir, readlink, realpath, rename, rm } from "node:fs/promises";
import { basename, dirname, join, resolve } from "node:path";
import { errorCode } from "../error-code.ts";
import { isAlive } from "../process-identity.ts";

const MAX_LINKS = 40;
/** Age at which a temporary file is stale even if its pid is in use (another container, a reused pid). */
const TEMP_MAX_AGE_MS = 3_600_000;
const CLOCK_SLACK_MS = 2000;
const TEMP_NAME = /^\..+\.(\d+)\.[0-9a-f]{16}\.tmp$/;

export interface WriteOptions {
  /** The exact permission bits, independent of the umask. */
  readonly mode: number;
  /** False: need not survive a power failure (a lock). */
  readonly durable?: boolean;
}

/**
 * Replaces the text of a file. Resolves when it is on disk.
 *
 * @example await writeFileAtomic("/home/me/.config/plugboard/group.json", "{}\n", { mode: 0o600 });
 */
export async function writeFileAtomic(path: string, text: string, options: WriteOptions): Promise<void> {
  const target = await resolveLinks(path);
  await withTemp(target, { text, ...options }, (temp) => rename(temp, target));
}

/** Creates a file; returns false if it exists. Readers never see a partial file. */
export async function createFileExclusive(path: string, text: string, options: WriteOptions): Promise<boolean> {
  let isTaken = false;
  // link() fails if the name is taken, unlike rename(); unlike O_EXCL on the final name it shows only the complete file.
  await withTemp(path, { text, ...options }, (temp) =>
    link(temp, path).catch((error: unknown) => {
      if (errorCode(error) !== "EEXIST") throw error;
      isTaken = true;
    }),
  );
  return !isTaken;
}

/** Removes temporary files of killed writers. Gives their paths. */
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

/** The target of symbolic links, which may not exist yet: a rename must not replace the link of a dotfile. */
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
    // A link without a target.
    current = resolve(dirname(current), await readlink(current));
  }
  throw new Error(`Too many symbolic links at ${path}`);
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
    // Renamed already, or a second link to the file, or incomplete after a failure.
    await rm(temp, { force: true });
  }
  if (durable) await syncFolder(folder);
}

/** A new name is only durable once its folder is synced. */
async function syncFolder(folder: string): Promise<void> {
  if (process.platform === "win32") return;
  const handle = await open(folder, constants.O_RDONLY);
  try {
    await handle.sync();
  } finally {
    await handle.close();
  }
}

/** A file with our pid from before our start is of another process: in a container the pid is always the same. */
async function isOld(path: string, pid: number): Promise<boolean> {
  const info = await lstat(path).catch(() => undefined);
  const maxAgeMs = pid === process.pid ? process.uptime() * 1000 + CLOCK_SLACK_MS : TEMP_MAX_AGE_MS;
  return info === undefined || Date.now() - info.mtimeMs > maxAgeMs;
}
