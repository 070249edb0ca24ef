// What killed writers left in the hub's own folders, removed at the start. The config folder is seen to by whoever reads it.

import { join } from "node:path";
import { removeStaleTemps } from "./atomic.ts";
import type { HubPaths } from "./config/paths.ts";

type Folders = Pick<HubPaths, "data" | "state" | "cache">;

/** Every folder of the hub that files are replaced in. */
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

/** A folder that cannot be cleaned keeps nothing from starting. */
export async function sweepTemps(folders: Folders): Promise<void> {
  await Promise.all(foldersWithTemps(folders).map((folder) => removeStaleTemps(folder).catch(() => undefined)));
}
