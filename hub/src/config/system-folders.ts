// The folders that each system has for what programs keep for a user. Which program puts what there is left to paths.ts and
// to the table of clients/.

import { posix, win32 } from "node:path";

/** What decides where files are. */
export interface Surroundings {
  readonly env: Readonly<Record<string, string | undefined>>;
  readonly platform: NodeJS.Platform;
  /** The user's home folder. */
  readonly home: string;
}

type OfUser = Pick<Surroundings, "env" | "home">;

/** Windows: what goes along to other machines. */
export function roamingFolder({ env, home }: OfUser): string {
  return env["APPDATA"] || win32.join(home, "AppData", "Roaming");
}

/** Windows: what stays on this one. */
export function localFolder({ env, home }: OfUser): string {
  return env["LOCALAPPDATA"] || win32.join(home, "AppData", "Local");
}

/** macOS. */
export function supportFolder({ home }: OfUser): string {
  return posix.join(home, "Library", "Application Support");
}

/** The XDG specification: a relative path is invalid and is ignored. */
export function xdgFolder({ env, home }: OfUser, variable: string, usual: string): string {
  const given = env[variable];
  return given !== undefined && posix.isAbsolute(given) ? given : posix.join(home, usual);
}
