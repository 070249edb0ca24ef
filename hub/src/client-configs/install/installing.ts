// What an install into a client needs to know before it changes the file: which file, whether the client can connect that way, and
// which of its own servers the hub has too.

import { dirname } from "node:path";
import { exists } from "@plugboard/shared/files/exists";
import type { PlatformContext } from "../../config/files/system-folders.ts";
import { HubError } from "../../errors.ts";
import { clientsWithFewerTools } from "../client-table.ts";
import type { Client } from "../client.ts";
import { mainFile, projectFile } from "../config-paths.ts";
import type { ClientFile } from "../file.ts";
import type { KnownServer } from "../import/plan.ts";
import { isInNpxCache } from "./hub-launch.ts";

/** The client's own file, or that of a project folder. */
export async function targetFile(
  client: Client,
  context: PlatformContext,
  folder: string | undefined,
): Promise<ClientFile> {
  const file = folder === undefined ? await mainFile(client, context) : projectFile(client, folder);
  if (file !== undefined) return file;
  throw new HubError("InvalidArgument", `${client.name} has no project config file`, {
    field: "project",
    hint: `plugboard install ${client.id}, without --project`,
  });
}

export function requireHttp(client: Client): void {
  if (client.http) return;
  throw new HubError("InvalidArgument", `${client.name} does not support HTTP servers`, {
    field: "http",
    hint: `plugboard install ${client.id}, without --http`,
  });
}

/** Names of the file's own servers that the hub has too. */
export function duplicatesIn(known: readonly KnownServer[], { path, workspace }: ClientFile): string[] {
  return known.flatMap(({ from }) => (from.file.path === path && from.file.workspace === workspace ? [from.name] : []));
}

export interface InstallFacts {
  readonly isHttp: boolean;
  /** Tools of the group; undefined if they are not known. */
  readonly tools: number | undefined;
  readonly isSearched: boolean;
}

/** About the hub itself: the same for every client. */
export function hubWarnings({ env }: PlatformContext, { isHttp }: Pick<InstallFacts, "isHttp">): string[] {
  const hasKey = Boolean(env["PLUGBOARD_SECRET_KEY"] || env["PLUGBOARD_SECRET_KEY_FILE"]);
  return [
    ...(isInNpxCache ? ["plugboard runs from npx's cache, which npx may clear: npm install --global plugboard"] : []),
    ...(hasKey && !isHttp
      ? ["clients do not see PLUGBOARD_SECRET_KEY: keep a hub running (plugboard start) if servers use stored secrets"]
      : []),
  ];
}

export async function clientWarnings(
  file: ClientFile,
  { tools, isSearched }: Omit<InstallFacts, "isHttp">,
): Promise<string[]> {
  const { client } = file;
  const isInstalled = file.scope !== "user" || (await exists(dirname(file.path)));
  const isTooMany =
    tools !== undefined && clientsWithFewerTools({ tools, isSearched }).some((each) => each.client === client.id);
  return [
    ...(isInstalled ? [] : [`${client.name} has no config folder yet: is it installed?`]),
    ...(isTooMany
      ? [
          `${client.name} supports at most ${client.toolLimit} tools, and the group has ${tools}: use --group for one with fewer`,
        ]
      : []),
  ];
}
