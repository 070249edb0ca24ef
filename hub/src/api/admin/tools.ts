// The eleven commands of the management plane as MCP tools: name, schema, and the command that each one runs.

import { HubError } from "../../errors.ts";
import { isObject, type JsonObject } from "../../wire/json.ts";
import { rawParams } from "../../wire/jsonrpc.ts";
import type { Exchange } from "../../wire/server.ts";
import { toCallResult } from "../call-result.ts";
import { LifecycleCommands } from "../commands/lifecycle.ts";
import { ServerCommands } from "../commands/servers.ts";
import { ToolCommands } from "../commands/tools.ts";
import type { Managed } from "../core.ts";

export interface AdminTool {
  readonly definition: JsonObject & { readonly name: string };
  run(args: JsonObject, exchange: Exchange): unknown;
}

const TEXT = { type: "string" };
const ID = { id: { ...TEXT, description: "Id or name of the server" } };
const CONFIG = { config: { type: "object", description: "An entry as in mcp_server.json, with its name" } };

export function adminTools(managed: Managed): readonly AdminTool[] {
  const servers = new ServerCommands(managed);
  const lifecycle = new LifecycleCommands(managed, servers);
  const tools = new ToolCommands(managed);
  return [
    tool(
      "list_mcp_servers",
      "All configured servers with their status",
      {},
      { run: () => servers.list(), reads: true },
    ),
    tool("get_mcp_server", "One server", ID, { run: (args) => servers.get(text(args, "id")), reads: true }),
    tool("create_mcp_server", "Add a server and start it if it is enabled", CONFIG, {
      run: (args) => servers.create(args["config"]),
    }),
    tool(
      "update_mcp_server",
      "Replace a server's entry",
      { ...ID, ...CONFIG },
      {
        run: (args) => servers.update(text(args, "id"), args["config"]),
      },
    ),
    tool("delete_mcp_server", "Stop a server and remove it from the config", ID, {
      run: async (args) => {
        await servers.delete(text(args, "id"));
        return { deleted: true };
      },
      destroys: true,
    }),
    tool("start_mcp_server", "Start a server", ID, { run: (args) => lifecycle.start(text(args, "id")) }),
    tool("stop_mcp_server", "Stop a server", ID, { run: (args) => lifecycle.stop(text(args, "id")) }),
    tool("test_mcp_server", "Try an entry without saving it", CONFIG, { run: (args) => servers.test(args["config"]) }),
    tool(
      "list_mcp_tools",
      "The tools of a server",
      { server_name: TEXT },
      {
        run: (args) => tools.ofServer(text(args, "server_name")),
        reads: true,
      },
    ),
    tool(
      "call_mcp_tool",
      "Call a tool of a server",
      { server_name: TEXT, tool_name: TEXT, arguments: { type: "object" } },
      { run: (args, exchange) => callTool(tools, args, exchange), optional: ["arguments"], destroys: true },
    ),
    tool(
      "get_mcp_latency_metrics",
      "Latency of calls (p50, p95, p99), per server",
      { server_name: TEXT },
      {
        run: ({ server_name: name }) =>
          managed.latency.metrics(typeof name === "string" ? managed.hub.supervisor.get(name).name : undefined),
        optional: ["server_name"],
        reads: true,
      },
    ),
  ];
}

interface ToolOptions {
  readonly run: AdminTool["run"];
  readonly reads?: boolean;
  readonly destroys?: boolean;
  /** Properties that may be left out. */
  readonly optional?: readonly string[];
}

function tool(name: string, description: string, properties: JsonObject, options: ToolOptions): AdminTool {
  const { run, reads = false, destroys = false, optional = [] } = options;
  const required = Object.keys(properties).filter((key) => !optional.includes(key));
  const annotations = { readOnlyHint: reads, destructiveHint: destroys };
  return { definition: { name, description, inputSchema: { type: "object", properties, required }, annotations }, run };
}

async function callTool(tools: ToolCommands, args: JsonObject, exchange: Exchange): Promise<unknown> {
  const given = isObject(args["arguments"]) ? args["arguments"] : {};
  const outcome = await tools.callOnServer(text(args, "server_name"), text(args, "tool_name"), rawParams(given), {
    signal: exchange.signal,
    arrival: exchange,
  });
  return JSON.parse(toCallResult(outcome).toString());
}

function text(args: JsonObject, key: string): string {
  const value = args[key];
  if (typeof value === "string" && value !== "") return value;
  throw new HubError("InvalidConfig", `\`${key}\` must be a text`, { field: key });
}
