// Moves a database that cannot be used out of the way, with all its files, under a name that says why. Only the last few
// of them are kept.

import { access, readdir, rename, rm } from "node:fs/promises";
import { basename, dirname, join } from "node:path";
import { errorCode } from "../atomic.ts";

export type AsideReason = "damaged" | "foreign" | "newer";

const KEPT = 3;
const SIDES = ["", "-wal", "-shm"];
const REASONS: Record<AsideReason, { readonly suffix: string; readonly text: string }> = {
  damaged: { suffix: "corrupt", text: "is damaged" },
  foreign: { suffix: "corrupt", text: "is not one of this program" },
  newer: { suffix: "newer", text: "was written by a newer version of this program" },
};

/** Returns the sentence that tells people about it. */
export async function setAside(path: string, reason: AsideReason): Promise<string> {
  const { suffix, text } = REASONS[reason];
  const aside = await freeName(`${path}.${suffix}-${new Date().toISOString().replaceAll(/[-:.]/g, "")}`);
  for (const side of SIDES) {
    await rename(path + side, aside + side).catch((error: unknown) => {
      if (errorCode(error) !== "ENOENT") throw error;
    });
  }
  await removeOldest(path, suffix);
  return `The database ${path} ${text}: it was set aside as ${basename(aside)}, and a new one was started`;
}

async function freeName(wanted: string): Promise<string> {
  for (let count = 1; ; count++) {
    const name = count === 1 ? wanted : `${wanted}-${count}`;
    const isTaken = await access(name).then(
      () => true,
      () => false,
    );
    if (!isTaken) return name;
  }
}

async function removeOldest(path: string, suffix: string): Promise<void> {
  const folder = dirname(path);
  const prefix = `${basename(path)}.${suffix}-`;
  const names = (await readdir(folder)).filter((name) => name.startsWith(prefix) && !/-(?:wal|shm)$/.test(name));
  for (const name of names.toSorted().slice(0, -KEPT)) {
    for (const side of SIDES) await rm(join(folder, name + side), { force: true });
  }
}
