// `plugboard tools`: the tools of a server or of a group, as a client of that group sees them.

import type { ExposedTool } from "../catalog/group.ts";
import type { Hub } from "../hub.ts";
import type { GlobalOptions, Io } from "./io.ts";
import { withHub } from "./open-hub.ts";
import { firstLine, printJson, table } from "./output.ts";
import type { Register } from "./program.ts";

interface ToolsOptions extends GlobalOptions {
  readonly group?: string;
}

export const toolsCommand: Register = (program, io, done) => {
  program
    .command("tools")
    .description("list the tools of a server or a group")
    .argument("[server]", "only this server's")
    .option("--group <name>", "the group to look at")
    .action(async (server: string | undefined, options: ToolsOptions) => {
      await withHub(io, options, (hub) => tools(hub, io, server, options));
      done(0);
    });
};

async function tools(hub: Hub, io: Io, server: string | undefined, { group, json }: ToolsOptions): Promise<void> {
  const name = server === undefined ? undefined : hub.supervisor.get(server).name;
  hub.catalog.group(group); // an unknown group is an error before anything starts
  if (name === undefined) await hub.start();
  else await hub.supervisor.get(name).start();
  const shown = hub.catalog.group(group).tools.filter((tool) => name === undefined || tool.server === name);
  if (json === true)
    return printJson(
      io,
      shown.map(({ definition, server: owner }) => ({ ...definition, server: owner })),
    );
  if (shown.length === 0) return void io.stdout.write("No tools.\n");
  io.stdout.write(table(shown.map(row)));
}

function row({ exposed, definition }: ExposedTool): string[] {
  return [
    exposed,
    firstLine(typeof definition["description"] === "string" ? definition["description"] : "").slice(0, 100),
  ];
}
