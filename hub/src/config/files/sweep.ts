// Removes temp files of killed writers from the hub's folders at start. config-files.ts cleans the config folder.

import { join } from "node:path";
import { removeStaleTemps } from "@plugboard/shared/files/atomic";
import type { HubPaths } from "./paths.ts";

type Folders = Pick<HubPaths, "data" | "state" | "cache">;

/** All folders in which the hub replaces files atomically. */
export function foldersWithTemps({ data, state, cache }: Folders): string[] {
  return [
    data,
    join(data, "secrets"),
    join(data, "listings"),
    join(data, "packages", "specs"),
    join(data, "sessions"),
    state,
    cache,
  ];
}

/** Ignores errors, so that they do not prevent a start. */
export async function sweepTemps(folders: Folders): Promise<void> {
  await Promise.all(foldersWithTemps(folders).map((folder) => removeStaleTemps(folder).catch(() => undefined)));
}
