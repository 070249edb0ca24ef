// The command line: one file per command, registered here. A new command is a new file and a line below. What a command
// needs of the hub is loaded when it runs, so that `plugboard --version` and completions answer at once.

import { PassThrough } from "node:stream";
import { Command, CommanderError } from "commander";
import { HubError, toHubError } from "../errors.ts";
import { VERSION } from "../version.ts";
import { addCommand } from "./add.ts";
import { backupCommand } from "./backup.ts";
import { callCommand } from "./call.ts";
import { callsCommand } from "./calls.ts";
import { CHAT, chat, chatCommand } from "./chat.ts";
import { clientsCommand } from "./clients.ts";
import { completeCommand } from "./complete.ts";
import { completionCommand } from "./completion.ts";
import { configCommand } from "./config.ts";
import { disableCommand } from "./disable.ts";
import { doctorCommand } from "./doctor.ts";
import { editCommand } from "./edit.ts";
import { enableCommand } from "./enable.ts";
import { EXIT_CODES_TOPIC, exitCodes, exitCodeSummary } from "./exit-codes.ts";
import { getCommand } from "./get.ts";
import { groupCommand } from "./group.ts";
import { importCommand } from "./import.ts";
import { installCommand } from "./install.ts";
import { isLauncher, separateCommand } from "./launch-words.ts";
import type { GlobalOptions, Io } from "./io.ts";
import { logsCommand } from "./logs.ts";
import { lsCommand, psCommand } from "./ls.ts";
import { openCommand } from "./open.ts";
import { addOptions, GLOBAL_OPTIONS } from "./options.ts";
import { printError } from "./output.ts";
import { overview } from "./overview.ts";
import { promptCommand } from "./prompt.ts";
import { readCommand } from "./read.ts";
import { restartCommand } from "./restart.ts";
import { rmCommand } from "./rm.ts";
import { secretCommand } from "./secret.ts";
import { startCommand } from "./start.ts";
import { statsCommand } from "./stats.ts";
import { statusCommand } from "./status.ts";
import { stdioCommand } from "./stdio.ts";
import { stopCommand } from "./stop.ts";
import { testCommand } from "./test.ts";
import { toolsCommand } from "./tools.ts";
import { uninstallCommand } from "./uninstall.ts";
import { upCommand } from "./up.ts";
import { updateCommand } from "./update.ts";
import { versionCommand } from "./version.ts";

export interface Context {
  readonly io: Io;
  /** The words of the command line, for what commander does not tell: which of them stand after `--`. */
  readonly args: readonly string[];
  /** The exit code. */
  readonly done: (exitCode: number) => void;
}

/** Adds a command. */
export type Register = (program: Command, context: Context) => void;

const COMMANDS: Readonly<Record<string, readonly Register[]>> = {
  "The hub:": [
    upCommand,
    startCommand,
    stopCommand,
    restartCommand,
    statusCommand,
    stdioCommand,
    openCommand,
    doctorCommand,
  ],
  "Servers:": [
    addCommand,
    lsCommand,
    psCommand,
    getCommand,
    editCommand,
    rmCommand,
    enableCommand,
    disableCommand,
    testCommand,
    updateCommand,
    logsCommand,
    groupCommand,
    secretCommand,
    configCommand,
  ],
  "Tools and calls:": [toolsCommand, callCommand, readCommand, promptCommand, callsCommand, statsCommand],
  "Other clients:": [clientsCommand, importCommand, installCommand, uninstallCommand, backupCommand],
  "More:": [chatCommand, completionCommand, versionCommand, completeCommand],
};

const USAGE_ERROR = 2;
const ADD = "add";

/** Runs one command to its end and gives the exit code. Never throws. */
export async function run(given: readonly string[], io: Io): Promise<number> {
  let exitCode = 0;
  const args = separated(given, io);
  const context: Context = { io, args, done: (code) => void (exitCode = code) };
  const program = createProgram(context);
  try {
    const { operands, unknown } = program.parseOptions([...args]);
    if (operands.length === 0 && unknown.length === 0) return await overview(io, program.opts());
    if (operands[0] === CHAT) return await chat(io, args);
    if (operands[0] === "help" && operands[1] === EXIT_CODES_TOPIC) {
      io.stdout.write(exitCodes(wantsJson(args)));
      return 0;
    }
    await program.parseAsync([...args], { from: "user" });
    return exitCode;
  } catch (thrown) {
    // Commander has printed its own message; asking for help or the version is no error.
    if (thrown instanceof CommanderError) return thrown.exitCode === 0 ? 0 : USAGE_ERROR;
    const error = toHubError(thrown);
    printError(error, io, { ...program.opts<GlobalOptions>(), json: wantsJson(args) });
    io.tellParent?.({ failed: error.toJSON() });
    return error.meaning.exit;
  }
}

