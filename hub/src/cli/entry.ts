// Entry of the command line. Plain calls of `plugboard stdio` and `plugboard up` skip commander and the other commands: clients
// launch many `stdio` processes, and `up` has servers to start. Everything else, including help and usage errors, goes to
// program.ts.

import { parseArgs } from "node:util";
import { toHubError } from "../errors.ts";
import type { GlobalOptions, Io } from "./io.ts";
import { GLOBAL_OPTIONS, STDIO_OPTIONS, UP_OPTIONS } from "./options.ts";
import type { StdioOptions } from "./commands/stdio.ts";
import type { UpOptions } from "./commands/up.ts";

interface PlainCommand {
  readonly options: GlobalOptions;
  run(io: Io): Promise<number>;
}

/** Runs one command and returns the exit code. Never throws. */
export async function run(args: readonly string[], io: Io): Promise<number> {
  const command = plainCommand(args);
  if (command === undefined) {
    const program = await import("./program.ts");
    return program.run(args, io);
  }
  try {
    return await command.run(io);
  } catch (thrown) {
    const error = toHubError(thrown);
    const { printError } = await import("./terminal/output.ts");
    printError(error, io, command.options);
    io.tellParent?.({ failed: error.toJSON() });
    return error.meaning.exit;
  }
}

/** Undefined for other commands and for arguments that do not parse: program.ts reports the error. */
export function plainCommand([name, ...args]: readonly string[]): PlainCommand | undefined {
  try {
    if (name === "stdio") {
      const options = readStdio(args);
      return { options, run: async (io) => (await import("./commands/stdio.ts")).stdio(io, options) };
    }
    if (name === "up" || name === "serve" || name === "run") {
      const options = readUp(args);
      return { options, run: async (io) => (await import("./commands/up.ts")).up(io, options) };
    }
    return undefined;
  } catch {
    return undefined;
  }
}

const { config, url, json, quiet } = GLOBAL_OPTIONS;

function readStdio(args: string[]): StdioOptions {
  const { "log-level": logLevel, ...rest } = parseArgs({ args, options: { ...STDIO_OPTIONS, config, url } }).values;
  return { ...rest, ...(logLevel === undefined ? {} : { logLevel }) };
}

function readUp(args: string[]): UpOptions {
  const {
    "no-fast-path": isSlow,
    "no-ui": isWithoutUi,
    "insecure-http": insecureHttp,
    ...rest
  } = parseArgs({
    args,
    options: { ...UP_OPTIONS, config, json, quiet },
  }).values;
  return {
    ...rest,
    ...(insecureHttp === undefined ? {} : { insecureHttp }),
    fastPath: isSlow !== true,
    ui: isWithoutUi !== true,
  };
}
