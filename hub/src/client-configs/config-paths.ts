// Lists the possible config files of clients: those of the user, and those of the project that contains a folder.

import { dirname, join, resolve } from "node:path";
import { exists } from "@plugboard/shared/files/exists";
import type { PlatformContext } from "../config/files/system-folders.ts";
import type { Client } from "./client.ts";
import type { ClientFile } from "./file.ts";

/** Limits the search for a repository root. */
const MAX_DEPTH = 64;

export function userFiles(client: Client, context: PlatformContext): ClientFile[] {
  return client.files(context).map((path) => ({ client, scope: "user", path }));
}

export function projectFile(client: Client, folder: string): ClientFile | undefined {
  if (client.projectFile === undefined) return undefined;
  return { client, scope: "project", path: join(folder, client.projectFile), workspace: folder };
}

/** The file that a client reads: the first that exists, else the default path. */
export async function mainFile(client: Client, context: PlatformContext): Promise<ClientFile | undefined> {
  const files = userFiles(client, context);
  for (const file of files) if (await exists(file.path)) return file;
  return files[0];
}

/** The folder and its parents up to the repository root; only the folder if it is in no repository. */
export async function projectFolders(folder: string): Promise<string[]> {
  const folders: string[] = [];
  for (let current = resolve(folder); folders.length < MAX_DEPTH; current = dirname(current)) {
    folders.push(current);
    if (await exists(join(current, ".git"))) return folders;
    if (dirname(current) === current) break;
  }
  return [resolve(folder)];
}
