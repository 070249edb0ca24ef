// The files of a folder of secrets, one for each. No text from a user is ever part of a file name. Decrypting them is left
// to record.ts.

import { dirname, join } from "node:path";
import { removeStaleTemps } from "../atomic.ts";
import { listPrivateFolder, readPrivateFile } from "./private-file.ts";
import { parseRecord, type SecretRecord } from "./record.ts";

const FILE_NAME = /^mcp_([0-9a-f]{8}(?:-[0-9a-f]{4}){3}-[0-9a-f]{12})\.key$/;

export interface SecretFile {
  readonly path: string;
  readonly uuid: string;
  /** Undefined where the file is damaged. */
  readonly record: SecretRecord | undefined;
}

/** Removes what killed writers left: of secrets and keys in the folder, of its lock beside it. */
export async function removeLeftovers(folder: string): Promise<void> {
  for (const each of [folder, dirname(folder)]) await removeStaleTemps(each);
}

export function secretPath(folder: string, uuid: string): string {
  return join(folder, `mcp_${uuid}.key`);
}

/** Read anew each time: another process may have changed them, and there are few. */
export async function readSecretFiles(folder: string): Promise<SecretFile[]> {
  const files: SecretFile[] = [];
  for (const fileName of await listPrivateFolder(folder)) {
    const uuid = FILE_NAME.exec(fileName)?.[1];
    const file = uuid === undefined ? undefined : await readSecretFile(folder, uuid);
    if (file !== undefined) files.push(file);
  }
  return files;
}

/** Undefined where it is gone. */
export async function readSecretFile(folder: string, uuid: string): Promise<SecretFile | undefined> {
  const path = secretPath(folder, uuid);
  const text = await readPrivateFile(path);
  return text === undefined ? undefined : { path, uuid, record: parseRecord(text) };
}
