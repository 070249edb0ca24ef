// `plugboard enable`: enables a server and starts it. If it does not start, it is disabled again and the error is shown.

import { withAccess } from "../hub-access/hub-access.ts";
import type { GlobalOptions } from "../io.ts";
import type { Register } from "../command.ts";
import { count } from "../terminal/text.ts";
import { waiting } from "../terminal/spinner.ts";

export const enableCommand: Register = (program, { io }) => {
  program
    .command("enable")
    .description("enable a server and start it")
    .argument("<server>", "name or id of the server")
    .action(async (name: string, options: GlobalOptions) => {
      await withAccess(io, options, async ({ api, out, where }) => {
        const { config } = await api.servers.get(name);
        const server = await waiting(io, out, `starting ${config.name}`, api.servers.enable(config.id));
        const file = where("mcp_server.json");
        const tools = server.status === "running" ? ` (${count(server.tools.length, "tool")})` : "";
        out.changed(`Enabled ${config.name}${tools} in ${file}`, server);
      });
    });
};
