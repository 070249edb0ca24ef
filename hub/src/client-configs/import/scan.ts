// Reads the servers of all clients on this machine, file by file. plan.ts decides what to import.

import { exists } from "@plugboard/shared/files/exists";
import { isObject } from "../../lib/json/json.ts";
import type { HubError } from "../../errors.ts";
import type { PlatformContext } from "../../config/files/system-folders.ts";
import type { Client } from "../client.ts";
import { entriesIn, readClientFile, type ClientFile, type ReadFile } from "../file.ts";
import { projectFile, projectFolders, userFiles } from "../config-paths.ts";

export interface FoundServer {
  readonly file: ClientFile;
  readonly name: string;
  readonly entry: unknown;
  /** Disabled outside of its entry. */
  readonly isDisabled: boolean;
}

export interface ScannedFile {
  readonly file: ClientFile;
  readonly servers: readonly FoundServer[];
  /** The reason why the file could not be read. */
  readonly error?: HubError;
}

export interface ScanOptions {
  readonly clients: readonly Client[];
  readonly context: PlatformContext;
  /** Folder to search for project files; undefined: no search. */
  readonly folder: string | undefined;
}

/** Limits the servers per file; a file written by hand has fewer. */
const MAX_SERVERS = 1000;

/** The existing files. Each is read once, even if several clients share it. */
export async function scan({ clients, context, folder }: ScanOptions): Promise<ScannedFile[]> {
  const folders = folder === undefined ? [] : await projectFolders(folder);
  const files = clients.flatMap((client) => [
    ...userFiles(client, context),
    ...folders.flatMap((each) => projectFile(client, each) ?? []),
  ]);
  const once = files.filter(({ path }, index) => files.findIndex((other) => other.path === path) === index);
  const scanned = await Promise.all(
    once.map(async (file): Promise<ScannedFile | undefined> => {
      const read = await readClientFile(file);
      if (read === undefined) return undefined;
      if ("error" in read) return { file, servers: [], error: read.error };
      return { file, servers: (await serversIn(read)).slice(0, MAX_SERVERS) };
    }),
  );
  return scanned.filter((each) => each !== undefined);
}

async function serversIn(read: ReadFile): Promise<FoundServer[]> {
  const { data, ...file } = read;
  const isDisabled = disabledByLists(data);
  const servers = entriesIn(data, file.client).map(([name, entry]) => ({
    file,
    name,
    entry,
    isDisabled: isDisabled(name),
  }));
  return file.client.id === "claude-code" ? [...servers, ...(await localServers(data, file))] : servers;
}

/** Gemini has lists of enabled and disabled servers beside the entries. */
function disabledByLists(data: unknown): (name: string) => boolean {
  const lists = isObject(data) && isObject(data["mcp"]) ? data["mcp"] : {};
  const excluded: unknown[] = Array.isArray(lists["excluded"]) ? lists["excluded"] : [];
  const allowed: unknown[] = Array.isArray(lists["allowed"]) ? lists["allowed"] : [];
  return (name) => excluded.includes(name) || (allowed.length > 0 && !allowed.includes(name));
}

/** Claude Code stores servers of one folder in the user's file. This is the default of `claude mcp add`. */
async function localServers(data: unknown, file: ClientFile): Promise<FoundServer[]> {
  const projects = isObject(data) && isObject(data["projects"]) ? Object.entries(data["projects"]) : [];
  const found = await Promise.all(
    projects.map(async ([folder, project]) => {
      const entries = entriesIn(project, file.client);
      if (entries.length === 0) return [];
      const workspace = (await exists(folder)) ? { workspace: folder } : {};
      const local: ClientFile = { ...file, scope: "local", ...workspace };
      return entries.map(([name, entry]) => ({ file: local, name, entry, isDisabled: false }));
    }),
  );
  return found.flat();
}
