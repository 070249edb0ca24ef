// The command by which a client launches this hub: full paths of the running Node and program, and the configured folders,
// because GUI programs do not see a shell's environment.

import { resolve } from "node:path";
import { packagePath } from "../../lib/package-path.ts";
import { hubPaths } from "../../config/files/paths.ts";
import type { PlatformContext } from "../../config/files/system-folders.ts";
import type { HubLaunch } from "./hub-entry.ts";

const MAIN = packagePath("bin/plugboard.js");

/** Variables that move the hub's folders. The secret key is left out: it must not be in clients' files. */
const FOLDERS = ["XDG_CONFIG_HOME", "XDG_DATA_HOME", "XDG_STATE_HOME"];

/** `config`: the hub's config folder. */
export function hubProgram(context: PlatformContext, config: string, group: string | undefined): HubLaunch {
  const env = foldersOf(context);
  const defaultConfig = resolve(hubPaths({ ...context, env }).config);
  return {
    command: process.execPath,
    args: [
      MAIN,
      "stdio",
      ...(group === undefined ? [] : ["--group", group]),
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
