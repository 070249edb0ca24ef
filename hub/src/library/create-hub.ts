// A hub inside a program: no daemon, no port, no output.

import { homedir } from "node:os";
import { resolve } from "node:path";
import { refusedArgument, withFixedArguments } from "../calls/fixed-arguments.ts";
import { givenName, type ExposedTool } from "../catalog/group.ts";
import { DEFAULT_GROUP } from "../catalog/membership.ts";
import { MemoryConfig } from "../config/files/memory-store.ts";
import { hubPaths, type HubPaths } from "../config/files/paths.ts";
import type { ServerConfig } from "../config/schema/types.ts";
import { Hub, type HubOptions } from "../hub/hub.ts";
import { MemorySecrets } from "../secrets/memory-store.ts";
import { LOCAL } from "../servers/instances/caller.ts";
import { hubEnvironment } from "../servers/process/environment.ts";
import { MemoryCallLog } from "../call-log/memory-call-log.ts";
import type { Status } from "../servers/status.ts";
import { rawParams } from "../protocol/rpc/jsonrpc.ts";
import type { JsonObject } from "../lib/json/json.ts";
import { FunctionCalling } from "./function-calling.ts";
import { toEntry, type ServerInput } from "./server-input.ts";
import { toToolResult, type ToolResult } from "./tool-result.ts";

/** Servers and groups that the program itself declares: nothing is read from files or written to them. */
export interface InMemoryOptions {
  /** As in mcp_server.json and group.json. A server can also be an address, or a command line. */
  readonly config?: { readonly mcpServers: Readonly<Record<string, ServerInput>>; readonly groups?: JsonObject };
}

/** The files of one folder, as with PLUGBOARD_HOME: config, secrets, call log, installed packages. */
export interface HomeOptions {
  readonly home: string;
}

/** Only the config files are in this folder, as with PLUGBOARD_CONFIG. Secrets and call log are the user's. */
export interface ConfigDirOptions {
  readonly configDir: string;
}

/** The config, secrets and call log of the user, which the `plugboard` command uses. */
export interface UserConfigOptions {
  readonly userConfig: true;
}

export type CreateHubOptions = InMemoryOptions | HomeOptions | ConfigDirOptions | UserConfigOptions;

export interface AvailableTool {
  readonly server: string;
  /** Name of the tool in the group `default`. */
  readonly name: string;
  readonly tool: string;
  readonly definition: JsonObject;
}

/** Operations on the servers of a hub. A server is identified by its id or name. */
export interface HubServers {
  list(): readonly ServerConfig[];
  get(id: string): ServerConfig | undefined;
  /** Throws if there is no such server. */
  status(id: string): Status;
  /** Resolves when the server runs; throws why it does not. */
  start(id: string): Promise<void>;
  stop(id: string): Promise<void>;
  /** Starts all enabled servers; resolves when each runs or has failed. */
  startAll(): Promise<void>;
  /** Adds a server, whose name is in the entry. Throws if the entry is invalid. */
  create(entry: JsonObject): Promise<ServerConfig>;
  /** Replaces the entry of a server. */
  update(id: string, entry: JsonObject): Promise<ServerConfig>;
  delete(id: string): Promise<void>;
}

/** A hub inside the program. The operations under `servers` are also on the hub itself. */
export interface EmbeddedHub extends HubServers, AsyncDisposable {
  readonly servers: HubServers;
  /** Tools of all running servers. */
  availableTools(): readonly AvailableTool[];
  /** Id of the server that has a tool, by its name on the server or in the group `default`. */
  findToolProvider(tool: string): string | undefined;
  callTool(id: string, tool: string, args?: JsonObject, options?: ToolCallOptions): Promise<ToolResult>;
  /** The tools of a group for a model API. */
  functionCalling(group?: string): FunctionCalling;
  /** Stops all servers: their processes have exited when it resolves. The hub cannot be used afterwards. */
  close(): Promise<void>;
  /** The same as `close`. */
  shutdownAll(): Promise<void>;
}

export interface ToolCallOptions {
  readonly signal?: AbortSignal;
}

/**
 * Opens a hub in this process.
 *
 * @example
 * await using hub = await createHub({ config: { mcpServers: { time: "uvx mcp-server-time" } } });
 * await hub.servers.startAll();
 * const { content } = await hub.callTool("time", "get_current_time", { timezone: "Asia/Tokyo" });
 */
