// Which part of the command line a process needs. `plugboard stdio` is launched by clients, often many at a time, and must
// cost little: plain calls of it go straight there. Everything else, its help and what is wrong with it included, is program.ts.

import { parseArgs } from "node:util";
import { toHubError } from "../errors.ts";
import type { Io } from "./io.ts";
import type { StdioOptions } from "./stdio.ts";

/** Runs one command to its end and gives the exit code. Never throws. */
export async function run(args: readonly string[], io: Io): Promise<number> {
  const options = plainStdio(args);
  if (options === undefined) {
    const program = await import("./program.ts");
    return program.run(args, io);
  }
  try {
    const { stdio } = await import("./stdio.ts");
    return await stdio(io, options);
  } catch (thrown) {
    const error = toHubError(thrown);
    const { printError } = await import("./output.ts");
    printError(error, io, options);
    return error.meaning.exit;
  }
}

/** The options of `plugboard stdio`; undefined where it is another command, or one that cannot be read so. */
export function plainStdio(args: readonly string[]): StdioOptions | undefined {
  if (args[0] !== "stdio") return undefined;
  try {
    const { values } = parseArgs({
      args: args.slice(1),
      options: {
        config: { type: "string" },
        group: { type: "string" },
        "log-level": { type: "string" },
        own: { type: "boolean" },
        url: { type: "string" },
        header: { type: "string", multiple: true },
      },
    });
    const { "log-level": logLevel, ...rest } = values;
    return { ...rest, ...(logLevel === undefined ? {} : { logLevel }) };
  } catch {
    return undefined; // program.ts says what is wrong
  }
}
