// `plugboard up`: runs the hub in the foreground. The background daemon is the same process, detached.

import { existsSync } from "node:fs";
import { join } from "node:path";
import { ManagementToken, readManagementToken } from "../../auth/management-token.ts";
import { HubError, toHubError } from "../../errors.ts";
import type { Hub } from "../../hub/hub.ts";
import type { Edge } from "../../http/listener.ts";
import { startFileLog } from "../../log/log.ts";
import { packagePath } from "../../lib/package-path.ts";
import { toNetwork, type NetworkFlags } from "../../network/network.ts";
import { VERSION } from "../../version.ts";
import { UncaughtErrors } from "../uncaught.ts";
import { findLocalHub } from "../hub-access/find-hub.ts";
import type { GlobalOptions, Io } from "../io.ts";
import { homePageEdge } from "../../http/pages/home-page.ts";
import { openHub, toStartup } from "../hub-access/open-hub.ts";
import { addOptions, UP_OPTIONS } from "../options.ts";
import { Output, printJson, printWarnings } from "../terminal/output.ts";
import type { Register } from "../command.ts";
import { Progress } from "../terminal/progress.ts";
import { isAlive } from "@plugboard/shared/process-identity";
import { hubFoldersOf, type HubFolders } from "../hub-access/run-file.ts";
import { readRecord, removeRecord, writeRecord, type RunFile } from "../../run-file.ts";
import { StartSteps } from "../terminal/start-steps.ts";
import { count } from "../terminal/text.ts";
import { parseDuration } from "../terminal/times.ts";
import { proofEdge } from "../../http/hub-proof.ts";
import { groupPath } from "../../http/group-path.ts";

/** Commands need the run file to find the hub, but the hub works without it. */
const RECORD_MS = 15_000;

