// A hub inside a program: no daemon, no port, no output.

import { homedir } from "node:os";
import { refusedArgument, withFixedArguments } from "../calls/fixed-arguments.ts";
import { givenName, type ExposedTool } from "../catalog/group.ts";
import { DEFAULT_GROUP } from "../catalog/membership.ts";
import type { Redactor } from "../redaction/redactor.ts";
import { MemoryConfig } from "../config/files/memory-store.ts";
import { hubPaths } from "../config/files/paths.ts";
import type { ServerConfig } from "../config/schema/types.ts";
import { Hub } from "../hub/hub.ts";
import { MemorySecrets } from "../secrets/memory-store.ts";
import { LOCAL } from "../servers/instances/caller.ts";
import { hubEnvironment } from "../servers/process/environment.ts";
import { MemoryCallLog } from "../call-log/memory-call-log.ts";
import type { Status } from "../servers/status.ts";
import { rawParams } from "../protocol/rpc/jsonrpc.ts";
import type { JsonObject } from "../lib/json/json.ts";
import { FunctionCalling } from "./function-calling.ts";
import { toToolResult, type ToolResult } from "./tool-result.ts";

export interface CreateHubOptions {
  /** Servers and groups as in mcp_server.json and group.json. The hub then reads and writes no files. */
  readonly config?: { readonly mcpServers: JsonObject; readonly groups?: JsonObject };
  /** The folder of mcp_server.json and group.json. */
  readonly configDir?: string;
}

export interface AvailableTool {
  readonly server: string;
  /** Name of the tool in the group `default`. */
  readonly name: string;
  readonly tool: string;
  readonly definition: JsonObject;
}

export interface EmbeddedHub {
  list(): readonly ServerConfig[];
  get(id: string): ServerConfig | undefined;
  status(id: string): Status;
  start(id: string): Promise<void>;
  stop(id: string): Promise<void>;
  /** Tools of all running servers. */
  availableTools(): readonly AvailableTool[];
  /** Id of the server that has a tool, by its name on the server or in the group `default`. */
  findToolProvider(tool: string): string | undefined;
  callTool(id: string, tool: string, args?: JsonObject, options?: { signal?: AbortSignal }): Promise<ToolResult>;
  create(entry: JsonObject): Promise<ServerConfig>;
  update(id: string, entry: JsonObject): Promise<ServerConfig>;
  delete(id: string): Promise<void>;
  /** Stops all servers. The hub cannot be used afterwards. */
  shutdownAll(): Promise<void>;
  /** Starts all enabled servers; resolves when each runs or has failed. */
  startAll(): Promise<void>;
  /** The tools of a group for a model API. */
  functionCalling(group?: string): FunctionCalling;
}

/**
 * Opens a hub in this process.
 *
 * @example
 * const hub = await createHub({ config: { mcpServers: { memory: { command: "npx", args: ["-y", "…"] } } } });
 * await hub.startAll();
 * const { content } = await hub.callTool("memory", "read_graph");
 * await hub.shutdownAll();
 */
export async function createHub({ config, configDir }: CreateHubOptions = {}): Promise<EmbeddedHub> {
  const variables = hubEnvironment();
  const paths = hubPaths({ env: variables, platform: process.platform, home: homedir() });
  const inMemory =
    config === undefined
      ? {}
      : {
          store: MemoryConfig.of(config),
          secrets: new MemorySecrets(),
          callLog: (redactor: Redactor) => new MemoryCallLog({ redactor }),
        };
  const hub = await Hub.open({
    variables,
    paths: configDir === undefined ? paths : { ...paths, config: configDir },
    ...inMemory,
  });
  return embed(hub);
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
      ...(definition === undefined ? {} : { tool: definition }),
      ...(signal === undefined ? {} : { signal }),
    });
    return toToolResult(reply);
  };
  const availableTools = () =>
    hub.catalog
      .group()
      .tools.map(({ server, exposed, tool, definition }) => ({ server, name: exposed, tool, definition }));
  return {
    list: () => configuration.current.servers,
    get: (id) => configuration.current.servers.find((server) => server.id === id || server.name === id),
    status: (id) => supervisor.get(id).status,
    start: async (id) => supervisor.get(id).start(),
    stop: async (id) => supervisor.get(id).stop(),
    availableTools,
    findToolProvider: (sought) => {
      const found = availableTools().find(({ name, tool }) => name === sought || tool === sought);
      return found === undefined ? undefined : supervisor.get(found.server).config.id;
    },
    callTool: (id, tool, args, options) => call({ group: DEFAULT_GROUP, server: id, tool, args, ...options }),
    create: async (entry) => (await configuration.createServer(entry)).config,
    update: async (id, entry) => (await configuration.updateServer(id, entry)).config,
    delete: (id) => configuration.deleteServer(id),
    shutdownAll: () => hub.stop(),
    startAll: () => hub.start(),
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
