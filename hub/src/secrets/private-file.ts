// Files and folders that only their owner can read, checked each time they are used. What is in them is left to others.

import { chmod, constants, mkdir, open, readdir, rm, stat } from "node:fs/promises";
import type { Stats } from "node:fs";
import { errorCode } from "../atomic.ts";
import { HubError } from "../errors.ts";

const OTHERS = 0o077;

/** Makes a folder of mode 0700 where there is none, whatever the umask. */
export async function makePrivateFolder(path: string): Promise<void> {
  try {
    const made = await mkdir(path, { recursive: true, mode: 0o700 });
    if (made !== undefined) await chmod(path, 0o700);
  } catch (error) {
    throw failed("make", path, error);
  }
}

/** The sorted names in a folder, none where it does not exist; throws where others can look into it. */
export async function listPrivateFolder(path: string): Promise<string[]> {
  try {
    const info = await stat(path);
    if (!info.isDirectory()) throw new HubError("InvalidConfig", `${path} is not a folder`);
    requirePrivate(path, info, "700");
    return (await readdir(path)).toSorted();
  } catch (error) {
    if (error instanceof HubError) throw error;
    if (errorCode(error) === "ENOENT") return [];
    throw failed("read", path, error);
  }
}

/** The text of a file, undefined where there is none; throws where others can read it too. Links are not followed. */
export async function readPrivateFile(path: string): Promise<string | undefined> {
  try {
    // Windows has no O_NOFOLLOW.
    const file = await open(path, constants.O_RDONLY | (constants.O_NOFOLLOW ?? 0));
    try {
      requirePrivate(path, await file.stat(), "600");
      return await file.readFile("utf8");
    } finally {
      await file.close();
    }
  } catch (error) {
    if (error instanceof HubError) throw error;
    if (errorCode(error) === "ENOENT") return undefined;
    throw failed("read", path, error);
  }
}

/** Removes a file, which may be gone already. */
export async function removeFile(path: string): Promise<void> {
  await rm(path, { force: true }).catch((error: unknown) => {
    throw failed("remove", path, error);
  });
}

function requirePrivate(path: string, info: Stats, mode: "600" | "700"): void {
  // Windows keeps such rights elsewhere, and shows every file as readable by all.
  if (process.platform === "win32") return;
  if ((info.mode & OTHERS) !== 0) {
    const message = `${path} is open to other users of this machine`;
    throw new HubError("InvalidConfig", message, { hint: `chmod ${mode} '${path}'` });
  }
  const user = process.getuid?.();
  if (user !== undefined && user !== 0 && info.uid !== user) {
    throw new HubError("InvalidConfig", `${path} belongs to another user`, { hint: `chown ${user} '${path}'` });
  }
}

function failed(verb: "make" | "read" | "remove", path: string, error: unknown): HubError {
  const detail = error instanceof Error ? error.message : String(error);
  return new HubError("IoError", `Cannot ${verb} ${path}`, { detail, cause: error });
}
