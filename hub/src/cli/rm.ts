// `plugboard rm`: takes a server out of the config, and stops it.

import { withAccess } from "./access.ts";
import type { GlobalOptions } from "./io.ts";
import type { Register } from "./program.ts";

export const rmCommand: Register = (program, { io, done }) => {
  program
    .command("rm")
    .alias("remove")
    .description("remove a server")
    .argument("<server>")
    .action(async (name: string, options: GlobalOptions) => {
      await withAccess(io, options, async ({ api, out, where }) => {
        const { config } = await api.getServer(name);
        await api.deleteServer(config.id);
        const file = where("mcp_server.json");
        out.changed(`Removed ${config.name} from ${file}`, { removed: config.name, file });
      });
      done(0);
    });
};
