// Moves the chats of the system's data folder into PLUGBOARD_HOME when that is set for the first time.

import { cp, mkdir, rename, rm, rmdir } from "node:fs/promises";
import { dirname, relative, isAbsolute } from "node:path";
import { errorCode } from "@plugboard/shared/error-code";
import { exists } from "@plugboard/shared/files/exists";
import { connect, isBusy } from "@plugboard/shared/sqlite/driver";

export interface Move {
  readonly from: string;
  readonly to: string;
  /** The database in `from`. */
  readonly database: string;
  readonly env: Readonly<Record<string, string | undefined>>;
}

/** Why the chats stay where they are. */
export type MoveRefusal = "temporary" | "in use";

/** Moves the folder as a whole: an interrupted move leaves it complete in one of the two places. */
export async function moveHome({ from, to, database, env }: Move): Promise<MoveRefusal | undefined> {
  // A home for a single try must not take the user's chats along and be deleted with them.
  if (isWithin(to, env["TMPDIR"] || env["TEMP"] || "/tmp")) return "temporary";
  if (await isOpenElsewhere(database)) return "in use";
  await mkdir(dirname(to), { recursive: true, mode: 0o700 });
  await rmdir(to).catch(ignore("ENOENT", "ENOTEMPTY", "EEXIST"));
  try {
    await rename(from, to);
  } catch (error) {
    if (errorCode(error) === "EXDEV") await moveAcrossDisks(from, to);
    // Another process has moved it at the same time.
    else if (errorCode(error) !== "ENOENT") throw error;
  }
  return undefined;
}

async function moveAcrossDisks(from: string, to: string): Promise<void> {
  const copy = `${to}.${process.pid}.tmp`;
  await cp(from, copy, { recursive: true, preserveTimestamps: true });
  await rename(copy, to);
  await rm(from, { recursive: true });
}

/** SQLite leaves WAL mode only if no other connection exists. That also writes everything into the one file. */
async function isOpenElsewhere(database: string): Promise<boolean> {
  if (!(await exists(database))) return false;
  const db = await connect(database);
  try {
    db.exec("PRAGMA busy_timeout = 0; PRAGMA journal_mode = DELETE");
    return false;
  } catch (error) {
    if (isBusy(error)) return true;
    throw error;
  } finally {
    await db.close();
  }
}

function isWithin(path: string, folder: string): boolean {
  const way = relative(folder, path);
  return !way.startsWith("..") && !isAbsolute(way);
}

function ignore(...codes: string[]): (error: unknown) => void {
  return (error) => {
    if (!codes.includes(errorCode(error) ?? "")) throw error;
  };
}
