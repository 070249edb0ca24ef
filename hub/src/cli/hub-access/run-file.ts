// The folders of a hub, and where its run file and its log are.

import { createHash } from "node:crypto";
import { join, resolve } from "node:path";
import { hubPaths, type HubPaths } from "../../config/files/paths.ts";
import type { GlobalOptions, Io } from "../io.ts";

export interface HubFolders extends HubPaths {
  readonly record: string;
  /** Log file of a background hub. */
  readonly log: string;
}

/** The folders that the options select. Each config folder has its own run file. */
export function hubFoldersOf(io: Io, { config }: GlobalOptions): HubFolders {
  const paths = hubPaths(io);
  const folder = resolve(config ?? paths.config);
  const defaultConfig = resolve(hubPaths({ ...io, env: { ...io.env, PLUGBOARD_CONFIG: undefined } }).config);
  const name =
    folder === defaultConfig ? "hub" : `hub-${createHash("sha256").update(folder).digest("hex").slice(0, 8)}`;
  return {
    ...paths,
    config: folder,
    record: join(paths.state, `${name}.json`),
    log: join(paths.state, `${name}.log`),
  };
}
