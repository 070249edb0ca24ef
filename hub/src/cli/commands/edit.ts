// `plugboard edit`: changes the entry of a server by a JSON patch. To use an editor, open the file: changes take effect when it
// is saved.

import { text as readAll } from "node:stream/consumers";
import { withAccess } from "../hub-access/hub-access.ts";
import { parseJsonObject } from "../input/arguments.ts";
import type { GlobalOptions } from "../io.ts";
import type { Register } from "../command.ts";

interface EditOptions extends GlobalOptions {
  readonly replace?: boolean;
}

export const editCommand: Register = (program, { io }) => {
  program
    .command("edit")
    .description("change a server")
    .argument("<server>", "name or id of the server")
    .argument("<json>", "the fields to change, null removes one; or - for JSON on stdin")
    .option("--replace", "replace the whole entry by the JSON")
    .addHelpText("after", EXAMPLES)
    .action(async (name: string, given: string, options: EditOptions) => {
      const { value: entry } = parseJsonObject(given === "-" ? await readAll(io.stdin) : given, "The entry is");
      await withAccess(io, options, async ({ api, out, where }) => {
        const { config } = await api.servers.get(name);
        const change = options.replace === true ? api.servers.update : api.servers.patch;
        const server = await change.call(api.servers, config.id, entry);
        out.changed(`Changed ${server.config.name} in ${where("mcp_server.json")}`, server);
      });
    });
};

const EXAMPLES = `
  plugboard edit memory '{"description": "Notes", "env": {"LEVEL": "debug"}}'
  plugboard edit memory '{"description": null}'
  plugboard get memory --json | jq .config | plugboard edit memory - --replace`;