/** A command line for `add` is its own from its launcher on. */
function separated(args: readonly string[], io: Io): readonly string[] {
  const at = args.indexOf(ADD);
  if (at < 0 || !args.slice(at).some(isLauncher)) return args;
  try {
    // One of its own: reading options sets them.
    const quiet = { ...io, stdout: new PassThrough(), stderr: new PassThrough() };
    const program = createProgram({ io: quiet, args, done: () => undefined });
    const { operands, unknown } = program.parseOptions([...args]);
    if (operands[0] !== ADD) return args;
    const words = [...operands.slice(1), ...unknown];
    const command = program.commands.find((each) => each.name() === ADD);
    return separateCommand(args, command?.parseOptions(words).operands ?? []);
  } catch {
    return args; // what is wrong with it is said when it is run
  }
}

/** All commands, with nothing run yet. */
export function createProgram(context: Context): Command {
  const { io, args } = context;
  const program = new Command("plugboard")
    .description("All your MCP servers behind one endpoint")
    .version(VERSION, "-V, --version", "show the version")
    .addHelpText(
      "after",
      `\n${exitCodeSummary()}\n            plugboard help ${EXIT_CODES_TOPIC} says more\n\nFirst:  plugboard up      Then:  plugboard tools, plugboard call <server.tool> key=value`,
    )
    .helpOption("-h, --help", "show help")
    .helpCommand("help [command]", "show the help of a command")
    .enablePositionalOptions()
    .exitOverride()
    .configureHelp({ showGlobalOptions: true })
    .configureOutput({
      writeOut: (text) => void io.stdout.write(text),
      writeErr: (text) => void io.stderr.write(text),
      outputError: (text, write) => write(usageError(text, wantsJson(args))),
    });
  addOptions(program, GLOBAL_OPTIONS);
  for (const [group, commands] of Object.entries(COMMANDS)) {
    program.commandsGroup(group);
    for (const register of commands) register(program, context);
  }
  inheritSettings(program);
  program.hook("preAction", (_, command) => inheritOptions(command));
  return program;
}

/** Every command takes the global options too, in any position, and reports its errors to us. */
function inheritSettings(parent: Command): void {
  for (const command of parent.commands) {
    command.exitOverride().copyInheritedSettings(parent);
    addOptions(command, GLOBAL_OPTIONS, (option) => option.hideHelp());
    // In the help, a list that is empty is none.
    for (const option of command.options) {
      if (Array.isArray(option.defaultValue) && option.defaultValue.length === 0)
        option.defaultValueDescription = "none";
    }
    inheritSettings(command);
  }
}

/** What stands before the command counts as if it stood behind it. */
function inheritOptions(command: Command): void {
  for (let ancestor = command.parent; ancestor !== null; ancestor = ancestor.parent) {
    for (const [name, value] of Object.entries(ancestor.opts())) {
      if (ancestor.getOptionValueSource(name) !== "cli" || command.getOptionValueSource(name) === "cli") continue;
      command.setOptionValueWithSource(name, value, "cli");
    }
  }
}

/** What follows `--` belongs to somebody else. */
function wantsJson(args: readonly string[]): boolean {
  const end = args.indexOf("--");
  return args.slice(0, end < 0 ? args.length : end).includes("--json");
}

function usageError(text: string, json: boolean): string {
  const [message = "", guess] = text
    .replace(/^error: /, "")
    .trim()
    .split("\n");
  // Commander writes `(Did you mean ls?)` on a line of its own.
  const hint = guess?.replace(/^\((.*)\)$/, "$1") ?? "plugboard --help";
  if (json) return `${JSON.stringify(new HubError("InvalidConfig", message, { hint }))}\n`;
  return `error: ${message}\n  ${guess === undefined ? "fix: " : "note:"}  ${hint}\n`;
}
