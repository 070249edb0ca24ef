// `plugboard stdio`: one group as an MCP server on stdin and stdout, for clients that launch their servers. If a hub is running,
// this is a bridge to it; otherwise it is a hub itself. Its log is lines of JSON on stderr.

import { Writable } from "node:stream";
import { HubError } from "../../errors.ts";
import { LOG_LEVELS, type LogLevel } from "../../log/log-lines.ts";
import type { GlobalOptions, Io } from "../io.ts";
import { addOptions, STDIO_OPTIONS } from "../options.ts";
import type { Register } from "../command.ts";
import { exposureOf, findTarget } from "../hub-access/stdio-target.ts";

export interface StdioOptions extends GlobalOptions {
  readonly group?: string;
  readonly logLevel?: string;
  readonly tools?: string;
  readonly own?: boolean;
  readonly header?: readonly string[];
}

/** Clients show our stderr to their users, often with every line as an error. */
const DEFAULT_LEVEL = "warn";

/** For calls that are still open when the client closes its side. */
export const DRAIN_MS = 10_000;

const MORE = `
If a hub is running for the same config folder, this command is a bridge to it and reconnects after a restart of the hub.
Otherwise, or with --own, it is a hub itself.

  plugboard stdio --url https://mcp.example.com/mcp --header 'Authorization: Bearer \${TOKEN}'

is a bridge to any Streamable HTTP endpoint; \${TOKEN} is expanded from the environment. With --group, --url is the address
of a hub: https://hub.example.com.`;

export const stdioCommand: Register = (program, { io, done }) => {
  const command = program
    .command("stdio")
    .description("serve one group over stdin and stdout")
    .addHelpText("after", MORE)
    .action(async (options: StdioOptions) => done(await stdio(io, options)));
  addOptions(command, STDIO_OPTIONS);
};

export async function stdio(io: Io, options: StdioOptions): Promise<number> {
  const output = claimStdout(io);
  // They throw if they are wrong.
  levelOf(io, options);
  exposureOf(options);
  const target = await findTarget(io, options);
  if (target === undefined) {
    const { serveOwnHub } = await import("../hub-access/stdio-hub.ts");
    return serveOwnHub(io, options, output);
  }
  const { serveBridge } = await import("../hub-access/stdio-bridge.ts");
  return serveBridge(io, { target, output, level: levelOf(io, options) });
}

export function levelOf(io: Io, { logLevel }: StdioOptions): LogLevel {
  const wanted = logLevel ?? (io.env["PLUGBOARD_LOG_LEVEL"] || DEFAULT_LEVEL);
  const level = LOG_LEVELS.find((known) => known === wanted);
  if (level !== undefined) return level;
  const hint = `Use one of ${LOG_LEVELS.join(", ")}`;
  throw new HubError("InvalidArgument", `Unknown log level "${wanted}"`, { field: "log-level", hint });
}

/** Reserves stdout for the protocol. Other writes to it, such as a library's stray print, go to stderr. */
function claimStdout({ stdout, stderr }: Io): Writable {
  const write = stdout.write.bind(stdout);
  const output = new Writable({
    write: (chunk: Buffer, _encoding, callback) => void write(chunk, (error) => callback(error ?? null)),
  });
  stdout.on("error", (error) => output.destroy(error));
  stdout.write = stderr.write.bind(stderr);
  return output;
}
