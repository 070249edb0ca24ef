// Files of the hub that others on the machine can read: secrets, the token, records of calls, a config with credentials.

import { chmod, lstat, readdir, stat } from "node:fs/promises";
import { join } from "node:path";
import { tokenPath } from "../auth/management-token.ts";
import { holdsCredentials } from "../config/credentials.ts";
import { SERVER_FILE } from "../config/documents.ts";
import { HubError } from "../errors.ts";
import { readServers } from "./check-config.ts";
import type { Places } from "./record.ts";
import type { Repair } from "./repair.ts";

const OTHERS = 0o077;

export async function findOpenFiles(places: Places): Promise<Repair[]> {
  // Windows keeps such rights elsewhere, and shows every file as readable by all.
  if (process.platform === "win32") return [];
  const { data, state } = places;
  const secrets = join(data, "secrets");
  const found = await Promise.all([
    ...[secrets, ...(await namesIn(secrets, /./)), tokenPath(data)].map((path) => findOpen(path, "secrets", "problem")),
    ...(await namesIn(data, /^calls\.db/)).map((path) => findOpen(path, "call log", "warning")),
    ...(await namesIn(state, /^hub(?:-[0-9a-f]{8})?\.json$/)).map((path) => findOpen(path, "hub", "problem")),
    ...(await namesIn(state, /^(?:hub(?:-[0-9a-f]{8})?\.log|log\.jsonl(?:\.\d+)?)$/)).map((path) =>
      findOpen(path, "log", "warning"),
    ),
    findOpenConfig(places),
  ]);
  return found.filter((repair) => repair !== undefined);
}

async function findOpen(path: string, name: string, state: Repair["state"]): Promise<Repair | undefined> {
  const info = await lstat(path).catch(() => undefined);
  // A link has no rights of its own, and what it leads to may be meant for others.
  if (info === undefined || !(info.isFile() || info.isDirectory()) || (info.mode & OTHERS) === 0) return undefined;
  return {
    name,
    state,
    message: `${path} is open to other users of this machine`,
    run: () => makePrivate(path, info.isDirectory() ? 0o700 : 0o600),
  };
}

/** A config without credentials may be anybody's to read. */
async function findOpenConfig({ config }: Places): Promise<Repair | undefined> {
  const path = join(config, SERVER_FILE);
  const info = await stat(path).catch(() => undefined);
  if (info === undefined || (info.mode & OTHERS) === 0) return undefined;
  const enabled = (await readServers(config)).filter((server) => server.enabled);
  const holders = enabled.filter(holdsCredentials).map(({ name }) => name);
  if (holders.length === 0) return undefined;
  return {
    name: "config",
    state: "warning",
    message: `${path} holds credentials (${holders.join(", ")}) and can be read by other users`,
    fix: `chmod 600 '${path}', or keep them out of it: plugboard secret set NAME`,
    run: () => makePrivate(path, 0o600),
  };
}

async function makePrivate(path: string, mode: 0o600 | 0o700): Promise<string> {
  await chmod(path, mode).catch((error: unknown) => {
    throw new HubError("IoError", `Cannot change the rights of ${path}`, { detail: String(error), cause: error });
  });
  return `made ${path} private (${mode.toString(8).padStart(4, "0")})`;
}

async function namesIn(folder: string, wanted: RegExp): Promise<string[]> {
  const names = await readdir(folder).catch((): string[] => []); // not there yet, or not ours to look into
  return names.filter((name) => wanted.test(name)).map((name) => join(folder, name));
}
