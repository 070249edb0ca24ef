// Files and folders that only their owner can read; the permissions are checked at every use.

import { chmod, constants, mkdir, open, readdir, rm, stat } from "node:fs/promises";
import type { Stats } from "node:fs";
import { errorCode } from "@plugboard/shared/error-code";
import { HubError } from "../../errors.ts";

const OTHERS = 0o077;

/** Creates a folder with mode 0700, independent of the umask, unless it exists. */
export async function makePrivateFolder(path: string): Promise<void> {
  try {
    const made = await mkdir(path, { recursive: true, mode: 0o700 });
    if (made !== undefined) await chmod(path, 0o700);
  } catch (error) {
    throw failed("make", path, error);
  }
}

/** The sorted names in a folder; empty if it does not exist. Throws if other users can read it. */
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

/** The text of a file; undefined if it does not exist. Throws if other users can read it. Does not follow links. */
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

/** Removes a file if it exists. */
export async function removeFile(path: string): Promise<void> {
  await rm(path, { force: true }).catch((error: unknown) => {
    throw failed("remove", path, error);
  });
}

function requirePrivate(path: string, info: Stats, mode: "600" | "700"): void {
  // Windows has ACLs, and reports every file as readable by all.
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
