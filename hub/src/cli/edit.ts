// `plugboard edit`: changes the entry of a server that is there. Opening an editor is left to the shell: the files are
// plain, and a saved one takes effect at once.

import { text as readAll } from "node:stream/consumers";
import { withAccess } from "./access.ts";
import { parseJson } from "./arguments.ts";
import type { GlobalOptions } from "./io.ts";
import type { Register } from "./program.ts";

interface EditOptions extends GlobalOptions {
  readonly replace?: boolean;
}

export const editCommand: Register = (program, { io, done }) => {
  program
    .command("edit")
    .description("change a server")
    .argument("<server>")
    .argument("<json>", "the members to change, null removes one; or - for JSON on stdin")
    .option("--replace", "the JSON is the whole entry")
    .addHelpText("after", EXAMPLES)
    .action(async (name: string, given: string, options: EditOptions) => {
      const { value: entry } = parseJson(given === "-" ? await readAll(io.stdin) : given, "The entry is");
      await withAccess(io, options, async ({ api, out, where }) => {
        const { config } = await api.getServer(name);
        const change = options.replace === true ? api.updateServer : api.patchServer;
        const server = await change.call(api, config.id, entry);
        out.changed(`Changed ${server.config.name} in ${where("mcp_server.json")}`, server);
      });
      done(0);
    });
};

const EXAMPLES = `
  plugboard edit memory '{"description": "Notes", "env": {"LEVEL": "debug"}}'
  plugboard edit memory '{"description": null}'
  plugboard get memory --json | jq .config | plugboard edit memory - --replace`;
