// Where the hub keeps its files, per system. A pure function: it makes no folder and reads no environment of its own.

import { posix, win32 } from "node:path";
import { localFolder, roamingFolder, supportFolder, xdgFolder, type Surroundings } from "./system-folders.ts";

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
export function hubPaths({ env, platform, home }: Surroundings): HubPaths {
  const path = platform === "win32" ? win32 : posix;
  // Empty counts as unset, as the XDG specification has it.
  const all = env["PLUGBOARD_HOME"] || undefined;
  if (all !== undefined) {
    return {
      config: path.join(all, "config"),
      data: path.join(all, "data"),
      state: path.join(all, "state"),
      cache: path.join(all, "cache"),
    };
  }
  const places = systemPaths({ env, platform, home });
  const config = env["PLUGBOARD_CONFIG"] || undefined;
  return config === undefined ? places : { ...places, config };
}

function systemPaths(place: Surroundings): HubPaths {
  const { platform, home } = place;
  if (platform === "win32") {
    const local = win32.join(localFolder(place), "plugboard");
    return {
      config: win32.join(roamingFolder(place), "plugboard"),
      data: win32.join(local, "Data"),
      state: win32.join(local, "Log"),
      cache: win32.join(local, "Cache"),
    };
  }
  if (platform === "darwin") {
    const library = posix.join(home, "Library");
    const config = posix.join(supportFolder(place), "plugboard");
    return {
      config,
      data: posix.join(config, "data"),
      state: posix.join(library, "Logs", "plugboard"),
      cache: posix.join(library, "Caches", "plugboard"),
    };
  }
  const xdg = (variable: string, usual: string) => posix.join(xdgFolder(place, variable, usual), "plugboard");
  return {
    config: xdg("XDG_CONFIG_HOME", ".config"),
    data: xdg("XDG_DATA_HOME", ".local/share"),
    state: xdg("XDG_STATE_HOME", ".local/state"),
    cache: xdg("XDG_CACHE_HOME", ".cache"),
  };
}
