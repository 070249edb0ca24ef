// All servers that the clients of this machine have, as they are written, file by file. What they mean to the hub is left
// to plan.ts.

import { exists } from "../exists.ts";
import { isObject } from "../config/plain.ts";
import type { HubError } from "../errors.ts";
import type { Surroundings } from "../config/system-folders.ts";
import type { Client } from "./client.ts";
import { entriesIn, readClientFile, type ClientFile, type ReadFile } from "./file.ts";
import { projectFile, projectFolders, userFiles } from "./places.ts";

export interface FoundServer {
  readonly file: ClientFile;
  readonly name: string;
  readonly entry: unknown;
  /** Switched off outside of its entry. */
  readonly off: boolean;
}

export interface ScannedFile {
  readonly file: ClientFile;
  readonly servers: readonly FoundServer[];
  /** Why it could not be read. */
  readonly error?: HubError;
}

export interface ScanOptions {
  readonly clients: readonly Client[];
  readonly surroundings: Surroundings;
  /** Where to look for files of a project; undefined: nowhere. */
  readonly folder: string | undefined;
}

/** More in one file were not written by a person. */
const MAX_SERVERS = 1000;

/** The files that are there. Each is read once, however many clients mean it. */
export async function scan({ clients, surroundings, folder }: ScanOptions): Promise<ScannedFile[]> {
  const folders = folder === undefined ? [] : await projectFolders(folder);
  const files = clients.flatMap((client) => [
    ...userFiles(client, surroundings),
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
  const isOff = offIn(data);
  const servers = entriesIn(data, file.client).map(([name, entry]) => ({ file, name, entry, off: isOff(name) }));
  return file.client.id === "claude-code" ? [...servers, ...(await localServers(data, file))] : servers;
}

/** Gemini switches servers on and off by lists beside them. */
function offIn(data: unknown): (name: string) => boolean {
  const lists = isObject(data) && isObject(data["mcp"]) ? data["mcp"] : {};
  const excluded: unknown[] = Array.isArray(lists["excluded"]) ? lists["excluded"] : [];
  const allowed: unknown[] = Array.isArray(lists["allowed"]) ? lists["allowed"] : [];
  return (name) => excluded.includes(name) || (allowed.length > 0 && !allowed.includes(name));
}

/** Claude Code keeps a user's servers for one folder in the user's file; `claude mcp add` puts them there unless told. */
async function localServers(data: unknown, file: ClientFile): Promise<FoundServer[]> {
  const projects = isObject(data) && isObject(data["projects"]) ? Object.entries(data["projects"]) : [];
  const found = await Promise.all(
    projects.map(async ([folder, project]) => {
      const entries = entriesIn(project, file.client);
      if (entries.length === 0) return [];
      const workspace = (await exists(folder)) ? { workspace: folder } : {};
      const local: ClientFile = { ...file, scope: "local", ...workspace };
      return entries.map(([name, entry]) => ({ file: local, name, entry, off: false }));
    }),
  );
  return found.flat();
}
