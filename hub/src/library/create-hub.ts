// The hub inside a program: no daemon, no port, no output. The twelve operations of the embedding interface.

import { homedir } from "node:os";
import type { Redactor } from "../calls/redact.ts";
import { MemoryConfig } from "../config/memory-store.ts";
import { hubPaths } from "../config/paths.ts";
import type { ServerConfig } from "../config/types.ts";
import { Hub } from "../hub.ts";
import { MemorySecrets } from "../secrets/memory-store.ts";
import { LOCAL } from "../servers/caller.ts";
import { hubEnvironment } from "../servers/environment.ts";
import { MemoryCallLog } from "../store/memory-call-log.ts";
import type { Status } from "../servers/status.ts";
import { rawParams } from "../wire/jsonrpc.ts";
import type { JsonObject } from "../wire/json.ts";
import { FunctionCalling } from "./function-calling.ts";
import { toToolResult, type ToolResult } from "./tool-result.ts";

export interface CreateHubOptions {
  /** Servers and groups as in mcp_server.json and group.json. Nothing is read from or written to files then. */
  readonly config?: { readonly mcpServers: JsonObject; readonly groups?: JsonObject };
  /** The folder of mcp_server.json and group.json, where the config is to be kept. */
  readonly configDir?: string;
}

export interface AvailableTool {
  readonly server: string;
  /** The name in the group `default`, which callers of that group use. */
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
  /** Of all running servers. */
  availableTools(): readonly AvailableTool[];
  /** The id of the server that has a tool: by its own name, or as the group `default` calls it. */
  findToolProvider(tool: string): string | undefined;
  callTool(id: string, tool: string, args?: JsonObject, options?: { signal?: AbortSignal }): Promise<ToolResult>;
  create(entry: JsonObject): Promise<ServerConfig>;
  update(id: string, entry: JsonObject): Promise<ServerConfig>;
  delete(id: string): Promise<void>;
  /** Stops everything. The hub cannot be used after that. */
  shutdownAll(): Promise<void>;
  /** Starts every enabled server; resolves when each is up or has failed. */
  startAll(): Promise<void>;
  /** A group's tools for a model API. */
  functionCalling(group?: string): FunctionCalling;
}

/**
 * A hub in this process.
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

function embed(hub: Hub): EmbeddedHub {
  const { supervisor, configuration } = hub;
  const callTool: EmbeddedHub["callTool"] = async (id, tool, args = {}, options = {}) => {
    const { name, listing } = supervisor.get(id);
    const definition = listing?.tools.find((candidate) => candidate["name"] === tool);
    const reply = await hub.calls.tool({
      method: "tools/call",
      params: rawParams({ name: tool, arguments: args }),
      caller: LOCAL,
      group: "default",
      server: name,
      name: tool,
      ...(definition === undefined ? {} : { tool: definition }),
      ...options,
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
    findToolProvider: (wanted) => {
      const found = availableTools().find(({ name, tool }) => name === wanted || tool === wanted);
      return found === undefined ? undefined : supervisor.get(found.server).config.id;
    },
    callTool,
    create: async (entry) => (await configuration.createServer(entry)).config,
    update: async (id, entry) => (await configuration.updateServer(id, entry)).config,
    delete: (id) => configuration.deleteServer(id),
    shutdownAll: () => hub.stop(),
    startAll: () => hub.start(),
    functionCalling: (group) =>
      new FunctionCalling(
        () => hub.catalog.group(group).tools,
        async (name, args) => {
          const { server, tool } = hub.catalog.group(group).resolveTool(name);
          return callTool(server, tool, args);
        },
      ),
  };
}
