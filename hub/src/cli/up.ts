// `plugboard up`: runs the hub in the foreground until it is told to stop. The background daemon is the same, detached.

import { existsSync } from "node:fs";
import { join } from "node:path";
import { ManagementToken, readManagementToken } from "../auth/management-token.ts";
import { HubError, toHubError } from "../errors.ts";
import type { Hub } from "../hub.ts";
import type { Edge } from "../listener.ts";
import { startFileLog } from "../log.ts";
import { VERSION } from "../version.ts";
import { Faults } from "./faults.ts";
import { findLocalHub } from "./find-hub.ts";
import type { GlobalOptions, Io } from "./io.ts";
import { homePageEdge } from "./home-page.ts";
import { openHub, toStartup } from "./open-hub.ts";
import { addOptions, UP_OPTIONS } from "./options.ts";
import { Output, printJson, printWarnings } from "./output.ts";
import type { Register } from "./program.ts";
import { Progress } from "./progress.ts";
import { isAlive, placesOf, readRecord, removeRecord, writeRecord, type Places } from "./record.ts";
import { StartSteps } from "./start-steps.ts";
import { count } from "./text.ts";
import { parseDuration } from "./times.ts";
import { proofEdge } from "./proof.ts";
import { groupPath } from "../group-path.ts";

/** Without its record a hub works, and commands do not find it. */
const RECORD_MS = 15_000;

export interface UpOptions extends GlobalOptions {
  readonly port: string;
  readonly host: string;
  readonly drain: string;
}

export const upCommand: Register = (program, { io, done }) => {
  const command = program
    .command("up")
    .aliases(["serve", "run"])
    .description("start all servers and serve them over HTTP, in the foreground")
    .action(async (options: UpOptions) => done(await up(io, options)));
  addOptions(command, UP_OPTIONS);
};

export async function up(io: Io, options: UpOptions): Promise<number> {
  const port = parsePort(options.port);
  const places = placesOf(io, options);
  const steps = new StartSteps(io);
  // A first token has to reach the disk: that takes as long as loading the hub.
  const [proof] = await steps.wait(
    "the management token",
    Promise.all([createProofEdge(places.data), import("../hub.ts")]),
  );
  const hub = await steps.wait("the config, and what is known of the servers", openHub(io, options));
  const faults = new Faults(io, hub);
  const stopped = whenStopped(io, hub, parseDuration(options.drain, "drain"));
  printWarnings(io, hub);
  hub.events.on("config.reloaded", ({ description }) => io.stderr.write(`config reloaded: ${description}\n`));
  hub.events.on("config.rejected", ({ error }) => {
    const where = error.field === undefined ? "" : ` (${error.field})`;
    io.stderr.write(`config not reloaded, the last good one stays: ${error.message}${where}\n`);
  });
  const isFirst = !hasConfig(places);
  const url = await steps.wait("the port", listen(io, hub, { options, port, edges: [proof, homePageEdge] }));
  try {
    startFileLog(hub.events, join(places.state, "log.jsonl"), { warnings: hub.warnings });
    // Only now, when nothing stands in the way of running what is imported.
    if (isFirst) await (await import("./first-run.ts")).offerImport(io, options, hub);
    // Servers take their time to start: what else is to be done is done meanwhile.
    const settled = hub.start();
    const recorded = leaveRecord(io, places, url).catch((thrown: unknown) => {
      io.stderr.write(`warning: commands will not find this hub: ${toHubError(thrown).message}\n`);
    });
    await steps.wait("the watch on the config folder", hub.configuration.watch());
    await steps.waitAtMost(RECORD_MS, "the record by which commands find this hub", recorded);
    if (options.json === true)
      printJson(io, { pid: process.pid, url, mcp_url: `${url}/mcp`, api_url: `${url}/api/v1` });
    else {
      const out = new Output(io, options);
      out.print(out.tilde(`plugboard ${VERSION}  config ${places.config}  data ${places.data}`));
      printAddresses(io, hub, url);
    }
    io.tellParent?.({ listening: url });
    const progress = new Progress(io, new Output(io, options), () => hub.supervisor.servers.map(toStartup));
    await Promise.race([progress.show(settled), stopped]);
    void settled.then(() => {
      printTotals(io, hub);
      io.tellParent?.({ settled: true });
    });
    await stopped;
    io.stderr.write("Stopped.\n");
    return faults.exitCode;
  } finally {
    await hub.stop();
    await removeRecord(places.record, process.pid);
  }
}

