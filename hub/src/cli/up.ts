// `plugboard up`: runs the hub in the foreground until it is told to stop.

import { HubError } from "../errors.ts";
import type { Hub } from "../hub.ts";
import type { GlobalOptions, Io } from "./io.ts";
import { openHub } from "./open-hub.ts";
import { count, printWarnings } from "./output.ts";
import type { Register } from "./program.ts";
import { Progress } from "./progress.ts";

interface UpOptions extends GlobalOptions {
  readonly port: string;
  readonly host: string;
}

export const upCommand: Register = (program, io, done) => {
  program
    .command("up")
    .description("start all servers and serve them over HTTP, in the foreground")
    .option("--port <n>", "port to listen on", "7430")
    .option("--host <address>", "loopback address to listen on", "127.0.0.1")
    .action(async (options: UpOptions) => done(await up(io, options)));
};

async function up(io: Io, options: UpOptions): Promise<number> {
  const port = parsePort(options.port);
  const hub = await openHub(io, options);
  const stopped = whenStopped(io, hub);
  printWarnings(io, hub);
  hub.events.on("config.reloaded", ({ description }) => io.stderr.write(`config reloaded: ${description}\n`));
  hub.events.on("config.rejected", ({ error }) => {
    const where = error.field === undefined ? "" : ` (${error.field})`;
    io.stderr.write(`config not reloaded, the last good one stays: ${error.message}${where}\n`);
  });
  const url = await hub.listen({ host: options.host, port });
  await hub.configuration.watch();
  printAddresses(io, hub, url);
  const settled = hub.start();
  await Promise.race([new Progress(hub, io).show(settled), stopped]);
  void settled.then(() => printTotals(io, hub));
  await stopped;
  return 0;
}

/** The first signal stops the hub in good order; the second ends it at once, and the watchdog ends what it left. */
function whenStopped(io: Io, hub: Hub): Promise<void> {
  return new Promise((resolve, reject) => {
    let asked = false;
    io.onSignal(() => {
      if (asked) io.exit(130);
      asked = true;
      hub.stop().then(resolve, reject);
    });
  });
}

function printAddresses(io: Io, hub: Hub, url: string): void {
  io.stdout.write(`MCP     ${url}/mcp\n`);
  for (const name of hub.catalog.groupNames) {
    if (name !== "default") io.stdout.write(`        ${url}/mcp/${encodeURIComponent(name)}\n`);
  }
  io.stdout.write(`Health  ${url}/healthz\n`);
  if (hub.configuration.demo)
    io.stderr.write(`No config yet: serving the built-in demo. Its tool "config_example" shows how to add servers.\n`);
}

function printTotals(io: Io, hub: Hub): void {
  const { servers } = hub.supervisor;
  const running = servers.filter(({ available }) => available).length;
  const tools = hub.catalog.group().tools.length;
  io.stderr.write(
    `${running} of ${count(servers.length, "server")} running, ${count(tools, "tool")} in the group default. Ctrl-C stops.\n`,
  );
}

function parsePort(text: string): number {
  const port = Number(text);
  if (/^\d{1,5}$/.test(text) && port <= 65_535) return port;
  throw new HubError("InvalidConfig", `"${text}" is not a port`, {
    field: "port",
    hint: "Use a number from 0 to 65535",
  });
}
