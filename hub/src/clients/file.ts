// A client's file as it is now: its text, what is in it, and the servers that it names. A file that cannot be read is an
// answer, not an error: others can.

import { readTextFile } from "../config/text-file.ts";
import { isObject } from "../config/plain.ts";
import { HubError } from "../errors.ts";
import type { Client, Scope } from "./client.ts";
import { editorFor } from "./format.ts";

export interface ClientFile {
  readonly client: Client;
  readonly scope: Scope;
  readonly path: string;
  /** The folder that a project's file belongs to. */
  readonly workspace?: string;
}

export interface ReadFile extends ClientFile {
  readonly data: unknown;
}

export interface UnreadFile extends ClientFile {
  readonly error: HubError;
}

/** Undefined where there is no such file. */
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

/** The entries under the client's key, by name. What is no map or list has none. */
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
