// `plugboard stdio`: one group as an MCP server on stdin and stdout, for clients that launch their servers. What it has to
// say besides are lines of JSON on stderr.

import { once } from "node:events";
import { Writable } from "node:stream";
import { setTimeout as sleep } from "node:timers/promises";
import { HubError } from "../errors.ts";
import type { Hub } from "../hub.ts";
import type { GlobalOptions, Io } from "./io.ts";
import { withHub } from "./open-hub.ts";
import type { Register } from "./program.ts";

interface StdioOptions extends GlobalOptions {
  readonly group?: string;
  readonly logLevel?: string;
}

/** Clients show our stderr to their users, often as if every line were an error. */
const DEFAULT_LEVEL = "warn";

/** A client that launches us takes our first list for the whole truth, so it waits for the servers; but not for ever. */
const SETTLE_MS = 10_000;
/** For calls that are open when the client closes its side. */
const DRAIN_MS = 10_000;

export const stdioCommand: Register = (program, { io, done }) => {
  program
    .command("stdio")
    .description("serve one group over stdin and stdout")
    .option("--group <name>", "the group to serve")
    .option("--log-level <level>", "debug, info, warn, error or silent, as PLUGBOARD_LOG_LEVEL")
    .action(async (options: StdioOptions) => done(await stdio(io, options)));
};

function stdio(io: Io, options: StdioOptions): Promise<number> {
  const output = claimStdout(io);
  return withHub(io, options, async (hub) => {
    const [{ StdioServer }] = await Promise.all([import("../wire/stdio-server.ts"), logTo(io, hub, options)]);
    hub.catalog.group(options.group); // an unknown group ends it here, with its name
    let timer: NodeJS.Timeout | undefined;
    const patience = new Promise<void>((resolve) => {
      timer = setTimeout(resolve, SETTLE_MS);
    });
    const settled = Promise.race([hub.start(), patience]).finally(() => clearTimeout(timer));
    const service = hub.endpoint(options.group, settled);
    const clientGone = new Promise<void>((resolve) => output.once("error", () => resolve()));
    const tooLong = once(io.stdin, "end").then(() => sleep(DRAIN_MS, undefined, { ref: false }));
    await Promise.race([new StdioServer({ input: io.stdin, output, service }).ended, clientGone, tooLong]);
    service.close();
    // The last answers are on their way through the pipe.
    await new Promise<void>((resolve) => output.end(resolve));
    return 0;
  });
}

async function logTo(io: Io, hub: Hub, { logLevel }: StdioOptions): Promise<void> {
  const { LOG_LEVELS, startLog } = await import("../log.ts");
  const wanted = logLevel ?? (io.env["PLUGBOARD_LOG_LEVEL"] || DEFAULT_LEVEL);
  const level = LOG_LEVELS.find((known) => known === wanted);
  if (level === undefined) {
    const hint = `Use one of ${LOG_LEVELS.join(", ")}`;
    throw new HubError("InvalidConfig", `There is no log level "${wanted}"`, { field: "log-level", hint });
  }
  const log = startLog(hub.events, io.stderr, { level });
  for (const message of [...hub.warnings, ...hub.catalog.warnings]) log.warn({}, message);
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
