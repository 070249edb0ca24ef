// `plugboard config`: the files: where they are, what they mean, whether they are right, and their schema.

import { withAccess } from "./access.ts";
import { fromBody } from "./error-body.ts";
import type { GlobalOptions, Io } from "./io.ts";
import { Output, printError } from "./output.ts";
import type { Register } from "./program.ts";
import { placesOf } from "./record.ts";
import { count } from "./text.ts";

export const configCommand: Register = (program, { io, done }) => {
  const config = program.command("config").description("look at the config: path, show, validate, schema");
  config
    .command("path")
    .description("print the folder of mcp_server.json and group.json")
    .action((options: GlobalOptions) => {
      path(io, options);
      done(0);
    });
  config
    .command("show")
    .description("print the config in force, secrets hidden")
    .action(async (options: GlobalOptions) => {
      await show(io, options);
      done(0);
    });
  config
    .command("validate")
    .description("check the files, or one file that is given; exit 2 if something is wrong")
    .argument("[file]", "a file with mcpServers, groups, or both")
    .action(async (file: string | undefined, options: GlobalOptions) => done(await validate(io, file, options)));
  config
    .command("schema")
    .description("print the JSON Schema of a file")
    .argument("[file]", "servers or groups", "servers")
    .action(async (file: string, options: GlobalOptions) => {
      const { configSchema } = await import("./config-schema.ts");
      new Output(io, options).data(configSchema(file));
      done(0);
    });
};

function path(io: Io, options: GlobalOptions): void {
  const out = new Output(io, options);
  const { config, data, state, cache, log } = placesOf(io, options);
  if (out.json) out.data({ config, data, state, cache, log });
  else out.print(config);
}

async function show(io: Io, options: GlobalOptions): Promise<void> {
  await withAccess(io, options, async ({ api, out }) => out.data((await api.config()).config));
}

async function validate(io: Io, file: string | undefined, options: GlobalOptions): Promise<number> {
  const out = new Output(io, options);
  const { checkFiles } = await import("./check-config.ts");
  const check = await checkFiles(placesOf(io, options).config, file);
  if (out.json) out.data(check);
  else if (check.valid) out.print(`Valid: ${count(check.servers, "server")}, ${count(check.groups, "group")}`);
  for (const warning of out.json ? [] : check.warnings) out.warn(warning);
  if (check.valid) return 0;
  if (out.json) return INVALID;
  for (const error of check.errors) printError(fromBody(error), io, options);
  return INVALID;
}

const INVALID = 2;
