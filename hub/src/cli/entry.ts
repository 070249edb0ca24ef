// Which part of the command line a process needs. `plugboard stdio` is launched by clients, often many at a time, and must
// cost little; `plugboard up` has servers to start. Plain calls of them go straight there. Everything else, their help and
// what is wrong with them included, is program.ts.

import { parseArgs } from "node:util";
import { toHubError } from "../errors.ts";
import type { GlobalOptions, Io } from "./io.ts";
import { GLOBAL_OPTIONS, STDIO_OPTIONS, UP_OPTIONS } from "./options.ts";
import type { StdioOptions } from "./stdio.ts";
import type { UpOptions } from "./up.ts";

interface PlainCommand {
  readonly options: GlobalOptions;
  run(io: Io): Promise<number>;
}

/** Runs one command to its end and gives the exit code. Never throws. */
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
    const { printError } = await import("./output.ts");
    printError(error, io, command.options);
    io.tellParent?.({ failed: error.toJSON() });
    return error.meaning.exit;
  }
}

/** Undefined where it is another command, or one that cannot be read so: program.ts says what is wrong. */
export function plainCommand([name, ...args]: readonly string[]): PlainCommand | undefined {
  try {
    if (name === "stdio") {
      const options = readStdio(args);
      return { options, run: async (io) => (await import("./stdio.ts")).stdio(io, options) };
    }
    if (name === "up" || name === "serve" || name === "run") {
      const options = readUp(args);
      return { options, run: async (io) => (await import("./up.ts")).up(io, options) };
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
  return { ...parseArgs({ args, options: { ...UP_OPTIONS, config, json, quiet } }).values };
}
