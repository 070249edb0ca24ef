// All commands, one file each, registered in COMMANDS below. A command imports the hub only when it runs, so that `plugboard
// --version` and completions are fast.

import { PassThrough } from "node:stream";
import { Command, CommanderError } from "commander";
import { HubError, toHubError } from "../errors.ts";
import { VERSION } from "../version.ts";
import { addCommand } from "./commands/add.ts";
import { auditCommand } from "./commands/audit.ts";
import { authCommand } from "./commands/auth.ts";
import { backupCommand } from "./commands/backup.ts";
import { callCommand } from "./commands/call.ts";
import { callsCommand } from "./commands/calls.ts";
import { CHAT, chat, chatCommand } from "./commands/chat.ts";
import { clientsCommand } from "./commands/clients.ts";
import { clusterCommand } from "./commands/cluster.ts";
import { completeCommand } from "./commands/complete.ts";
import { completionCommand } from "./commands/completion.ts";
import { configCommand } from "./commands/config.ts";
import { disableCommand } from "./commands/disable.ts";
import { doctorCommand } from "./commands/doctor.ts";
import { editCommand } from "./commands/edit.ts";
import { enableCommand } from "./commands/enable.ts";
import { exitCodeSummary } from "./exit-codes.ts";
import { getCommand } from "./commands/get.ts";
import { groupCommand } from "./commands/group.ts";
import { importCommand } from "./commands/import.ts";
import { installCommand } from "./commands/install.ts";
import { helpOn, listOfTopics, TOPICS } from "./help-topics.ts";
import { isLauncher, separateCommand } from "../entry-input/launch-words.ts";
import type { CommandContext, Register } from "./command.ts";
import type { GlobalOptions, Io } from "./io.ts";
import { logsCommand } from "./commands/logs.ts";
import { lsCommand, psCommand } from "./commands/ls.ts";
import { openCommand } from "./commands/open.ts";
import { addOptions, GLOBAL_OPTIONS } from "./options.ts";
import { printError } from "./terminal/output.ts";
import { overview } from "./commands/overview.ts";
import { pinsCommand } from "./commands/pins.ts";
import { promptCommand } from "./commands/prompt.ts";
import { readCommand } from "./commands/read.ts";
import { registryCommand } from "./commands/registry.ts";
import { restartCommand } from "./commands/restart.ts";
import { rmCommand } from "./commands/rm.ts";
import { infoCommand, searchCommand } from "./commands/search.ts";
import { secretCommand } from "./commands/secret.ts";
import { serviceCommand } from "./commands/service.ts";
import { settingsCommand } from "./commands/settings.ts";
import { startCommand } from "./commands/start.ts";
import { statsCommand } from "./commands/stats.ts";
import { statusCommand } from "./commands/status.ts";
import { stdioCommand } from "./commands/stdio.ts";
import { stopCommand } from "./commands/stop.ts";
import { testCommand } from "./commands/test.ts";
import { approvalsCommand } from "./commands/approvals.ts";
import { approveCommand } from "./commands/approve.ts";
import { grantCommand } from "./commands/grant.ts";
import { tokenCommand } from "./commands/token.ts";
import { toolsCommand } from "./commands/tools.ts";
import { uninstallCommand } from "./commands/uninstall.ts";
import { upCommand } from "./commands/up.ts";
import { updateCommand } from "./commands/update.ts";
import { userCommand } from "./commands/user.ts";
import { versionCommand } from "./commands/version.ts";

const COMMANDS: Readonly<Record<string, readonly Register[]>> = {
  "The hub:": [
    upCommand,
    startCommand,
    stopCommand,
    restartCommand,
    statusCommand,
    stdioCommand,
    openCommand,
    serviceCommand,
    doctorCommand,
    clusterCommand,
  ],
  "Servers:": [
    searchCommand,
    infoCommand,
    addCommand,
    lsCommand,
    psCommand,
    getCommand,
    editCommand,
    rmCommand,
    enableCommand,
    disableCommand,
    testCommand,
    pinsCommand,
    updateCommand,
    logsCommand,
    authCommand,
    groupCommand,
    secretCommand,
    registryCommand,
    configCommand,
    settingsCommand,
  ],
  "Access:": [tokenCommand, grantCommand, approveCommand, userCommand, auditCommand],
  "Tools and calls:": [
    toolsCommand,
    callCommand,
    readCommand,
    promptCommand,
    callsCommand,
    approvalsCommand,
    statsCommand,
  ],
  "Other clients:": [clientsCommand, importCommand, installCommand, uninstallCommand, backupCommand],
  "More:": [chatCommand, completionCommand, versionCommand, completeCommand],
};

