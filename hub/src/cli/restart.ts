// `plugboard restart`: the hub, on the same port unless told otherwise; with a name, one server of it.

import { requireHub } from "./find-hub.ts";
import type { Io } from "./io.ts";
import { Output } from "./output.ts";
import type { Register } from "./program.ts";
import { act } from "./server-action.ts";
import { start, type StartOptions } from "./start.ts";
import { waiting } from "./waiting.ts";

export const restartCommand: Register = (program, { io, done }) => {
  program
    .command("restart")
    .description("restart the hub in the background, or one server of it")
    .argument("[server]", "a server of the running hub")
    .option("--port <n>", "port to listen on (default: as before)")
    .option("--host <address>", "loopback address to listen on")
    .option("--no-wait", "do not wait for the servers")
    .action(async (server: string | undefined, options: StartOptions) => {
      if (server === undefined) await restart(io, options);
      else await act(io, await requireHub(io, options), { server, action: "restart", options });
      done(0);
    });
};

async function restart(io: Io, options: StartOptions): Promise<void> {
  const { stopDaemon } = await import("./daemon.ts");
  const record = await waiting(io, new Output(io, options), "stopping the hub", stopDaemon(io, options));
  // Its clients know it by its address.
  const { hostname, port } = record === undefined ? {} : new URL(record.url);
  const before = port === undefined ? {} : { port, host: hostname?.replaceAll(/[[\]]/g, "") ?? "127.0.0.1" };
  await start(io, { ...before, ...options });
}
