// `plugboard disable`: stops a server and keeps it from being started.

import { withAccess } from "./access.ts";
import type { GlobalOptions } from "./io.ts";
import type { Register } from "./program.ts";

export const disableCommand: Register = (program, { io, done }) => {
  program
    .command("disable")
    .description("switch a server off")
    .argument("<server>")
    .action(async (name: string, options: GlobalOptions) => {
      await withAccess(io, options, async ({ api, out, where }) => {
        const { config } = await api.getServer(name);
        const server = await api.disableServer(config.id);
        out.changed(`Disabled ${config.name} in ${where("mcp_server.json")}`, server);
      });
      done(0);
    });
};
