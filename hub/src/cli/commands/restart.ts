// `plugboard restart`: restarts the hub on the same port, or one of its servers.

import { requireHub } from "../hub-access/find-hub.ts";
import type { Io } from "../io.ts";
import { Output } from "../terminal/output.ts";
import type { Register } from "../command.ts";
import { act } from "../input/server-action.ts";
import { start, type StartOptions } from "./start.ts";
import { waiting } from "../terminal/spinner.ts";

export const restartCommand: Register = (program, { io }) => {
  program
    .command("restart")
    .description("restart the hub in the background, or one server of it")
    .argument("[server]", "a server of the running hub")
    .option("--port <n>", "port to listen on (default: as before)")
    .option("--host <address>", "address to listen on")
    .option("--insecure-http", "allow a public_url that is http, in a network that you trust")
    .option("--no-wait", "do not wait for the servers")
    .option("--no-ui", "do not serve the web interface")
    .action(async (server: string | undefined, options: StartOptions) => {
      if (server === undefined) await restart(io, options);
      else await act(io, await requireHub(io, options), { server, action: "restart", options });
    });
};

async function restart(io: Io, options: StartOptions): Promise<void> {
  const { stopDaemon } = await import("../hub-access/daemon.ts");
  const record = await waiting(io, new Output(io, options), "stopping the hub", stopDaemon(io, options));
  // Keep the address, which clients have in their config.
  const { host, port } = record?.listen ?? {};
  const before = { ...(host === undefined ? {} : { host }), ...(port === undefined ? {} : { port: String(port) }) };
  await start(io, { ...before, ...options });
}
