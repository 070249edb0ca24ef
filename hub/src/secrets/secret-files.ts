// Reads the files of a secrets folder, one per secret. File names contain no user input.

import { dirname, join } from "node:path";
import { removeStaleTemps } from "@plugboard/shared/files/atomic";
import { listPrivateFolder, readPrivateFile } from "../lib/files/private-file.ts";
import { parseRecord, type SecretRecord } from "./record.ts";

const FILE_NAME = /^mcp_([0-9a-f]{8}(?:-[0-9a-f]{4}){3}-[0-9a-f]{12})\.(key|user|oauth)$/;

/**
 * `key`: a secret of the hub. `user`: a secret of one person. `oauth`: the login at a remote server. All are encrypted with the
 * same key.
 */
export type SecretKind = "key" | "user" | "oauth";

export interface SecretFile {
  readonly path: string;
  readonly uuid: string;
  readonly kind: SecretKind;
  /** Undefined if the file is damaged. */
  readonly record: SecretRecord | undefined;
}

/** Removes temp files of killed writers: of secrets and keys in the folder, of its lock in the parent folder. */
export async function removeTempFiles(folder: string): Promise<void> {
  for (const each of [folder, dirname(folder)]) await removeStaleTemps(each);
}

export function secretPath(folder: string, uuid: string, kind: SecretKind = "key"): string {
  return join(folder, `mcp_${uuid}.${kind}`);
}

/** The files of one kind. Not cached: another process may change the files, and there are few. */
export async function readSecretFiles(folder: string, kind: SecretKind): Promise<SecretFile[]> {
  return (await readSealedFiles(folder)).filter((file) => file.kind === kind);
}

/** The files of all kinds. */
export async function readSealedFiles(folder: string): Promise<SecretFile[]> {
  const files: SecretFile[] = [];
  for (const fileName of await listPrivateFolder(folder)) {
    const [, uuid, kind] = FILE_NAME.exec(fileName) ?? [];
    if (uuid === undefined) continue;
    const file = await readSecretFile(folder, uuid, kind === "oauth" || kind === "user" ? kind : "key");
    if (file !== undefined) files.push(file);
  }
  return files;
}

/** Undefined if it does not exist. */
export async function readSecretFile(
  folder: string,
  uuid: string,
  kind: SecretKind = "key",
): Promise<SecretFile | undefined> {
  const path = secretPath(folder, uuid, kind);
  const text = await readPrivateFile(path);
  return text === undefined ? undefined : { path, uuid, kind, record: parseRecord(text) };
}
