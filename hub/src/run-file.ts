// The run file `hub.json` in the state folder, by which commands find the running hub. Readable by its owner only.
// cli/hub-access/find-hub.ts checks whether it is still true.

import { rm } from "node:fs/promises";
import { parseJson } from "@plugboard/shared/lenient";
import { writeFileAtomic } from "./lib/files/atomic.ts";
import { readPrivateFile } from "./lib/files/private-file.ts";

export interface RunFile {
  readonly pid: number;
  /** Its address for programs of this machine. */
  readonly url: string;
  /** What a restart keeps of where it listens: all that hub.json does not say. */
  readonly listen?: { readonly host?: string; readonly port?: number };
  /** The config folder, as an absolute path. */
  readonly config: string;
  /** Where the config and the secrets are instead, if replicas of the hub share a database. */
  readonly database?: string | undefined;
  /** ISO 8601. */
  readonly started_at: string;
}

export async function writeRecord(path: string, record: RunFile): Promise<void> {
  // Not durable: it is worthless after a power failure.
  await writeFileAtomic(path, `${JSON.stringify(record, null, 2)}\n`, { mode: 0o600, durable: false });
}

/** The run file; undefined if it is missing or malformed. Throws if others can write it. */
export async function readRecord(path: string): Promise<RunFile | undefined> {
  const text = await readPrivateFile(path);
  return text === undefined ? undefined : parseRecord(text);
}

/** Removes it unless another hub has replaced it. */
export async function removeRecord(path: string, pid: number): Promise<void> {
  const record = await readRecord(path).catch(() => undefined);
  if (record?.pid === pid) await rm(path, { force: true });
}

function parseRecord(text: string): RunFile | undefined {
  // Written atomically: a file that is not JSON is not ours.
  const json = parseJson(text);
  if (typeof json !== "object" || json === null) return undefined;
  const { pid, url, config, started_at, listen, database } = json as Partial<Record<keyof RunFile, unknown>>;
  const strings = [url, config, started_at].every((value) => typeof value === "string");
  if (typeof pid !== "number" || !Number.isInteger(pid) || pid <= 0 || !strings) return undefined;
  return {
    pid,
    url: String(url),
    config: String(config),
    ...(typeof database === "string" ? { database } : {}),
    started_at: String(started_at),
    listen: readListen(listen),
  };
}

function readListen(listen: unknown): NonNullable<RunFile["listen"]> {
  if (typeof listen !== "object" || listen === null) return {};
  const { host, port } = listen as { readonly host?: unknown; readonly port?: unknown };
  return { ...(typeof host === "string" ? { host } : {}), ...(typeof port === "number" ? { port } : {}) };
}
