// The hub's folders on each platform. A pure function: creates no folder and reads no environment.

import { posix, win32 } from "node:path";
import { localFolder, roamingFolder, supportFolder, xdgFolder, type PlatformContext } from "./system-folders.ts";

export interface HubPaths {
  /** mcp_server.json and group.json. */
  readonly config: string;
  /** Secrets, database, chat. */
  readonly data: string;
  /** Logs, process ledger. */
  readonly state: string;
  readonly cache: string;
}

/**
 * The hub's four folders. `PLUGBOARD_HOME` puts them all in one, `PLUGBOARD_CONFIG` moves the config alone.
 *
 * @example hubPaths({ env: process.env, platform: process.platform, home: homedir() }).config
 */
export function hubPaths({ env, platform, home }: PlatformContext): HubPaths {
  const path = platform === "win32" ? win32 : posix;
  // Empty counts as unset, as in the XDG specification.
  const all = env["PLUGBOARD_HOME"] || undefined;
  if (all !== undefined) {
    return {
      config: path.join(all, "config"),
      data: path.join(all, "data"),
      state: path.join(all, "state"),
      cache: path.join(all, "cache"),
    };
  }
  const folders = systemPaths({ env, platform, home });
  const config = env["PLUGBOARD_CONFIG"] || undefined;
  return config === undefined ? folders : { ...folders, config };
}

function systemPaths(context: PlatformContext): HubPaths {
  const { platform, home } = context;
  if (platform === "win32") {
    const local = win32.join(localFolder(context), "plugboard");
    return {
      config: win32.join(roamingFolder(context), "plugboard"),
      data: win32.join(local, "Data"),
      state: win32.join(local, "Log"),
      cache: win32.join(local, "Cache"),
    };
  }
  if (platform === "darwin") {
    const library = posix.join(home, "Library");
    const config = posix.join(supportFolder(context), "plugboard");
    return {
      config,
      data: posix.join(config, "data"),
      state: posix.join(library, "Logs", "plugboard"),
      cache: posix.join(library, "Caches", "plugboard"),
    };
  }
  const xdg = (variable: string, defaultFolder: string) =>
    posix.join(xdgFolder(context, variable, defaultFolder), "plugboard");
  return {
    config: xdg("XDG_CONFIG_HOME", ".config"),
    data: xdg("XDG_DATA_HOME", ".local/share"),
    state: xdg("XDG_STATE_HOME", ".local/state"),
    cache: xdg("XDG_CACHE_HOME", ".cache"),
  };
}
