// `plugboard version`: the version of this program and of the running hub.

import { VERSION } from "../../version.ts";
import { findHub } from "../hub-access/find-hub.ts";
import type { GlobalOptions } from "../io.ts";
import { Output } from "../terminal/output.ts";
import type { Register } from "../command.ts";

export const versionCommand: Register = (program, { io }) => {
  program
    .command("version")
    .description("show the versions of the command, of Node and of the running hub")
    .action(async (options: GlobalOptions) => {
      const out = new Output(io, options);
      // Errors of the hub do not matter here.
      const hub = await findHub(io, options).catch(() => undefined);
      const running = await hub?.client.status().catch(() => undefined);
      const { version: node } = process;
      if (out.json) out.data({ version: VERSION, node, hub: running?.version ?? null });
      else {
        out.print(`plugboard ${VERSION}, Node ${node.slice(1)}`);
        if (running !== undefined && running.version !== VERSION) {
          out.print(`The running hub is version ${running.version}: plugboard restart`);
        }
      }
    });
};
