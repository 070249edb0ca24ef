// Renames a database that cannot be used, with its side files, to a name with the reason and the date. Only the last three of
// each reason are kept.

import { readdir, rename, rm } from "node:fs/promises";
import { basename, dirname, join } from "node:path";
import { errorCode } from "@plugboard/shared/error-code";
import { exists } from "@plugboard/shared/files/exists";
import type { Unusability } from "@plugboard/shared/sqlite/open";

const KEPT = 3;
const SIDES = ["", "-wal", "-shm"];
export const ASIDE_REASONS: Record<Unusability, { readonly suffix: string; readonly text: string }> = {
  damaged: { suffix: "corrupt", text: "is damaged" },
  foreign: { suffix: "corrupt", text: "belongs to another program" },
  newer: { suffix: "newer", text: "was written by a newer version of this program" },
  older: {
    suffix: "old",
    text: "was written by an older version of this program, in a format that is no longer supported",
  },
};

/** Returns a sentence for users. */
export async function setAside(path: string, reason: Unusability): Promise<string> {
  const { suffix, text } = ASIDE_REASONS[reason];
  const aside = await freeName(`${path}.${suffix}-${new Date().toISOString().replaceAll(/[-:.]/g, "")}`);
  for (const side of SIDES) {
    await rename(path + side, aside + side).catch((error: unknown) => {
      if (errorCode(error) !== "ENOENT") throw error;
    });
  }
  await removeOldest(path, suffix);
  return `The database ${path} ${text}: it was renamed to ${basename(aside)}, and a new one was started`;
}

async function freeName(wanted: string): Promise<string> {
  let name = wanted;
  for (let count = 2; await exists(name); count++) name = `${wanted}-${count}`;
  return name;
}

async function removeOldest(path: string, suffix: string): Promise<void> {
  const folder = dirname(path);
  const prefix = `${basename(path)}.${suffix}-`;
  const names = (await readdir(folder)).filter((name) => name.startsWith(prefix) && !/-(?:wal|shm)$/.test(name));
  for (const name of names.toSorted().slice(0, -KEPT)) {
    for (const side of SIDES) await rm(join(folder, name + side), { force: true });
  }
}
