// The command line: one file per command, registered here. A new command is a new file and a line below.

import { Command, CommanderError } from "commander";
import { HubError, toHubError } from "../errors.ts";
import { VERSION } from "../version.ts";
import { callCommand } from "./call.ts";
import type { Io } from "./io.ts";
import { lsCommand } from "./ls.ts";
import { printError } from "./output.ts";
import { secretCommand } from "./secret.ts";
import { stdioCommand } from "./stdio.ts";
import { testCommand } from "./test.ts";
import { toolsCommand } from "./tools.ts";
import { upCommand } from "./up.ts";

/** Adds a command. Its action gives the exit code. */
export type Register = (program: Command, io: Io, done: (exitCode: number) => void) => void;

const COMMANDS: readonly Register[] = [
  upCommand,
  stdioCommand,
  lsCommand,
  toolsCommand,
  callCommand,
  testCommand,
  secretCommand,
];

const USAGE_ERROR = 2;

const EXIT_CODES = `
Exit codes: 0 ok, 1 failed, 2 usage, 3 credentials needed, 4 hub or server unreachable,
            5 the tool returned an error, 6 not found, 7 conflict, 130 interrupted`;

/** Runs one command to its end and gives the exit code. Never throws. */
export async function run(args: readonly string[], io: Io): Promise<number> {
  let exitCode = 0;
  const program = new Command("plugboard")
    .description("All your MCP servers behind one endpoint")
    .version(VERSION, "-V, --version")
    .option("--config <dir>", "folder of mcp_server.json and group.json")
    .option("--json", "machine-readable output")
    .addHelpText(
      "after",
      `${EXIT_CODES}\n\nFirst:  plugboard up      Then:  plugboard tools, plugboard call <server.tool> key=value`,
    )
    .enablePositionalOptions()
    .exitOverride()
    .configureOutput({
      writeOut: (text) => void io.stdout.write(text),
      writeErr: (text) => void io.stderr.write(text),
    });
  for (const register of COMMANDS) register(program, io, (code) => (exitCode = code));
  inheritSettings(program);
  // What stands before the command counts as if it stood behind it.
  program.hook("preAction", (_, command) => {
    for (const [name, value] of Object.entries(program.opts())) {
      if (command.getOptionValue(name) === undefined) command.setOptionValue(name, value);
    }
  });
  try {
    await program.parseAsync([...args], { from: "user" });
    return exitCode;
  } catch (thrown) {
    // Commander has printed its own message; asking for help or the version is no error.
    if (thrown instanceof CommanderError) return thrown.exitCode === 0 ? 0 : USAGE_ERROR;
    const error = toHubError(thrown);
    printError(error, io, program.optsWithGlobals()["json"] === true || args.includes("--json"));
    return error instanceof HubError ? error.meaning.exit : 1;
  }
}

/** Every command takes the global options too, in any position, and reports its errors to us. */
function inheritSettings(parent: Command): void {
  for (const command of parent.commands) {
    command.exitOverride().copyInheritedSettings(parent);
    command
      .option("--config <dir>", "folder of mcp_server.json and group.json")
      .option("--json", "machine-readable output");
    inheritSettings(command);
  }
}
