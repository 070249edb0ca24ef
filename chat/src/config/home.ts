// Where the chat server keeps its files: one folder, for nobody but its user. A pure function, and the making of the folder.

import { chmod, mkdir } from "node:fs/promises";
import { join, posix, win32 } from "node:path";

export interface Surroundings {
  readonly env: Readonly<Record<string, string | undefined>>;
  readonly platform: NodeJS.Platform;
  readonly home: string;
}

export interface ChatHome {
  readonly dir: string;
  readonly config: string;
  readonly database: string;
  /** What was sent, one line each. */
  readonly sent: string;
  /** Held by the process that runs the sources. */
  readonly lock: string;
  /** What that process knows of them. */
  readonly states: string;
}

/** @example chatHome({ env: process.env, platform: process.platform, home: homedir() }).database */
export function chatHome(surroundings: Surroundings): ChatHome {
  const dir = surroundings.env["PLUGBOARD_CHAT_HOME"] || systemHome(surroundings);
  return {
    dir,
    config: join(dir, "chat.json"),
    database: join(dir, "chat.db"),
    sent: join(dir, "sent.jsonl"),
    lock: join(dir, "sources.lock"),
    states: join(dir, "sources.json"),
  };
}

function systemHome({ env, platform, home }: Surroundings): string {
  if (platform === "win32") {
    return win32.join(env["LOCALAPPDATA"] || win32.join(home, "AppData", "Local"), "plugboard-chat");
  }
  if (platform === "darwin") return posix.join(home, "Library", "Application Support", "plugboard-chat");
  const given = env["XDG_DATA_HOME"];
  // The XDG specification: a relative path is invalid and is ignored.
  const base = given !== undefined && posix.isAbsolute(given) ? given : posix.join(home, ".local/share");
  return posix.join(base, "plugboard-chat");
}

export async function makeHome({ dir }: ChatHome): Promise<void> {
  await mkdir(dir, { recursive: true, mode: 0o700 });
  // It may have been there already, with other rights.
  await chmod(dir, 0o700);
}
