// `plugboard tools`: the tools of a server or of a group, as a client of that group sees them.

import type { Server } from "../api/schemas/server.ts";
import type { GroupTool } from "../api/schemas/tool.ts";
import { withAccess, type Access } from "./access.ts";
import { notRunning, requireEnabled } from "./down.ts";
import type { GlobalOptions } from "./io.ts";
import type { Register } from "./program.ts";
import { firstLine } from "./text.ts";

interface ToolsOptions extends GlobalOptions {
  readonly group?: string;
  readonly schema?: boolean;
}

export const toolsCommand: Register = (program, { io, done }) => {
  program
    .command("tools")
    .description("list the tools of a server or a group")
    .argument("[server]", "only this server's")
    .option("--group <name>", "the group to look at")
    .option("--schema", "with the schema of their arguments")
    .action(async (server: string | undefined, options: ToolsOptions) => {
      await withAccess(io, options, (access) => tools(access, server, options));
      done(0);
    });
};

async function tools(
  access: Access,
  server: string | undefined,
  { group = "default", schema }: ToolsOptions,
): Promise<void> {
  const { api, out } = access;
  const name = server === undefined ? undefined : (await api.getServer(server)).config.name;
  await api.getGroup(group); // an unknown group is an error before anything starts
  await access.ready(name);
  const shown = (await api.listGroupTools(group)).filter((tool) => name === undefined || tool.server === name);
  if (shown.length === 0 && name !== undefined) requireUp(await api.getServer(name));
  if (out.json) return out.data(shown.map(toJson));
  if (shown.length === 0) return out.print("No tools.");
  if (schema === true) return out.printForeign(shown.map(withSchema).join("\n"));
  out.table(shown.map((tool) => [tool.name, firstLine(tool.description)]));
}

/** That nothing is listed must not look like a server that has nothing. */
function requireUp(server: Server): void {
  requireEnabled(server);
  if (server.status !== "running" && server.tools.length === 0) throw notRunning(server);
}

/** MCP's own spelling beside that of the API: what is printed here is often pasted into an MCP client. */
function toJson(tool: GroupTool): unknown {
  return { ...tool, inputSchema: tool.input_schema };
}

function withSchema({ name, description, input_schema }: GroupTool): string {
  const text = description.trim() === "" ? [] : description.trim().split("\n");
  const json = JSON.stringify(input_schema, null, 2).split("\n");
  return [name, ...[...text, ...json].map((line) => `  ${line}`), ""].join("\n");
}
