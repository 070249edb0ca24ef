// `plugboard stop`: stops the hub of this machine, or one of its servers.

import { requireHub } from "../hub-access/find-hub.ts";
import type { GlobalOptions, Io } from "../io.ts";
import { Output } from "../terminal/output.ts";
import type { Register } from "../command.ts";
import { act } from "../input/server-action.ts";
import { waiting } from "../terminal/spinner.ts";

export const stopCommand: Register = (program, { io }) => {
  program
    .command("stop")
    .description("stop the hub, or one server of it")
    .argument("[server]", "a server of the running hub")
    .action(async (server: string | undefined, options: GlobalOptions) => {
      if (server === undefined) await stop(io, options);
      else await act(io, await requireHub(io, options), { server, action: "stop", options });
    });
};

async function stop(io: Io, options: GlobalOptions): Promise<void> {
  const out = new Output(io, options);
  const { stopDaemon } = await import("../hub-access/daemon.ts");
  const record = await waiting(io, out, "stopping the hub", stopDaemon(io, options));
  if (record === undefined) out.changed("No hub is running", { stopped: false });
  else out.changed(`Stopped the hub (pid ${record.pid})`, { stopped: true, ...record });
}
