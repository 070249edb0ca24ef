// The standard per-user folders of each platform.

import { posix, win32 } from "node:path";

/** The inputs that determine the folders. */
export interface PlatformContext {
  readonly env: Readonly<Record<string, string | undefined>>;
  readonly platform: NodeJS.Platform;
  /** The user's home folder. */
  readonly home: string;
}

type UserContext = Pick<PlatformContext, "env" | "home">;

/** Windows: data that roams to other machines. */
export function roamingFolder({ env, home }: UserContext): string {
  return env["APPDATA"] || win32.join(home, "AppData", "Roaming");
}

/** Windows: data that stays on this machine. */
export function localFolder({ env, home }: UserContext): string {
  return env["LOCALAPPDATA"] || win32.join(home, "AppData", "Local");
}

/** macOS: Application Support. */
export function supportFolder({ home }: UserContext): string {
  return posix.join(home, "Library", "Application Support");
}

/** XDG: relative paths are invalid and are ignored. */
export function xdgFolder({ env, home }: UserContext, variable: string, defaultFolder: string): string {
  const given = env[variable];
  return given !== undefined && posix.isAbsolute(given) ? given : posix.join(home, defaultFolder);
}
