// Finds what is left of packages that nobody uses, and removes it. Several hubs may share the folder, each with a config
// of its own: what belongs to another, or is run by one, stays.

import { readdir, rm } from "node:fs/promises";
import { join } from "node:path";
import { isAlive } from "../../atomic.ts";
import { findAbandonedLock } from "../../lock.ts";
import { exists } from "../../exists.ts";
import { PackageRecords, type PackageRecord } from "./record.ts";

/** Begins the name of the note that a hub leaves in an install from which it runs a server. */
export const USED_BY = "used-by-";
/** A server that is tried out before it is saved has no entry yet. */
const GRACE_MS = 3_600_000;
const INSTALLER = /-(\d+)-[0-9a-f]{8}$/;

export interface TidyOptions {
  readonly folder: string;
  readonly owner: string;
  /** Whether a server of the owner has the package of this key. */
  readonly isOurs: (key: string) => boolean;
  /** Folders that this process is filling. */
  readonly underWay: ReadonlySet<string>;
}

export interface Unused {
  /** Records that no config needs. */
  readonly keys: readonly string[];
  /** Records that still have an owner, but no longer this one. */
  readonly disowned: ReadonlyMap<string, PackageRecord>;
  /** Installs, notes and locks. */
  readonly paths: readonly string[];
}

export async function findUnused({ folder, owner, isOurs, underWay }: TidyOptions): Promise<Unused> {
  const records = new PackageRecords(join(folder, "specs"));
  const installs = join(folder, "installs");
  // Before the records are read: what gets its record meanwhile is in one of the two, or stands here as under way.
  const found = await readdir(installs).catch((): string[] => []);
  const busy = new Set(underWay);
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
    const notes = await notesIn(path);
    if (!named.has(name) && isFree(name, notes)) paths.push(path);
    else paths.push(...notes.filter(({ pid }) => !isAlive(pid)).map((note) => note.path));
  }
  return { keys: unneeded, disowned, paths: [...paths, ...locks] };
}

export async function removeUnused({ keys, disowned, paths }: Unused, records: PackageRecords): Promise<void> {
  // Records first: what has none is no install, whatever happens in between.
  for (const key of keys) await records.remove(key);
  for (const [key, record] of disowned) await records.write(key, record);
  for (const path of paths) await rm(path, { recursive: true, force: true }).catch(() => undefined); // the next one tries again
}

async function ownersOf(
  record: PackageRecord,
  { owner, isOurs }: { owner: string; isOurs: boolean },
): Promise<string[]> {
  const there = await Promise.all(record.owners.map(async (each) => (each === owner ? isOurs : exists(each))));
  return record.owners.filter((_each, index) => there[index]);
}

/** An install of this process that is no longer on record. */
export async function removeIfFree(installs: string, name: string): Promise<void> {
  const path = join(installs, name);
  if (!isFree(name, await notesIn(path))) return;
  await rm(path, { recursive: true, force: true }).catch(() => undefined); // the next hub tries again
}

/** Nobody fills it, and nobody runs a server from it. Our own servers run from what a record names. */
function isFree(name: string, notes: readonly Note[]): boolean {
  const installer = Number(INSTALLER.exec(name)?.[1]);
  // An install that is complete has users; one without any is filled, or was left by one who is gone.
  const pids = notes.length > 0 ? notes.map(({ pid }) => pid) : [installer];
  return !pids.some((pid) => pid !== process.pid && isAlive(pid));
}

interface Note {
  readonly path: string;
  readonly pid: number;
}

async function notesIn(folder: string): Promise<Note[]> {
  const names = (await readdir(folder).catch((): string[] => [])).filter((name) => name.startsWith(USED_BY));
  return names.map((name) => ({ path: join(folder, name), pid: Number(name.slice(USED_BY.length)) }));
}
