// What hubs and commands leave behind that were killed: notes of hubs that are gone, locks, half-written files.

import { readdir, rm } from "node:fs/promises";
import { dirname, join } from "node:path";
import { findStaleTemps, resolveLinks } from "../atomic.ts";
import { readManagementToken } from "../auth/management-token.ts";
import { GROUP_FILE, SERVER_FILE } from "../config/documents.ts";
import { findAbandonedLock } from "../lock.ts";
import { foldersWithTemps } from "../sweep.ts";
import { checkProof } from "./proof.ts";
import { isAlive, readRecord, removeRecord, type HubRecord, type Places } from "./record.ts";
import type { Repair } from "./repair.ts";

const RECORD = /^hub(?:-[0-9a-f]{8})?\.json$/;

export async function findLeftovers(places: Places): Promise<Repair[]> {
  const found = await Promise.all([findStaleRecords(places), findLocks(places), findTemps(places)]);
  return found.flat();
}

/** Every config folder has a note of its own, all of them in one folder. */
async function findStaleRecords({ state, data }: Places): Promise<Repair[]> {
  const names = (await readdir(state).catch((): string[] => [])).filter((name) => RECORD.test(name));
  const found = await Promise.all(
    names.map(async (name): Promise<Repair | undefined> => {
      const path = join(state, name);
      const record = await readRecord(path).catch(() => undefined); // open to others: told elsewhere
      if (record === undefined || !(await isStale(record, data))) return undefined;
      return {
        name: "hub",
        state: "warning",
        message: `${path} is of a hub that is gone (pid ${record.pid})`,
        run: async () => {
          await removeRecord(path, record.pid);
          return `removed ${path}, left by a hub that is gone (pid ${record.pid})`;
        },
      };
    }),
  );
  return found.filter((repair) => repair !== undefined);
}

/** The process id may belong to another program by now, or to a hub in a container that we cannot see. */
export async function isStale(record: HubRecord, data: string): Promise<boolean> {
  const token = await readManagementToken(data).catch(() => undefined); // open to others: told elsewhere
  // Without the token no hub can prove anything: then one that is alive is taken for it.
  if (token === undefined || !URL.canParse(record.url)) return !isAlive(record.pid);
  const verdict = await checkProof(record, token);
  return verdict === "nobody" || (verdict !== "ours" && !isAlive(record.pid));
}

async function findLocks({ config, data }: Places): Promise<Repair[]> {
  const secrets = join(data, "secrets");
  const guarded = [join(config, SERVER_FILE), join(config, GROUP_FILE), secrets, join(secrets, "master.key")];
  const locks = await Promise.all(guarded.map((path) => findAbandonedLock(path)));
  return locks.flatMap((lock) => (lock === undefined ? [] : [leftBehind(lock)]));
}

async function findTemps({ config, ...folders }: Places): Promise<Repair[]> {
  const files = [SERVER_FILE, GROUP_FILE].map((name) => join(config, name));
  // People link their dotfiles: what is written stands beside the file that is meant.
  const targets = await Promise.all(files.map((path) => resolveLinks(path).catch(() => path)));
  const all = new Set([...targets.map((path) => dirname(path)), ...foldersWithTemps(folders)]);
  const temps = await Promise.all([...all].map((folder) => findStaleTemps(folder)));
  return temps.flat().map(leftBehind);
}

function leftBehind(path: string): Repair {
  return {
    name: "files",
    state: "warning",
    message: `${path} was left by a process that is gone`,
    run: async () => {
      await rm(path, { force: true });
      return `removed ${path}, left by a process that is gone`;
    },
  };
}
