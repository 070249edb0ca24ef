// Location of the chat server's private folder, and its creation.

import { chmod, mkdir } from "node:fs/promises";
import { join, posix, resolve, win32 } from "node:path";
import { exists } from "@plugboard/shared/files/exists";
import { moveHome } from "./move-home.ts";

export interface HostEnvironment {
  readonly env: Readonly<Record<string, string | undefined>>;
  readonly platform: NodeJS.Platform;
  readonly home: string;
}

export interface HomeLocation {
  readonly dir: string;
  /** The system's data folder, if `PLUGBOARD_HOME` names another one: it may have chats from before that was set. */
  readonly earlier?: string;
}

export interface ChatHome {
  readonly dir: string;
  readonly config: string;
  readonly database: string;
  /** Log of sent messages, one per line. */
  readonly sent: string;
  /** Held by the process that runs the sources. */
  readonly lock: string;
  /** Their states, written by that process. */
  readonly states: string;
}

/**
 * `PLUGBOARD_CHAT_HOME`; else `data/chat` in `PLUGBOARD_HOME` or in the home of the hub that runs this server; else the
 * system's data folder.
 *
 * @example locateHome({ env: process.env, platform: process.platform, home: homedir() }).dir
 */
export function locateHome(environment: HostEnvironment): HomeLocation {
  const { env } = environment;
  const own = env["PLUGBOARD_CHAT_HOME"];
  if (own) return { dir: resolve(own) };
  const system = systemHome(environment);
  const hub = env["PLUGBOARD_HOME"] || env["PLUGBOARD_HUB_HOME"];
  if (!hub) return { dir: system };
  return { dir: resolve(hub, "data", "chat"), earlier: system };
}

export interface PrepareOptions extends HostEnvironment {
  /** Writes to stderr. */
  readonly log: (line: string) => void;
}

/** Returns the existing, private folder to use. */
export async function prepareHome({ log, ...environment }: PrepareOptions): Promise<ChatHome> {
  const { dir, earlier } = locateHome(environment);
  const home = homeFiles(dir);
  if (earlier !== undefined && !(await hasChats(home)))
    await takeOver(homeFiles(earlier), home, { log, ...environment });
  await createHome(home);
  return home;
}

async function takeOver(earlier: ChatHome, home: ChatHome, { log, env }: PrepareOptions): Promise<void> {
  if (!(await hasChats(earlier))) return;
  const { dir: from, database } = earlier;
  const refusal = await moveHome({ from, to: home.dir, database, env });
  if (refusal === undefined) return log(`PLUGBOARD_HOME is set: moved the chats from ${from} to ${home.dir}`);
  const why = refusal === "in use" ? "another process uses them" : "PLUGBOARD_HOME is a temporary folder";
  log(`The chats in ${from} are not moved, since ${why}. To use them: PLUGBOARD_CHAT_HOME=${from}`);
}

async function hasChats({ config, database }: ChatHome): Promise<boolean> {
  return (await exists(config)) || (await exists(database));
}

export function homeFiles(dir: string): ChatHome {
  return {
    dir,
    config: join(dir, "chat.json"),
    database: join(dir, "chat.db"),
    sent: join(dir, "sent.jsonl"),
    lock: join(dir, "sources.lock"),
    states: join(dir, "sources.json"),
  };
}

function systemHome(environment: HostEnvironment): string {
  const { env, platform, home } = environment;
  if (platform === "win32")
    return win32.join(env["LOCALAPPDATA"] || win32.join(home, "AppData", "Local"), "plugboard-chat");
  if (platform === "darwin") return posix.join(home, "Library", "Application Support", "plugboard-chat");
  return posix.join(xdgFolder(env["XDG_DATA_HOME"], posix.join(home, ".local/share")), "plugboard-chat");
}

/** The XDG specification: a relative path is invalid and is ignored. */
function xdgFolder(given: string | undefined, defaultPath: string): string {
  return given !== undefined && posix.isAbsolute(given) ? given : defaultPath;
}

export async function createHome({ dir }: ChatHome): Promise<void> {
  await mkdir(dir, { recursive: true, mode: 0o700 });
  // It may already exist with other permissions.
  await chmod(dir, 0o700);
}
