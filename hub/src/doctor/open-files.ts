// Finds files of the hub that other users can read: secrets, the token, the call log, a config with credentials.

import { chmod, lstat, readdir, stat } from "node:fs/promises";
import { join } from "node:path";
import { tokenPath } from "../auth/management-token.ts";
import { holdsCredentials } from "../config/parse/credentials.ts";
import { SERVER_FILE } from "../config/parse/documents.ts";
import { HubError } from "../errors.ts";
import { readServers } from "./check-config.ts";
import type { HubPaths } from "../config/files/paths.ts";
import type { Repair } from "./repair.ts";

const OTHERS = 0o077;

export async function findOpenFiles(folders: HubPaths): Promise<Repair[]> {
  // Windows shows every file as readable by all; permissions are kept elsewhere.
  if (process.platform === "win32") return [];
  const { data, state } = folders;
  const secrets = join(data, "secrets");
  const found = await Promise.all([
    ...[secrets, ...(await namesIn(secrets, /./)), tokenPath(data)].map((path) => findOpen(path, "secrets", "problem")),
    ...(await namesIn(data, /^calls\.db/)).map((path) => findOpen(path, "call log", "warning")),
    ...(await namesIn(state, /^hub(?:-[0-9a-f]{8})?\.json$/)).map((path) => findOpen(path, "hub", "problem")),
    ...(await namesIn(state, /^(?:hub(?:-[0-9a-f]{8})?\.log|log\.jsonl(?:\.\d+)?)$/)).map((path) =>
      findOpen(path, "log", "warning"),
    ),
    findOpenConfig(folders),
  ]);
  return found.filter((repair) => repair !== undefined);
}

async function findOpen(path: string, name: string, state: Repair["state"]): Promise<Repair | undefined> {
  const info = await lstat(path).catch(() => undefined);
  // A symlink has no permissions, and its target may be readable for others on purpose.
  if (info === undefined || !(info.isFile() || info.isDirectory()) || (info.mode & OTHERS) === 0) return undefined;
  return {
    section: "files",
    name,
    state,
    message: `${path} is accessible to other users of this machine`,
    run: () => makePrivate(path, info.isDirectory() ? 0o700 : 0o600),
  };
}

/** A config without credentials may be readable by others. */
async function findOpenConfig({ config }: HubPaths): Promise<Repair | undefined> {
  const path = join(config, SERVER_FILE);
  const info = await stat(path).catch(() => undefined);
  if (info === undefined || (info.mode & OTHERS) === 0) return undefined;
  const enabled = (await readServers(config)).filter((server) => server.enabled);
  const holders = enabled.filter(holdsCredentials).map(({ name }) => name);
  if (holders.length === 0) return undefined;
  return {
    section: "files",
    name: "config",
    state: "warning",
    message: `${path} contains credentials (${holders.join(", ")}) and can be read by other users`,
    fix: `chmod 600 '${path}', or store them as secrets: plugboard secret set NAME`,
    run: () => makePrivate(path, 0o600),
  };
}

async function makePrivate(path: string, mode: 0o600 | 0o700): Promise<string> {
  await chmod(path, mode).catch((error: unknown) => {
    throw new HubError("IoError", `Cannot change the permissions of ${path}`, { detail: String(error), cause: error });
  });
  return `made ${path} private (${mode.toString(8).padStart(4, "0")})`;
}

async function namesIn(folder: string, wanted: RegExp): Promise<string[]> {
  const names = await readdir(folder).catch((): string[] => []); // does not exist yet, or is not readable
  return names.filter((name) => wanted.test(name)).map((name) => join(folder, name));
}
