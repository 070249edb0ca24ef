// How a client reaches this very hub, wherever the client is started from: the Node and the program that run now, by their
// full paths, and the folders that they were told of. Programs with windows see nothing of a shell's environment.

import { resolve } from "node:path";
import { fileURLToPath } from "node:url";
import type { OwnServer } from "../clients/own-entry.ts";
import { hubPaths } from "../config/paths.ts";
import type { GlobalOptions, Io } from "./io.ts";
import { placesOf } from "./record.ts";
import { groupPath } from "../group-path.ts";

const MAIN = fileURLToPath(new URL("../../bin/plugboard.js", import.meta.url));

/** What moves the hub's folders. A key of secrets is no matter of clients' files. */
const FOLDERS = ["XDG_CONFIG_HOME", "XDG_DATA_HOME", "XDG_STATE_HOME"];

export function ownProgram(io: Io, options: GlobalOptions, group: string | undefined): OwnServer {
  const env = foldersOf(io);
  const usual = resolve(hubPaths({ ...io, env }).config);
  const { config } = placesOf(io, options);
  return {
    command: process.execPath,
    args: [
      MAIN,
      "stdio",
      ...(group === undefined ? [] : ["--group", group]),
      ...(config === usual ? [] : ["--config", config]),
    ],
    env,
  };
}

export function ownAddress(url: string, group: string | undefined): OwnServer {
  return { url: group === undefined ? `${url}/mcp` : `${url}${groupPath(group)}` };
}

/** npx removes what it has fetched when it likes. */
export const isFleeting = /[\\/]_npx[\\/]/.test(MAIN);

function foldersOf({ env }: Io): Record<string, string> {
  const home = env["PLUGBOARD_HOME"];
  if (home) return { PLUGBOARD_HOME: resolve(home) };
  return Object.fromEntries(FOLDERS.flatMap((name) => (env[name] ? [[name, env[name]]] : [])));
}
