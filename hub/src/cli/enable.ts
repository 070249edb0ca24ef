// `plugboard enable`: switches a server on, for good. One that does not start is switched off again, with the reason.

import { withAccess } from "./access.ts";
import type { GlobalOptions } from "./io.ts";
import type { Register } from "./program.ts";
import { count } from "./text.ts";
import { waiting } from "./waiting.ts";

export const enableCommand: Register = (program, { io, done }) => {
  program
    .command("enable")
    .description("switch a server on and start it")
    .argument("<server>")
    .action(async (name: string, options: GlobalOptions) => {
      await withAccess(io, options, async ({ api, out, where }) => {
        const { config } = await api.getServer(name);
        const server = await waiting(io, out, `starting ${config.name}`, api.enableServer(config.id));
        const file = where("mcp_server.json");
        const tools = server.status === "running" ? ` (${count(server.tools.length, "tool")})` : "";
        out.changed(`Enabled ${config.name}${tools} in ${file}`, server);
      });
      done(0);
    });
};
