// `plugboard config`: shows where the config files are, prints and validates them, and prints their schema.

import { withAccess } from "../hub-access/hub-access.ts";
import { fromBody } from "../input/error-body.ts";
import type { GlobalOptions, Io } from "../io.ts";
import { Output, printError } from "../terminal/output.ts";
import type { Register } from "../command.ts";
import { hubFoldersOf } from "../hub-access/run-file.ts";
import { count } from "../terminal/text.ts";

export const configCommand: Register = (program, { io, done }) => {
  const config = program.command("config").description("inspect the config: path, show, validate, schema");
  config
    .command("path")
    .description("print the folder of mcp_server.json and group.json")
    .action((options: GlobalOptions) => {
      path(io, options);
    });
  config
    .command("show")
    .description("print the effective config, secrets hidden")
    .action(async (options: GlobalOptions) => {
      await show(io, options);
    });
  config
    .command("validate")
    .description("check the config files, or one file; exit 2 if something is wrong")
    .argument("[file]", "a file with mcpServers, groups, or both")
    .action(async (file: string | undefined, options: GlobalOptions) => done(await validate(io, file, options)));
  config
    .command("schema")
    .description("print the JSON Schema of a file")
    .argument("[file]", "servers or groups", "servers")
    .action(async (file: string, options: GlobalOptions) => {
      const { configSchema } = await import("../input/config-schema.ts");
      new Output(io, options).data(configSchema(file));
    });
};

function path(io: Io, options: GlobalOptions): void {
  const out = new Output(io, options);
  const { config, data, state, cache, log } = hubFoldersOf(io, options);
  if (out.json) out.data({ config, data, state, cache, log });
  else out.print(config);
}

async function show(io: Io, options: GlobalOptions): Promise<void> {
  await withAccess(io, options, async ({ api, out }) => out.data((await api.config.get()).config));
}

async function validate(io: Io, file: string | undefined, options: GlobalOptions): Promise<number> {
  const out = new Output(io, options);
  const { checkFiles } = await import("../../doctor/check-config.ts");
  const check = await checkFiles(hubFoldersOf(io, options).config, file);
  if (out.json) out.data(check);
  else if (check.valid) out.print(`Valid: ${count(check.servers, "server")}, ${count(check.groups, "group")}`);
  for (const warning of out.json ? [] : check.warnings) out.warn(warning);
  if (check.valid) return 0;
  if (out.json) return INVALID;
  for (const error of check.errors) printError(fromBody(error), io, options);
  return INVALID;
}

const INVALID = 2;
