// What a client's file says about this hub: whether it has the hub's entry, for which group, and how many other servers.

import { dirname } from "node:path";
import { exists } from "@plugboard/shared/files/exists";
import type { PlatformContext } from "../config/files/system-folders.ts";
import type { Client } from "./client.ts";
import type { ClientFile } from "./file.ts";
import { readForeign } from "./import/foreign.ts";
import type { ScannedFile } from "./import/scan.ts";
import { isHubEntry } from "./install/detect-hub.ts";

const DEFAULT_GROUP = "default";

export interface HubInFile {
  /** Name of the entry. */
  readonly entry: string;
  readonly group: string;
  readonly transport: "http" | "stdio";
}

/** The hub's entry in a file, and the number of other servers. `address`: of the running hub. */
export function summarize(
  { file, servers }: Pick<ScannedFile, "file" | "servers">,
  address: string | undefined,
): { readonly hub: HubInFile | undefined; readonly others: number } {
  const own = servers.filter(({ entry }) => isHubEntry(entry, file.client, address));
  const [first] = own;
  return {
    hub: first === undefined ? undefined : { entry: first.name, ...launchOf(first.entry, file.client) },
    others: servers.length - own.length,
  };
}

/** Whether the client seems to be installed: its file or its own folder is there. */
export async function isInstalled({ path }: ClientFile, { home }: PlatformContext): Promise<boolean> {
  const folder = dirname(path);
  return (await exists(path)) || (folder !== home && (await exists(folder)));
}

function launchOf(entry: unknown, client: Client): Pick<HubInFile, "group" | "transport"> {
  const { args = [], url } = readForeign(entry, client) ?? {};
  if (url === undefined) {
    const at = args.indexOf("--group");
    return { transport: "stdio", group: (at < 0 ? undefined : args[at + 1]) ?? DEFAULT_GROUP };
  }
  const [, ofGroup, ofMcp] = /\/groups\/([^/]+)\/mcp\/?$|\/mcp\/([^/]+)$/.exec(new URL(url).pathname) ?? [];
  return { transport: "http", group: decodeURIComponent(ofGroup ?? ofMcp ?? DEFAULT_GROUP) };
}
