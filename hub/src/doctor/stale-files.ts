// Finds files left behind by killed hubs and commands: run files, locks, temporary files.

import { readdir, rm } from "node:fs/promises";
import { dirname, join } from "node:path";
import { findStaleTemps, resolveLinks } from "@plugboard/shared/files/atomic";
import { readManagementToken } from "../auth/management-token.ts";
import { GROUP_FILE, SERVER_FILE } from "../config/parse/documents.ts";
import { findAbandonedLock } from "../lib/files/lock.ts";
import { foldersWithTemps } from "../config/files/sweep.ts";
import { checkProof } from "../http/check-proof.ts";
import { isAlive } from "@plugboard/shared/process-identity";
import { readRecord, removeRecord, type RunFile } from "../run-file.ts";
import type { HubPaths } from "../config/files/paths.ts";
import type { Repair } from "./repair.ts";

const RECORD = /^hub(?:-[0-9a-f]{8})?\.json$/;

export async function findLeftovers(folders: HubPaths): Promise<Repair[]> {
  const found = await Promise.all([findStaleRecords(folders), findLocks(folders), findTemps(folders)]);
  return found.flat();
}

/** Each config folder has its own run file; all are in one folder. */
async function findStaleRecords({ state, data }: HubPaths): Promise<Repair[]> {
  const names = (await readdir(state).catch((): string[] => [])).filter((name) => RECORD.test(name));
  const found = await Promise.all(
    names.map(async (name): Promise<Repair | undefined> => {
      const path = join(state, name);
      const record = await readRecord(path).catch(() => undefined); // unsafe permissions are reported elsewhere
      if (record === undefined || !(await isStale(record, data))) return undefined;
      return {
        section: "files",
        name: "hub",
        state: "warning",
        message: `${path} was left by a hub that has exited (pid ${record.pid})`,
        run: async () => {
          await removeRecord(path, record.pid);
          return `removed ${path}, left by a hub that has exited (pid ${record.pid})`;
        },
      };
    }),
  );
  return found.filter((repair) => repair !== undefined);
}

/** The pid may belong to another program by now, or to a hub in a container that is not visible here. */
export async function isStale(record: RunFile, data: string): Promise<boolean> {
  const token = await readManagementToken(data).catch(() => undefined); // unsafe permissions are reported elsewhere
  // Without the token no hub can prove its identity, so a live process counts as the hub.
  if (token === undefined || !URL.canParse(record.url)) return !isAlive(record.pid);
  const verdict = await checkProof(record, token);
  return verdict === "unreachable" || (verdict !== "ours" && !isAlive(record.pid));
}

async function findLocks({ config, data }: HubPaths): Promise<Repair[]> {
  const secrets = join(data, "secrets");
  const guarded = [join(config, SERVER_FILE), join(config, GROUP_FILE), secrets, join(secrets, "master.key")];
  const locks = await Promise.all(guarded.map((path) => findAbandonedLock(path)));
  return locks.flatMap((lock) => (lock === undefined ? [] : [leftBehind(lock)]));
}

async function findTemps({ config, ...folders }: HubPaths): Promise<Repair[]> {
  const files = [SERVER_FILE, GROUP_FILE].map((name) => join(config, name));
  // Config files may be links; temporary files are beside the target.
  const targets = await Promise.all(files.map((path) => resolveLinks(path).catch(() => path)));
  const all = new Set([...targets.map((path) => dirname(path)), ...foldersWithTemps(folders)]);
  const temps = await Promise.all([...all].map((folder) => findStaleTemps(folder)));
  return temps.flat().map(leftBehind);
}

function leftBehind(path: string): Repair {
  return {
    section: "files",
    name: "files",
    state: "warning",
    message: `${path} was left by a process that has exited`,
    run: async () => {
      await rm(path, { force: true });
      return `removed ${path}, left by a process that has exited`;
    },
  };
}
