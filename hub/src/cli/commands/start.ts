// `plugboard start`: starts the hub in the background, or one server of the running hub.

import type { DaemonOptions } from "../hub-access/daemon.ts";
import { HubError } from "../../errors.ts";
import { requireHub, findHub } from "../hub-access/find-hub.ts";
import type { Io } from "../io.ts";
import { shownKind } from "../input/kind.ts";
import { Output } from "../terminal/output.ts";
import type { Register } from "../command.ts";
import { isBroken, Progress, type Startup } from "../terminal/progress.ts";
import { act } from "../input/server-action.ts";
import { makeUiLink } from "../hub-access/ui-link.ts";
import { count } from "../terminal/text.ts";

export interface StartOptions extends DaemonOptions {
  readonly wait: boolean;
}

export const startCommand: Register = (program, { io }) => {
  program
    .command("start")
    .description("start the hub in the background, or one server of it")
    .argument("[server]", "a server of the running hub")
    .option("--port <n>", "port to listen on (default: listen.port of hub.json, or 7430)")
    .option("--host <address>", "address to listen on")
    .option("--insecure-http", "allow a public_url that is http, in a network that you trust")
    .option("--no-wait", "do not wait for the servers")
    .option("--no-ui", "do not serve the web interface")
    .option("--no-fast-path", "read all requests with Node's HTTP server, which is slower")
    .action(async (server: string | undefined, options: StartOptions) => {
      if (server === undefined) await start(io, options);
      else await act(io, await requireHub(io, options), { server, action: "start", options });
    });
};

export async function start(io: Io, options: StartOptions): Promise<void> {
  const out = new Output(io, options);
  const { startDaemon } = await import("../hub-access/daemon.ts");
  const daemon = await startDaemon(io, options);
  const { record, log, found } = daemon;
  try {
    if (!found && options.wait) await waitForServers(io, out, options, daemon.settled);
  } finally {
    daemon.release();
  }
  const { pid, url, config, started_at } = record;
  const text = `${found ? "The hub is already running" : "Started the hub"}: ${url}/mcp (pid ${pid}, log ${log})`;
  out.changed(text, { pid, url, config, started_at, mcp_url: `${url}/mcp`, log, already_running: found });
  if (!out.json && !out.quiet) await printUiLink(io, out, options);
}

async function printUiLink(io: Io, out: Output, options: StartOptions): Promise<void> {
  const hub = await findHub(io, options);
  const link = hub === undefined ? undefined : await makeUiLink(hub);
  if (link !== undefined) out.print(`UI  ${link}`);
}

/** Shows the progress of the servers by polling the hub's API. */
async function waitForServers(io: Io, out: Output, options: StartOptions, settled: Promise<void>): Promise<void> {
  const hub = await findHub(io, options);
  let servers: Startup[] = [];
  const look = async () => {
    const seen = (await hub?.client.servers.list()) ?? [];
    servers = seen.map(({ config: { name, command }, kind, status, stage, install, error, tools }) => ({
      name,
      kind: shownKind(kind, command),
      status,
      stage,
      install,
      error,
      tools,
    }));
  };
  const timer = setInterval(() => void look().catch(() => undefined), 250); // retried at the next interval
  const progress = new Progress(io, out, () => servers);
  const last = settled.then(look);
  await progress.show(last).finally(() => clearInterval(timer));
  const isRunning = await last.then(
    () => hub !== undefined,
    () => false,
  );
  if (!isRunning) {
    throw new HubError("ConnectionFailed", "The hub exited while its servers were starting", {
      hint: "plugboard start",
    });
  }
  const missing = missingInWords(servers);
  if (missing !== undefined) out.note(`${missing}: plugboard status`);
}

/**
 * Summarises enabled servers that are not running, including those that are being retried.
 *
 * @example missingInWords(servers) // "25 of 48 servers are not running, 11 of them are being retried"
 */
export function missingInWords(servers: readonly Pick<Startup, "status">[]): string | undefined {
  const retried = servers.filter(({ status }) => status === "starting").length;
  const missing = retried + servers.filter(({ status }) => isBroken(status)).length;
  if (missing === 0) return undefined;
  const summary = `${missing} of ${count(servers.length, "server")} ${missing === 1 ? "is" : "are"} not running`;
  if (retried === 0) return summary;
  const who =
    retried === missing ? (retried === 1 ? "it is" : "they are") : `${retried} of them ${retried === 1 ? "is" : "are"}`;
  return `${summary}, ${who} being retried`;
}
