// `plugboard stop`: the hub, wherever it was started on this machine; with a name, one server of it.

import { requireHub } from "./find-hub.ts";
import type { GlobalOptions, Io } from "./io.ts";
import { Output } from "./output.ts";
import type { Register } from "./program.ts";
import { act } from "./server-action.ts";
import { waiting } from "./waiting.ts";

export const stopCommand: Register = (program, { io, done }) => {
  program
    .command("stop")
    .description("stop the hub, or one server of it")
    .argument("[server]", "a server of the running hub")
    .action(async (server: string | undefined, options: GlobalOptions) => {
      if (server === undefined) await stop(io, options);
      else await act(io, await requireHub(io, options), { server, action: "stop", options });
      done(0);
    });
};

async function stop(io: Io, options: GlobalOptions): Promise<void> {
  const out = new Output(io, options);
  const { stopDaemon } = await import("./daemon.ts");
  const record = await waiting(io, out, "stopping the hub", stopDaemon(io, options));
  if (record === undefined) out.changed("No hub is running", { stopped: false });
  else out.changed(`Stopped the hub (pid ${record.pid})`, { stopped: true, ...record });
}
