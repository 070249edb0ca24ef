// Finds and removes installs that no server uses. Several hubs may share the folder, each with a different config: installs
// that belong to another config, or that a running hub uses, are kept.

import { readdir, rm } from "node:fs/promises";
import { join } from "node:path";
import { isAlive } from "@plugboard/shared/process-identity";
import { findAbandonedLock } from "../../lib/files/lock.ts";
import { exists } from "@plugboard/shared/files/exists";
import { PackageRecords, type PackageRecord } from "./install-record.ts";

/** Prefix of the marker file that a hub puts into an install from which it runs a server. */
export const USED_BY = "used-by-";
/** A server may be tested before its entry is saved. */
const GRACE_MS = 3_600_000;
const INSTALLER = /-(\d+)-[0-9a-f]{8}$/;

export interface PruneOptions {
  readonly folder: string;
  readonly owner: string;
  /** Whether a server of the owner has the package of this key. */
  readonly isOurs: (key: string) => boolean;
  /** Folders that this process is installing into. */
  readonly inProgress: ReadonlySet<string>;
}

export interface Unused {
  /** Records that no config needs. */
  readonly keys: readonly string[];
  /** Records that still have an owner, but no longer this one. */
  readonly disowned: ReadonlyMap<string, PackageRecord>;
  /** Installs, markers and locks. */
  readonly paths: readonly string[];
}

export async function findUnused({ folder, owner, isOurs, inProgress }: PruneOptions): Promise<Unused> {
  const records = new PackageRecords(join(folder, "specs"));
  const installs = join(folder, "installs");
  // Listed before the records are read: an install that gets its record in between is in one of the two, or in progress.
  const found = await readdir(installs).catch((): string[] => []);
  const busy = new Set(inProgress);
  const unneeded: string[] = [];
  const disowned = new Map<string, PackageRecord>();
  const named = new Set<string>();
  const locks: string[] = [];
  for (const [key, record] of await records.all()) {
    const owners = await ownersOf(record, { owner, isOurs: isOurs(key) });
    const isFresh = Date.now() - Date.parse(record.installed_at) < GRACE_MS;
    if (owners.length === 0 && !isFresh) {
      unneeded.push(key);
      continue;
    }
    named.add(record.folder);
    if (owners.length > 0 && owners.length < record.owners.length) disowned.set(key, { ...record, owners });
  }
  for (const name of await readdir(join(folder, "specs")).catch((): string[] => [])) {
    const lock = name.endsWith(".lock") ? await findAbandonedLock(join(folder, "specs", name.slice(0, -5))) : undefined;
    if (lock !== undefined) locks.push(lock);
  }
  const paths: string[] = [];
  for (const name of found.filter((each) => !busy.has(each))) {
    const path = join(installs, name);
    const markers = await markersIn(path);
    if (!named.has(name) && isFree(name, markers)) paths.push(path);
    else paths.push(...markers.filter(({ pid }) => !isAlive(pid)).map((marker) => marker.path));
  }
  return { keys: unneeded, disowned, paths: [...paths, ...locks] };
}

export async function removeUnused({ keys, disowned, paths }: Unused, records: PackageRecords): Promise<void> {
  // Records first: a folder without a record counts as no install, even if this is interrupted.
  for (const key of keys) await records.remove(key);
  for (const [key, record] of disowned) await records.write(key, record);
  for (const path of paths) await rm(path, { recursive: true, force: true }).catch(() => undefined); // the next run tries again
}

async function ownersOf(
  record: PackageRecord,
  { owner, isOurs }: { owner: string; isOurs: boolean },
): Promise<string[]> {
  const areOwnersPresent = await Promise.all(
    record.owners.map(async (each) => (each === owner ? isOurs : exists(each))),
  );
  return record.owners.filter((_each, index) => areOwnersPresent[index]);
}

/** For an install that is no longer on record. */
export async function removeIfFree(installs: string, name: string): Promise<void> {
  const path = join(installs, name);
  if (!isFree(name, await markersIn(path))) return;
  await rm(path, { recursive: true, force: true }).catch(() => undefined); // the next hub tries again
}

/** No other process installs into it or runs servers from it. Servers of this process run from recorded installs only. */
function isFree(name: string, markers: readonly Marker[]): boolean {
  const installer = Number(INSTALLER.exec(name)?.[1]);
  // An install without markers is still being installed, or was left behind by a process that has exited.
  const pids = markers.length > 0 ? markers.map(({ pid }) => pid) : [installer];
  return !pids.some((pid) => pid !== process.pid && isAlive(pid));
}

interface Marker {
  readonly path: string;
  readonly pid: number;
}

async function markersIn(folder: string): Promise<Marker[]> {
  const names = (await readdir(folder).catch((): string[] => [])).filter((name) => name.startsWith(USED_BY));
  return names.map((name) => ({ path: join(folder, name), pid: Number(name.slice(USED_BY.length)) }));
}
