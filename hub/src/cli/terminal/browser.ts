// Opens a URL in the user's browser.

import { spawn } from "node:child_process";
import type { Io } from "../io.ts";

/** Whether there is a browser in front of the user: not over SSH, and not without a screen. */
export function hasBrowser({ platform, env }: Pick<Io, "platform" | "env">): boolean {
  if (["SSH_CONNECTION", "SSH_CLIENT", "SSH_TTY"].some((name) => Boolean(env[name]))) return false;
  if (platform === "darwin" || platform === "win32") return true;
  return Boolean(env["DISPLAY"]) || Boolean(env["WAYLAND_DISPLAY"]);
}

/** Without a shell, so that the URL cannot be a command. */
export function openBrowser({ platform, env }: Pick<Io, "platform" | "env">, url: string): Promise<boolean> {
  const [command = "", ...args] = OPENERS[platform] ?? ["xdg-open"];
  return new Promise((resolve) => {
    const child = spawn(command, [...args, url], { detached: true, stdio: "ignore", env: { ...env } });
    child.once("error", () => resolve(false));
    child.once("spawn", () => {
      child.unref();
      resolve(true);
    });
  });
}

const OPENERS: Readonly<Partial<Record<NodeJS.Platform, readonly string[]>>> = {
  darwin: ["open"],
  win32: ["rundll32", "url.dll,FileProtocolHandler"],
};
