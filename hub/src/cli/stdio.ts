// `plugboard stdio`: one group as an MCP server on stdin and stdout, for clients that launch their servers. Where a hub is
// running, this carries messages to it and is little more than a pipe; otherwise it is a hub itself. What it has to say
// besides are lines of JSON on stderr.

import { Writable } from "node:stream";
import { HubError } from "../errors.ts";
import { LOG_LEVELS, type LogLevel } from "../log-lines.ts";
import type { GlobalOptions, Io } from "./io.ts";
import { addOptions, STDIO_OPTIONS } from "./options.ts";
import type { Register } from "./program.ts";
import { findTarget } from "./stdio-target.ts";

export interface StdioOptions extends GlobalOptions {
  readonly group?: string;
  readonly logLevel?: string;
  readonly own?: boolean;
  readonly header?: readonly string[];
}

/** Clients show our stderr to their users, often as if every line were an error. */
const DEFAULT_LEVEL = "warn";

/** For calls that are open when the client closes its side. */
export const DRAIN_MS = 10_000;

const MORE = `
Where a hub is running for the same config folder, its servers are used: this process only carries messages to it, and
finds it again after a restart. Otherwise, or with --own, it is a hub itself.

  plugboard stdio --url https://mcp.example.com/mcp --header 'Authorization: Bearer \${TOKEN}'

carries them to any MCP endpoint over Streamable HTTP instead; \${TOKEN} is filled in from the environment. With --group,
--url is the address of a hub: https://hub.example.com.`;

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
  levelOf(io, options); // a wrong one ends it here
  const target = await findTarget(io, options);
  if (target === undefined) {
    const { serveOwnHub } = await import("./stdio-hub.ts");
    return serveOwnHub(io, options, output);
  }
  const { serveBridge } = await import("./stdio-bridge.ts");
  return serveBridge(io, { target, output, level: levelOf(io, options) });
}

export function levelOf(io: Io, { logLevel }: StdioOptions): LogLevel {
  const wanted = logLevel ?? (io.env["PLUGBOARD_LOG_LEVEL"] || DEFAULT_LEVEL);
  const level = LOG_LEVELS.find((known) => known === wanted);
  if (level !== undefined) return level;
  const hint = `Use one of ${LOG_LEVELS.join(", ")}`;
  throw new HubError("InvalidConfig", `There is no log level "${wanted}"`, { field: "log-level", hint });
}

/** Takes stdout for the protocol. Whoever else writes to it, a library's stray print included, ends up on stderr. */
function claimStdout({ stdout, stderr }: Io): Writable {
  const write = stdout.write.bind(stdout);
  const output = new Writable({
    write: (chunk: Buffer, _encoding, callback) => void write(chunk, (error) => callback(error ?? null)),
  });
  stdout.on("error", (error) => output.destroy(error));
  stdout.write = stderr.write.bind(stderr);
  return output;
}
