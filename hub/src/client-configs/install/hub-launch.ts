// The command by which a client launches this hub: full paths of the running Node and program, and the configured folders,
// because GUI programs do not see a shell's environment.

import { resolve } from "node:path";
import { packagePath } from "../../lib/package-path.ts";
import { hubPaths } from "../../config/files/paths.ts";
import type { PlatformContext } from "../../config/files/system-folders.ts";
import type { Client } from "../client.ts";
import type { HubLaunch } from "./hub-entry.ts";

const MAIN = packagePath("bin/plugboard.js");

/** Variables that move the hub's folders. The secret key is left out: it must not be in clients' files. */
const FOLDERS = ["XDG_CONFIG_HOME", "XDG_DATA_HOME", "XDG_STATE_HOME"];

interface HubProgramOptions {
  /** The hub's config folder. */
  readonly config: string;
  readonly group: string | undefined;
  readonly client: Client;
}

/** `path`: the path of the group's endpoint. */
export function hubAddress(url: string, path: string, { searchesTools }: Client): HubLaunch {
  return { url: `${url}${path}${searchesTools === true ? "?tools=all" : ""}` };
}

export function hubProgram(context: PlatformContext, { config, group, client }: HubProgramOptions): HubLaunch {
  const env = foldersOf(context);
  const defaultConfig = resolve(hubPaths({ ...context, env }).config);
  return {
    command: process.execPath,
    args: [
      MAIN,
      "stdio",
      ...(group === undefined ? [] : ["--group", group]),
      ...(client.searchesTools === true ? ["--tools", "all"] : []),
      ...(config === defaultConfig ? [] : ["--config", config]),
    ],
    env,
  };
}

/** npx may delete its cache at any time. */
export const isInNpxCache = /[\\/]_npx[\\/]/.test(MAIN);

function foldersOf({ env }: PlatformContext): Record<string, string> {
  const home = env["PLUGBOARD_HOME"];
  if (home) return { PLUGBOARD_HOME: resolve(home) };
  return Object.fromEntries(FOLDERS.flatMap((name) => (env[name] ? [[name, env[name]]] : [])));
}
