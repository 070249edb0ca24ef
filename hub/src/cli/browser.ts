// Opens an address in the user's browser.

import { spawn } from "node:child_process";
import type { Io } from "./io.ts";

/** No shell is involved, so that an address is nothing but an address. */
export function openBrowser({ platform, env }: Io, url: string): Promise<boolean> {
  const [command, ...args] =
    platform === "darwin" ? ["open", url] : platform === "win32" ? ["explorer.exe", url] : ["xdg-open", url];
  return new Promise((resolve) => {
    const child = spawn(command ?? "", args, { detached: true, stdio: "ignore", env: { ...env } });
    child.once("error", () => resolve(false));
    child.once("spawn", () => {
      child.unref();
      resolve(true);
    });
  });
}
