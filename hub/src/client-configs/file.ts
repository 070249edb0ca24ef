// Reads a client's config file: its text, its data and its servers. An unreadable file is a result and not an exception, so
// that the other files are still read.

import { readTextFile } from "../config/files/text-file.ts";
import { isObject } from "../lib/json/json.ts";
import { HubError } from "../errors.ts";
import type { Client, Scope } from "./client.ts";
import { editorFor } from "./formats/format.ts";

export interface ClientFile {
  readonly client: Client;
  readonly scope: Scope;
  readonly path: string;
  /** The folder of a project file. */
  readonly workspace?: string;
}

export interface ReadFile extends ClientFile {
  readonly data: unknown;
}

export interface UnreadFile extends ClientFile {
  readonly error: HubError;
}

/** Undefined if the file does not exist. */
export async function readClientFile(file: ClientFile): Promise<ReadFile | UnreadFile | undefined> {
  try {
    const found = await readTextFile(file.path);
    if (found === undefined) return undefined;
    const editor = await editorFor(file.client.format);
    return { ...file, data: editor.parse(found.text, file.path) };
  } catch (error) {
    if (!(error instanceof HubError)) throw error;
    return { ...file, error };
  }
}

/** The entries under the client's key, by name; empty if the value is neither a map nor a list. */
export function entriesIn(
  data: unknown,
  { root, list }: Pick<Client, "root" | "list">,
): [name: string, entry: unknown][] {
  const servers = root.reduce<unknown>(
    (value, key) => (isObject(value) && Object.hasOwn(value, key) ? value[key] : undefined),
    data,
  );
  if (list !== true) return isObject(servers) ? Object.entries(servers) : [];
  if (!Array.isArray(servers)) return [];
  return servers.map((entry: unknown, index) => [
    isObject(entry) && typeof entry["name"] === "string" ? entry["name"] : `server-${index + 1}`,
    entry,
  ]);
}