export interface UpOptions extends GlobalOptions {
  readonly port?: string;
  readonly host?: string;
  readonly insecureHttp?: boolean;
  readonly drain: string;
  /** False for --no-fast-path. */
  readonly fastPath: boolean;
  /** False for --no-ui. */
  readonly ui: boolean;
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
  const flags: NetworkFlags = {
    host: options.host,
    port: options.port === undefined ? undefined : parsePort(options.port),
    insecureHttp: options.insecureHttp,
  };
  const folders = hubFoldersOf(io, options);
  const steps = new StartSteps(io);
  // Writing a first token takes about as long as loading the hub, so both run at once.
  const [proof] = await steps.wait(
    "the management token",
    Promise.all([createProofEdge(folders.data), import("../../hub/hub.ts")]),
  );
  const hub = await steps.wait("the config and the stored state", openHub(io, options, whileWaiting(io)));
  const faults = new UncaughtErrors(io, hub);
  const stopped = whenStopped(io, hub, parseDuration(options.drain, "drain"));
  hub.events.on("config.reloaded", ({ description }) => io.stderr.write(`config reloaded: ${description}\n`));
  hub.events.on("config.rejected", ({ error }) => {
    const where = error.field === undefined ? "" : ` (${error.field})`;
    io.stderr.write(`config not reloaded, still using the last valid one: ${error.message}${where}\n`);
  });
  const isFirst = hub.databaseName === undefined && !hasConfig(folders);
  const edges = [proof, homePageEdge({ version: VERSION, hasUi: options.ui })];
  const url = await steps.wait("the port", listen(io, hub, { options, flags, edges }));
  try {
    // Not earlier: if the hub cannot listen, only that error should be shown.
    printWarnings(io, hub);
    startFileLog(hub.events, join(folders.state, "log.jsonl"), { warnings: hub.warnings });
    // Not earlier: now nothing can prevent the imported servers from running.
    if (isFirst) await (await import("../input/first-run.ts")).offerImport(io, options, hub);
    // The rest is done while the servers start.
    const settled = hub.start();
    const recorded = leaveRecord(io, folders, {
      url,
      listen: hub.listeners?.kept(hub.settings, flags) ?? {},
      database: hub.databaseName,
    }).catch((thrown: unknown) => {
      io.stderr.write(`warning: commands cannot find this hub: ${toHubError(thrown).message}\n`);
    });
    await steps.wait("the watch on the config folder", hub.watch());
    await steps.waitAtMost(RECORD_MS, "the run file", recorded);
    if (options.json === true)
      printJson(io, { pid: process.pid, url, mcp_url: `${hub.publicUrl ?? url}/mcp`, api_url: `${url}/api/v1` });
    else {
      const out = new Output(io, options);
      out.print(out.tilde(`plugboard ${VERSION}  config ${folders.config}  data ${folders.data}`));
      printAddresses(io, hub, url, options.ui ? await uiAddress(io, hub, url) : undefined);
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
    await removeRecord(folders.record, process.pid);
  }
}

/** Says once for each reason why the hub does not start yet. */
function whileWaiting(io: Io): (problem: string) => void {
  let said: string | undefined;
  return (problem) => {
    if (problem !== said) io.stderr.write(`waiting: ${problem}\n`);
    said = problem;
  };
}

/** Reports the own hub if it is the program that has the port. */
async function listen(
  io: Io,
  hub: Hub,
  { options, flags, edges }: { options: UpOptions; flags: NetworkFlags; edges: readonly Edge[] },
): Promise<string> {
  try {
    const ui = options.ui ? packagePath("dist/ui") : undefined;
    return await hub.listen({ ...flags, ui, edges, fastPath: options.fastPath });
  } catch (error) {
    await hub.stop();
    if (!(error instanceof HubError) || error.kind !== "PortInUse") throw error;
    const { port } = toNetwork(hub.settings, flags);
    const running = await findLocalHub(io, options).catch(() => undefined); // the error about the port is shown instead
    if (running === undefined || new URL(running.record.url).port !== String(port)) throw error;
    const { url, pid } = running.record;
    throw new HubError("PortInUse", `The hub is already running: ${url}/mcp (pid ${pid})`, {
      hint: "plugboard status",
      cause: error,
    });
  }
}

/** True if any config file exists: then the user has decided already, and no import is offered. */
function hasConfig({ config }: HubFolders): boolean {
  return ["mcp_server.json", "group.json"].some((name) => existsSync(join(config, name)));
}

/** The first signal stops the hub gracefully, the second at once; the watchdog then ends the servers. */
function whenStopped(io: Io, hub: Hub, drainMs: number): Promise<void> {
  return new Promise((resolve, reject) => {
    let asked = false;
    io.onSignal(() => {
      if (asked) io.exit(130);
      asked = true;
      const { inFlight: runningCalls } = hub.calls;
      io.stderr.write(
        runningCalls > 0
          ? `waiting for ${count(runningCalls, "call")}; Ctrl-C again to stop now\n`
          : "Stopping the servers …\n",
      );
      hub.stop({ drainMs }).then(resolve, reject);
    });
  });
}

async function createProofEdge(dataDir: string) {
  await ManagementToken.open(dataDir); // creates it if missing
  const token = await readManagementToken(dataDir);
  if (token === undefined) throw new HubError("IoError", `The management token in ${dataDir} is missing`);
  return proofEdge(token, process.pid);
}

/** Writes the run file by which commands find this hub. With two hubs for one config folder, commands use the first. */
async function leaveRecord(
  io: Io,
  { record: path, config }: HubFolders,
  address: Pick<RunFile, "url" | "listen" | "database">,
): Promise<void> {
  const other = await readRecord(path);
  if (
    other !== undefined &&
    other.pid !== process.pid &&
    isAlive(other.pid) &&
    (await findLocalHubQuietly(io, config))
  ) {
    io.stderr.write(`warning: another hub is running for this config (${other.url}): commands will use that one\n`);
    return;
  }
  await writeRecord(path, { pid: process.pid, ...address, config, started_at: new Date().toISOString() });
}

async function findLocalHubQuietly(io: Io, config: string): Promise<boolean> {
  return (await findLocalHub(io, { config }).catch(() => undefined)) !== undefined;
}

/** On a terminal a link that signs in; a log must not have one. */
async function uiAddress(io: Io, hub: Hub, url: string): Promise<string> {
  const key = io.stdout.isTTY === true ? await hub.makeUiKey() : undefined;
  return `${url}/ui/${key === undefined ? "" : `#k=${key}`}`;
}

function printAddresses(io: Io, hub: Hub, url: string, ui: string | undefined): void {
  const forClients = hub.publicUrl ?? url;
  io.stdout.write(`MCP     ${forClients}/mcp\n`);
  for (const name of hub.catalog.groupNames) {
    if (name !== "default") io.stdout.write(`        ${forClients}${groupPath(name)}\n`);
  }
  io.stdout.write(`API     ${url}/api/v1\n`);
  if (ui !== undefined) io.stdout.write(`UI      ${ui}\n`);
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
    `${running} of ${count(servers.length, "server")} running, ${count(tools, "tool")} in the group default. Press Ctrl-C to stop.\n`,
  );
}

export function parsePort(text: string): number {
  const port = Number(text);
  if (/^\d{1,5}$/.test(text) && port <= 65_535) return port;
  throw new HubError("InvalidArgument", `Invalid port "${text}"`, {
    field: "port",
    hint: "Use a number from 0 to 65535",
  });
}
