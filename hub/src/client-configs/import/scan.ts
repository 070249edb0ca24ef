// Reads the servers of all clients on this machine, file by file. plan.ts decides what to import.

import { dirname, join } from "node:path";
import { exists } from "@plugboard/shared/files/exists";
import { isObject } from "../../lib/json/json.ts";
import { HubError } from "../../errors.ts";
import type { PlatformContext } from "../../config/files/system-folders.ts";
import type { Client } from "../client.ts";
import { FileSyntaxError } from "../formats/format.ts";
import { entriesIn, readClientFile, type ClientFile, type ReadFile } from "../file.ts";
import type { ProductGroup, ProductServer } from "../products/product.ts";
import { projectFile, projectFolders, userFiles } from "../config-paths.ts";

export interface FoundServer {
  readonly file: ClientFile;
  readonly name: string;
  readonly entry: unknown;
  /** Disabled outside of its entry. */
  readonly isDisabled: boolean;
  /** What a product's file says beside the entry. */
  readonly more?: Pick<ProductServer, "settings" | "toolSettings" | "notes">;
}

export interface ScannedFile {
  readonly file: ClientFile;
  readonly servers: readonly FoundServer[];
  readonly groups?: readonly ProductGroup[];
  /** On settings of the whole file. */
  readonly notes?: readonly string[];
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
      return "error" in read ? { file, servers: [], error: read.error } : contentOf(read);
    }),
  );
  return scanned.filter((each) => each !== undefined);
}

/** One file, which need not be where the client keeps it. Throws if it is missing or invalid. */
export async function scanFile(client: Client, path: string): Promise<ScannedFile> {
  const read = await readClientFile({ client, scope: "user", path });
  if (read === undefined) throw new HubError("InvalidArgument", `There is no file ${path}`, { field: "source" });
  if ("error" in read) throw read.error;
  const { error, ...scanned } = await contentOf(read);
  if (error !== undefined) throw error;
  return { ...scanned, servers: scanned.servers.map((server) => inItsFolder(server, dirname(path))) };
}

/** Paths of a program are relative to the folder that the product runs in, which is most often that of its file. */
function inItsFolder(server: FoundServer, folder: string): FoundServer {
  const { command, args } = isObject(server.entry) ? server.entry : {};
  const words: unknown[] = [command, ...(Array.isArray(args) ? args : [])];
  const isRelative = words.some((word) => typeof word === "string" && /^\.{1,2}[/\\]/.test(word));
  return isRelative ? { ...server, file: { ...server.file, workspace: folder } } : server;
}

export async function contentOf(read: ReadFile): Promise<ScannedFile> {
  const { data, ...file } = read;
  const { product } = file.client;
  if (product === undefined) return { file, servers: (await serversIn(read)).slice(0, MAX_SERVERS) };
  try {
    const { servers, groups, notes } = await product.read(data, (name) => readBeside(file, name));
    const found = servers.map(({ name, entry, ...more }) => ({ file, name, entry, isDisabled: false, more }));
    return { file, servers: found.slice(0, MAX_SERVERS), groups, notes };
  } catch (thrown) {
    if (!(thrown instanceof HubError)) throw thrown;
    return { file, servers: [], error: inFile(thrown, file) };
  }
}

async function readBeside(file: ClientFile, name: string): Promise<unknown> {
  const read = await readClientFile({ ...file, path: join(dirname(file.path), name) });
  if (read === undefined) return undefined;
  if ("error" in read) throw read.error;
  return read.data;
}

function inFile(error: HubError, { path, client }: ClientFile): HubError {
  if (error instanceof FileSyntaxError) return error;
  return new HubError("InvalidConfig", `${path}: ${error.message}`, {
    ...(error.field === undefined ? {} : { field: error.field }),
    hint: `Is it a file of ${client.name}? Nothing of it is imported`,
    cause: error,
  });
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
