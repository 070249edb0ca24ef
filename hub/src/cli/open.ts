// `plugboard open`: the address of the hub in a browser. Without a terminal it is only printed.

import { spawn } from "node:child_process";
import { requireHub } from "./find-hub.ts";
import type { GlobalOptions, Io } from "./io.ts";
import { Output } from "./output.ts";
import type { Register } from "./program.ts";

export const openCommand: Register = (program, { io, done }) => {
  program
    .command("open")
    .description("print the address of the hub, and open it in a browser on a terminal")
    .action(async (options: GlobalOptions) => {
      const out = new Output(io, options);
      const { url } = await requireHub(io, options);
      const opened = out.terminal && !out.json && (await openBrowser(io, url));
      if (out.json) out.data({ url });
      else out.print(`${url}/`);
      if (out.terminal && !out.json && !opened) out.note("No browser could be opened");
      done(0);
    });
};

/** No shell is involved, so that an address is nothing but an address. */
function openBrowser({ platform, env }: Io, url: string): Promise<boolean> {
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
