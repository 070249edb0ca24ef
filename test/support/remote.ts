// One of our fixture servers on HTTP, started by the test: the hub only connects to it.

import { spawn } from "node:child_process";
import { once } from "node:events";
import { join } from "node:path";
import { FIXTURES } from "./hub.ts";
import { nextLine } from "./processes.ts";

export interface Remote {
  readonly url: string;
  readonly port: string;
  /** An entry of mcp_server.json that connects to it. */
  readonly entry: { readonly url: string };
  /** Kills the server, like a crash. */
  readonly stop: () => Promise<void>;
}

/** A given port restarts the server at its old address. */
export async function startRemote(name: string, args: readonly string[] = [], port = "0"): Promise<Remote> {
  const child = spawn(process.execPath, [join(FIXTURES, `${name}.mjs`), ...args], {
    stdio: ["pipe", "pipe", "inherit"],
    env: { PORT: port },
  });
  const exited = once(child, "exit");
  const url = await nextLine(child.stdout);
  return {
    url,
    port: new URL(url).port,
    entry: { url },
    stop: async () => {
      child.kill("SIGKILL");
      await exited;
    },
  };
}
