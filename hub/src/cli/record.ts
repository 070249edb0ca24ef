// The note that a running hub leaves for the commands: `hub.json` in the state folder, for its owner alone. Whether it
// is still true is left to find-hub.ts.

import { createHash } from "node:crypto";
import { readFileSync } from "node:fs";
import { rm } from "node:fs/promises";
import { join, resolve } from "node:path";
import { writeFileAtomic } from "../atomic.ts";
import { hubPaths, type HubPaths } from "../config/paths.ts";
import { readPrivateFile } from "../secrets/private-file.ts";
import type { GlobalOptions, Io } from "./io.ts";

export interface HubRecord {
  readonly pid: number;
  readonly url: string;
  /** The config folder, as an absolute path. */
  readonly config: string;
  /** ISO 8601. */
  readonly started_at: string;
}

export interface Places extends HubPaths {
  readonly record: string;
  /** Where a hub in the background writes what it would say on a terminal. */
  readonly log: string;
}

/** Where everything of the hub is that the options mean. Each config folder has a record of its own. */
export function placesOf(io: Io, { config }: GlobalOptions): Places {
  const paths = hubPaths(io);
  const folder = resolve(config ?? paths.config);
  const usual = resolve(hubPaths({ ...io, env: { ...io.env, PLUGBOARD_CONFIG: undefined } }).config);
  const name = folder === usual ? "hub" : `hub-${createHash("sha256").update(folder).digest("hex").slice(0, 8)}`;
  return {
    ...paths,
    config: folder,
    record: join(paths.state, `${name}.json`),
    log: join(paths.state, `${name}.log`),
  };
}

export async function writeRecord(path: string, record: HubRecord): Promise<void> {
  // Not durable: after a power failure it is of nobody.
  await writeFileAtomic(path, `${JSON.stringify(record, null, 2)}\n`, { mode: 0o600, durable: false });
}

/** The record; undefined where there is none, or one that no hub has written. One that others can write throws. */
export async function readRecord(path: string): Promise<HubRecord | undefined> {
  const text = await readPrivateFile(path);
  return text === undefined ? undefined : parseRecord(text);
}

/** Unless another hub has taken the place meanwhile. */
export async function removeRecord(path: string, pid: number): Promise<void> {
  const record = await readRecord(path).catch(() => undefined);
  if (record?.pid === pid) await rm(path, { force: true });
}

function parseRecord(text: string): HubRecord | undefined {
  let json: unknown;
  try {
    json = JSON.parse(text);
  } catch {
    return undefined; // a record is written as a whole: this is none of ours
  }
  if (typeof json !== "object" || json === null) return undefined;
  const { pid, url, config, started_at } = json as Partial<Record<keyof HubRecord, unknown>>;
  const strings = [url, config, started_at].every((value) => typeof value === "string");
  if (typeof pid !== "number" || !Number.isInteger(pid) || pid <= 0 || !strings) return undefined;
  return { pid, url: String(url), config: String(config), started_at: String(started_at) };
}

/** A process that has ended, and that nobody has asked for its exit code yet, is none. */
export function isAlive(pid: number): boolean {
  try {
    process.kill(pid, 0);
    return !isZombie(pid);
  } catch (error) {
    return error instanceof Error && "code" in error && error.code === "EPERM";
  }
}

function isZombie(pid: number): boolean {
  try {
    // "pid (name) state …": the name may hold anything, brackets too.
    return /\) Z /.test(readFileSync(`/proc/${pid}/stat`, "latin1"));
  } catch {
    return false; // only Linux tells
  }
}