/** Where our own hub has the port, that is said: it need not be started twice. */
async function listen(
  io: Io,
  hub: Hub,
  { options, port, edges }: { options: UpOptions; port: number; edges: readonly Edge[] },
): Promise<string> {
  try {
    return await hub.listen({ host: options.host, port, edges });
  } catch (error) {
    await hub.stop();
    const running = await findLocalHub(io, options).catch(() => undefined); // then the port is all that is known
    if (running === undefined || new URL(running.record.url).port !== String(port)) throw error;
    const { url, pid } = running.record;
    throw new HubError("ServerAlreadyExists", `The hub runs already: ${url}/mcp (pid ${pid})`, {
      hint: "plugboard status",
      cause: error,
    });
  }
}

/** Any of its files: whoever has one has made up their mind. */
function hasConfig({ config }: Places): boolean {
  return ["mcp_server.json", "group.json"].some((name) => existsSync(join(config, name)));
}

/** The first signal stops the hub in good order; the second ends it at once, and the watchdog ends what it left. */
function whenStopped(io: Io, hub: Hub, drainMs: number): Promise<void> {
  return new Promise((resolve, reject) => {
    let asked = false;
    io.onSignal(() => {
      if (asked) io.exit(130);
      asked = true;
      const { underWay } = hub.calls;
      io.stderr.write(
        underWay > 0 ? `waiting for ${count(underWay, "call")}; again to stop now\n` : "Stopping the servers …\n",
      );
      hub.stop({ drainMs }).then(resolve, reject);
    });
  });
}

async function createProofEdge(dataDir: string) {
  await ManagementToken.open(dataDir); // makes it where there is none
  const token = await readManagementToken(dataDir);
  if (token === undefined) throw new HubError("IoError", `The management token in ${dataDir} is gone`);
  return proofEdge(token, process.pid);
}

/** Commands find this hub by it. Of two hubs for one config folder they talk to the first. */
async function leaveRecord(io: Io, { record: path, config }: Places, url: string): Promise<void> {
  const other = await readRecord(path);
  if (
    other !== undefined &&
    other.pid !== process.pid &&
    isAlive(other.pid) &&
    (await findLocalHubQuietly(io, config))
  ) {
    io.stderr.write(`warning: another hub runs for this config (${other.url}): commands talk to that one\n`);
    return;
  }
  await writeRecord(path, { pid: process.pid, url, config, started_at: new Date().toISOString() });
}

async function findLocalHubQuietly(io: Io, config: string): Promise<boolean> {
  return (await findLocalHub(io, { config }).catch(() => undefined)) !== undefined;
}

function printAddresses(io: Io, hub: Hub, url: string): void {
  io.stdout.write(`MCP     ${url}/mcp\n`);
  for (const name of hub.catalog.groupNames) {
    if (name !== "default") io.stdout.write(`        ${url}${groupPath(name)}\n`);
  }
  io.stdout.write(`API     ${url}/api/v1\n`);
  if (!hub.configuration.demo) return;
  io.stderr.write("No servers yet: this is the built-in demo. In another terminal:\n");
  io.stderr.write("  plugboard call now                                    calls one of its tools\n");
  io.stderr.write("  plugboard add @modelcontextprotocol/server-memory     adds a server\n");
}

function printTotals(io: Io, hub: Hub): void {
  const { servers } = hub.supervisor;
  const running = servers.filter(({ available }) => available).length;
  const tools = hub.catalog.group().tools.length;
  io.stderr.write(
    `${running} of ${count(servers.length, "server")} running, ${count(tools, "tool")} in the group default. Ctrl-C stops.\n`,
  );
}

export function parsePort(text: string): number {
  const port = Number(text);
  if (/^\d{1,5}$/.test(text) && port <= 65_535) return port;
  throw new HubError("InvalidConfig", `"${text}" is not a port`, {
    field: "port",
    hint: "Use a number from 0 to 65535",
  });
}
