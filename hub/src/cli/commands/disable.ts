// `plugboard disable`: stops a server and prevents its start.

import { withAccess } from "../hub-access/hub-access.ts";
import type { GlobalOptions } from "../io.ts";
import type { Register } from "../command.ts";

export const disableCommand: Register = (program, { io }) => {
  program
    .command("disable")
    .description("stop a server and do not start it again")
    .argument("<server>", "name or id of the server")
    .action(async (name: string, options: GlobalOptions) => {
      await withAccess(io, options, async ({ api, out, where }) => {
        const { config } = await api.servers.get(name);
        const server = await api.servers.disable(config.id);
        out.changed(`Disabled ${config.name} in ${where("mcp_server.json")}`, server);
      });
    });
};