export async function createHub(options: CreateHubOptions = {}): Promise<EmbeddedHub> {
  const variables = hubEnvironment();
  const system = { env: variables, platform: process.platform, home: homedir() };
  if ("home" in options) {
    const env = { ...variables, PLUGBOARD_HOME: resolve(options.home) };
    return openFiles(env, hubPaths({ ...system, env }));
  }
  const paths = hubPaths(system);
  if ("configDir" in options) return openFiles(variables, { ...paths, config: resolve(options.configDir) });
  if ("userConfig" in options) return openFiles(variables, paths);
  const { mcpServers = {}, groups = {} } = options.config ?? {};
  const entries = Object.entries(mcpServers).map(([name, server]) => [name, toEntry(server)] as const);
  const hub = await Hub.open({
    variables,
    paths,
    store: MemoryConfig.of({ mcpServers: Object.fromEntries(entries), groups }),
    secrets: new MemorySecrets(),
    callLog: (redactor) => new MemoryCallLog({ redactor }),
  });
  return embed(hub);
}

async function openFiles(variables: HubOptions["variables"], paths: HubPaths): Promise<EmbeddedHub> {
  return embed(await Hub.open({ variables, paths, offersDemo: false }));
}

interface ToolCall {
  /** The group that the call is recorded under. */
  readonly group: string;
  /** Id or name. */
  readonly server: string;
  readonly tool: string;
  readonly args: JsonObject | undefined;
  /** What the group has set for the tool. */
  readonly target?: ExposedTool;
  readonly signal?: AbortSignal;
}

/** The library interface of an open hub. */
export function embed(hub: Hub): EmbeddedHub {
  const { supervisor, configuration } = hub;
  const call = async ({ group, server: id, tool, args = {}, target, signal }: ToolCall): Promise<ToolResult> => {
    const { name, listing } = supervisor.get(id);
    const definition = listing?.tools.find((candidate) => candidate["name"] === tool);
    const given = rawParams({ name: tool, arguments: args });
    const override = target?.override;
    const refused = override === undefined ? undefined : refusedArgument(override, given);
    if (refused !== undefined) throw refused;
    const reply = await hub.calls.callTool({
      method: "tools/call",
      params: override === undefined ? given : withFixedArguments(override, given),
      exposed: target && givenName(target),
      caller: LOCAL,
      group,
      server: name,
      name: tool,
      approval: (target ?? { rules: hub.catalog.rulesOnServer(name, tool) }).rules?.approval,
      ...(definition === undefined ? {} : { tool: definition }),
      ...(signal === undefined ? {} : { signal }),
    });
    return toToolResult(reply);
  };
  const availableTools = () =>
    hub.catalog
      .group()
      .tools.map(({ server, exposed, tool, definition }) => ({ server, name: exposed, tool, definition }));
  const servers: HubServers = {
    list: () => configuration.current.servers,
    get: (id) => configuration.current.servers.find((server) => server.id === id || server.name === id),
    status: (id) => supervisor.get(id).status,
    start: async (id) => supervisor.get(id).start(),
    stop: async (id) => supervisor.get(id).stop(),
    startAll: () => hub.start(),
    create: async (entry) => (await configuration.createServer(entry)).config,
    update: async (id, entry) => (await configuration.updateServer(id, entry)).config,
    delete: (id) => configuration.deleteServer(id),
  };
  const close = () => hub.stop();
  return {
    ...servers,
    servers,
    availableTools,
    findToolProvider: (sought) => {
      const found = availableTools().find(({ name, tool }) => name === sought || tool === sought);
      return found === undefined ? undefined : supervisor.get(found.server).config.id;
    },
    callTool: (id, tool, args, options) => call({ group: DEFAULT_GROUP, server: id, tool, args, ...options }),
    close,
    shutdownAll: close,
    [Symbol.asyncDispose]: close,
    functionCalling: (group = DEFAULT_GROUP) =>
      new FunctionCalling(
        () => hub.catalog.group(group).tools,
        async (name, args) => {
          const target = hub.catalog.group(group).resolveTool(name);
          return call({ group, server: target.server, tool: target.tool, args, target });
        },
      ),
  };
}