const USAGE_ERROR = 2;
const ADD = "add";

/** Runs one command and returns the exit code. Never throws. */
export async function run(given: readonly string[], io: Io): Promise<number> {
  let exitCode = 0;
  const args = separated(given, io);
  const context: CommandContext = { io, args, done: (code) => void (exitCode = code) };
  const program = createProgram(context);
  try {
    const { operands, unknown } = program.parseOptions([...args]);
    if (operands.length === 0 && unknown.length === 0) return await overview(io, program.opts());
    if (operands[0] === CHAT) return await chat(io, args);
    const [command, topic = ""] = operands;
    if (command === "help" && Object.hasOwn(TOPICS, topic)) {
      io.stdout.write(helpOn(topic, wantsJson(args)));
      return 0;
    }
    await program.parseAsync([...args], { from: "user" });
    return exitCode;
  } catch (thrown) {
    // Commander has already printed its message. Help and version are not errors.
    if (thrown instanceof CommanderError) return thrown.exitCode === 0 ? 0 : USAGE_ERROR;
    const error = toHubError(thrown);
    printError(error, io, { ...program.opts<GlobalOptions>(), json: wantsJson(args) });
    io.tellParent?.({ failed: error.toJSON() });
    return error.meaning.exit;
  }
}

/** For `add`: puts `--` before the launcher, so that options after it belong to the server's command line. */
function separated(args: readonly string[], io: Io): readonly string[] {
  const at = args.indexOf(ADD);
  if (at < 0 || !args.slice(at).some(isLauncher)) return args;
  try {
    // A separate program, because parsing sets option values.
    const quiet = { ...io, stdout: new PassThrough(), stderr: new PassThrough() };
    const program = createProgram({ io: quiet, args, done: () => undefined });
    const { operands, unknown } = program.parseOptions([...args]);
    if (operands[0] !== ADD) return args;
    const words = [...operands.slice(1), ...unknown];
    const command = program.commands.find((each) => each.name() === ADD);
    return separateCommand(args, command?.parseOptions(words).operands ?? []);
  } catch {
    return args; // the real run reports the error
  }
}

/** All commands, without running one. */
export function createProgram(context: CommandContext): Command {
  const { io, args } = context;
  const program = new Command("plugboard")
    .description("All your MCP servers behind one endpoint")
    .version(VERSION, "-V, --version", "show the version")
    .addHelpText(
      "after",
      `\n${exitCodeSummary()}\n\n${listOfTopics()}\n\nFirst:  plugboard up      Then:  plugboard tools, plugboard call <server.tool> key=value`,
    )
    .helpOption("-h, --help", "show help")
    .helpCommand("help [command]", "show help for a command, or about a topic")
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

/** Every command accepts the global options in any position and reports errors to us. */
function inheritSettings(parent: Command): void {
  for (const command of parent.commands) {
    command.exitOverride().copyInheritedSettings(parent);
    addOptions(command, GLOBAL_OPTIONS, (option) => option.hideHelp());
    // Help shows an empty list as "none".
    for (const option of command.options) {
      if (Array.isArray(option.defaultValue) && option.defaultValue.length === 0)
        option.defaultValueDescription = "none";
    }
    inheritSettings(command);
  }
}

/** An option before the command counts like one after it. */
function inheritOptions(command: Command): void {
  for (let ancestor = command.parent; ancestor !== null; ancestor = ancestor.parent) {
    for (const [name, value] of Object.entries(ancestor.opts())) {
      if (ancestor.getOptionValueSource(name) !== "cli" || command.getOptionValueSource(name) === "cli") continue;
      command.setOptionValueWithSource(name, value, "cli");
    }
  }
}

/** True if --json is given before `--`. */
function wantsJson(args: readonly string[]): boolean {
  const end = args.indexOf("--");
  return args.slice(0, end < 0 ? args.length : end).includes("--json");
}

function usageError(text: string, json: boolean): string {
  const [message = "", guess] = text
    .replace(/^error: /, "")
    .trim()
    .split("\n");
  // Commander prints `(Did you mean ls?)` on a separate line.
  const hint = guess?.replace(/^\((.*)\)$/, "$1") ?? "plugboard --help";
  if (json) return `${JSON.stringify(new HubError("InvalidArgument", message, { hint }))}\n`;
  return `error: ${message}\n  ${guess === undefined ? "fix: " : "note:"}  ${hint}\n`;
}
