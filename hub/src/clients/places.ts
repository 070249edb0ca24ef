// Which files of which clients there can be: those of the user, and those of the project that a folder belongs to.

import { dirname, join, resolve } from "node:path";
import { exists } from "../exists.ts";
import type { Surroundings } from "../config/system-folders.ts";
import type { Client } from "./client.ts";
import type { ClientFile } from "./file.ts";

/** Deeper than any project. */
const MAX_DEPTH = 64;

export function userFiles(client: Client, surroundings: Surroundings): ClientFile[] {
  return client.files(surroundings).map((path) => ({ client, scope: "user", path }));
}

export function projectFile(client: Client, folder: string): ClientFile | undefined {
  if (client.projectFile === undefined) return undefined;
  return { client, scope: "project", path: join(folder, client.projectFile), workspace: folder };
}

/** The file that a client reads: the first that is there, else where it would be. */
export async function mainFile(client: Client, surroundings: Surroundings): Promise<ClientFile | undefined> {
  const files = userFiles(client, surroundings);
  for (const file of files) if (await exists(file.path)) return file;
  return files[0];
}

/** The folder, and those above it up to the root of its repository. Alone where it is in none. */
export async function projectFolders(folder: string): Promise<string[]> {
  const folders: string[] = [];
  for (let current = resolve(folder); folders.length < MAX_DEPTH; current = dirname(current)) {
    folders.push(current);
    if (await exists(join(current, ".git"))) return folders;
    if (dirname(current) === current) break;
  }
  return [resolve(folder)];
}
