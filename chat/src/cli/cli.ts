// The command line of the chat server, also available as `plugboard chat`. One file per command, registered here.

import { Command, CommanderError } from "commander";
import { homedir } from "node:os";
import { hintNamesCandidates, toChatError } from "../mcp/errors.ts";
import { VERSION } from "../version.ts";
import { accessCommand } from "./access.ts";
import { addCommand } from "./add.ts";
import { attachmentCommand } from "./attachment.ts";
import { importCommand } from "./import.ts";
import type { Context, Io } from "./io.ts";
import { chatsCommand, messagesCommand, searchCommand, sourcesCommand } from "./read.ts";
import { serveCommand } from "./serve.ts";

const USAGE_ERROR = 2;
const FAILED = 1;

/** Runs one command and returns the exit code. Never throws. */
export async function runCli(argv: readonly string[], io: Io = processIo(), name = "plugboard-chat"): Promise<number> {
  let exitCode = 0;
  // `serve` is the default command. It takes no arguments, so an unknown word is a misspelled command.
  const isServing = argv[0] === undefined || argv[0].startsWith("-");
  const program = createProgram({ io, done: (code) => void (exitCode = code), isServing }, name);
  try {
    await program.parseAsync([...argv], { from: "user" });
    return exitCode;
  } catch (thrown) {
    // Commander has printed its message; --help and --version exit with 0.
    if (thrown instanceof CommanderError) return thrown.exitCode === 0 ? 0 : USAGE_ERROR;
    printError(thrown, io, argv.includes("--json"));
    return FAILED;
  }
}

function createProgram(context: Context, name: string): Command {
  const { io } = context;
  const program = new Command(name)
    .description("Chat history and live messages for agents, as an MCP server")
    .version(VERSION, "-V, --version", "show the version")
    .helpOption("-h, --help", "show help")
    .helpCommand("help [command]", "show help for a command")
    // Like the help of plugboard: one line per command.
    .configureHelp({ minWidthToWrap: 60 })
    .enablePositionalOptions()
    .exitOverride()
    .configureOutput({
      writeOut: (text) => void io.stdout.write(text),
      writeErr: (text) => void io.stderr.write(text),
      outputError: (text, write) => write(text.replace(/\n\((Did you mean .*)\)/, "\n  note:  $1")),
    })
    .addHelpText(
      "after",
      `\nFirst:  ${name} import result.json      Then, in your agent's config:  ${name}\nFiles:  PLUGBOARD_CHAT_HOME, or data/chat in PLUGBOARD_HOME, or your data folder`,
    );
  const commands = [
    serveCommand,
    importCommand,
    addCommand,
    accessCommand,
    sourcesCommand,
    chatsCommand,
    messagesCommand,
    searchCommand,
    attachmentCommand,
  ];
  for (const register of commands) register(program, context);
  for (const command of program.commands) command.exitOverride().copyInheritedSettings(program);
  return program;
}

function printError(thrown: unknown, io: Io, json: boolean): void {
  const error = toChatError(thrown);
  if (error === undefined) {
    io.stderr.write(`error: ${thrown instanceof Error ? thrown.message : String(thrown)}\n`);
    return;
  }
  const { code, message, details } = error;
  if (json) {
    io.stderr.write(`${JSON.stringify({ error: { code, message, ...details } })}\n`);
    return;
  }
  io.stderr.write(`error: ${message}\n`);
  if (details.hint !== undefined) io.stderr.write(`  fix:   ${details.hint}\n`);
  const { candidates = [] } = details;
  if (candidates.length > 0 && !hintNamesCandidates(error)) io.stderr.write(`  among: ${candidates.join(", ")}\n`);
}

function processIo(): Io {
  return {
    env: process.env,
    platform: process.platform,
    home: homedir(),
    stdin: process.stdin,
    stdout: process.stdout,
    stderr: process.stderr,
    onSignal: (listener) => {
      process.on("SIGINT", listener);
      process.on("SIGTERM", listener);
    },
    exit: (code) => process.exit(code),
  };
}
