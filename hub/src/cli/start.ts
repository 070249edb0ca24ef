// `plugboard start`: the hub in the background; with a name, one server of the running hub.

import type { DaemonOptions } from "./daemon.ts";
import { HubError } from "../errors.ts";
import { requireHub, findHub } from "./find-hub.ts";
import type { Io } from "./io.ts";
import { shownKind } from "./kind.ts";
import { Output } from "./output.ts";
import type { Register } from "./program.ts";
import { isBroken, Progress, type Startup } from "./progress.ts";
import { act } from "./server-action.ts";
import { count } from "./text.ts";

export interface StartOptions extends DaemonOptions {
  readonly wait: boolean;
}

export const startCommand: Register = (program, { io, done }) => {
  program
    .command("start")
    .description("start the hub in the background, or one server of it")
    .argument("[server]", "a server of the running hub")
    .option("--port <n>", "port to listen on (default: 7430)")
    .option("--host <address>", "loopback address to listen on")
    .option("--no-wait", "do not wait for the servers")
    .action(async (server: string | undefined, options: StartOptions) => {
      if (server === undefined) await start(io, options);
      else await act(io, await requireHub(io, options), { server, action: "start", options });
      done(0);
    });
};

export async function start(io: Io, options: StartOptions): Promise<void> {
  const out = new Output(io, options);
  const { startDaemon } = await import("./daemon.ts");
  const daemon = await startDaemon(io, options);
  const { record, log, found } = daemon;
  try {
    if (!found && options.wait) await waitForServers(io, out, options, daemon.settled);
  } finally {
    daemon.release();
  }
  const { pid, url } = record;
  const text = `${found ? "The hub runs already" : "Started the hub"}: ${url}/mcp (pid ${pid}, log ${log})`;
  out.changed(text, { ...record, mcp_url: `${url}/mcp`, log, already_running: found });
}

/** They start in the hub; what is seen of it here comes through its API. */
async function waitForServers(io: Io, out: Output, options: StartOptions, settled: Promise<void>): Promise<void> {
  const hub = await findHub(io, options);
  let servers: Startup[] = [];
  const look = async () => {
    const seen = (await hub?.client.listServers()) ?? [];
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
  const timer = setInterval(() => void look().catch(() => undefined), 250); // the next look may succeed
  const progress = new Progress(io, out, () => servers);
  const last = settled.then(look);
  await progress.show(last).finally(() => clearInterval(timer));
  const isThere = await last.then(
    () => hub !== undefined,
    () => false,
  );
  if (!isThere) {
    throw new HubError("ConnectionFailed", "The hub ended while its servers were starting", {
      hint: "plugboard start",
    });
  }
  const missing = missingInWords(servers);
  if (missing !== undefined) out.note(`${missing}: plugboard status`);
}

/**
 * Each server that is wanted and not there, also one that is being tried again at this moment.
 *
 * @example missingInWords(servers) // "25 of 48 servers are not running, 11 of them are being tried again"
 */
export function missingInWords(servers: readonly Pick<Startup, "status">[]): string | undefined {
  const retried = servers.filter(({ status }) => status === "starting").length;
  const missing = retried + servers.filter(({ status }) => isBroken(status)).length;
  if (missing === 0) return undefined;
  const said = `${missing} of ${count(servers.length, "server")} ${missing === 1 ? "is" : "are"} not running`;
  if (retried === 0) return said;
  const who =
    retried === missing ? (retried === 1 ? "it is" : "they are") : `${retried} of them ${retried === 1 ? "is" : "are"}`;
  return `${said}, ${who} being tried again`;
}
