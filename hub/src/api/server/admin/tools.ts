// The management commands as MCP tools: name, schema and handler.

import type { Rights } from "../../../auth/policy.ts";
import { HubError } from "../../../errors.ts";
import { isObject, type JsonObject } from "../../../lib/json/json.ts";
import { rawParams } from "../../../protocol/rpc/jsonrpc.ts";
import type { IncomingRequest } from "../../../protocol/serve/service.ts";
import { toCallResult } from "../call-result.ts";
import { OWNER_RIGHTS } from "../commands/on-behalf.ts";
import { ServerApprovalCommands } from "../commands/server-approvals.ts";
import { LoginCommands } from "../commands/logins.ts";
import { LifecycleCommands } from "../commands/lifecycle.ts";
import { RegistryCommands } from "../commands/registry.ts";
import { SecretCommands } from "../commands/secrets.ts";
import { ServerCommands } from "../commands/servers.ts";
import { StatsCommands } from "../commands/stats.ts";
import { ToolCommands } from "../commands/tools.ts";
import { check } from "../check.ts";
import { registryAdd } from "../../schemas/registry.ts";
import { OFFER_KINDS } from "../../../registry/model.ts";
import type { Managed } from "../core.ts";

export interface AdminTool {
  readonly definition: JsonObject & { readonly name: string };
  /** The operation of the API that does the same; undefined: it reads only. */
  readonly operation: string | undefined;
  run(args: JsonObject, exchange: IncomingRequest): unknown;
}

const TEXT = { type: "string" };
const REGISTRY = { ...TEXT, description: "Its name. Default: all that are configured" };
const SERVER = { server_name: { ...TEXT, description: "Name or id of the server" } };
const ID = { id: { ...TEXT, description: "Id or name of the server" } };
const CONFIG = { config: { type: "object", description: "An entry as in mcp_server.json, with its name" } };

export function adminTools(managed: Managed): readonly AdminTool[] {
  const servers = new ServerCommands(managed);
  const lifecycle = new LifecycleCommands(managed, servers);
  const tools = new ToolCommands(managed);
  const stats = new StatsCommands(managed);
  const logins = new LoginCommands(managed);
  const registry = new RegistryCommands(managed, { servers, secrets: new SecretCommands(managed) });
  const approvals = new ServerApprovalCommands(managed);
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
      operation: "createServer",
    }),
    tool(
      "update_mcp_server",
      "Replace a server's entry",
      { ...ID, ...CONFIG },
      {
        run: (args) => servers.update(text(args, "id"), args["config"]),
        operation: "updateServer",
      },
    ),
    tool("delete_mcp_server", "Stop a server and remove it from the config", ID, {
      run: async (args) => {
        await servers.delete(text(args, "id"));
        return { deleted: true };
      },
      operation: "deleteServer",
      destroys: true,
    }),
    tool("start_mcp_server", "Start a server", ID, {
      run: (args) => lifecycle.start(text(args, "id")),
      operation: "startServer",
    }),
    tool("stop_mcp_server", "Stop a server", ID, {
      run: (args) => lifecycle.stop(text(args, "id")),
      operation: "stopServer",
    }),
    tool("test_mcp_server", "Test an entry without saving it", CONFIG, {
      run: (args) => servers.test(args["config"]),
      operation: "testServer",
    }),
    tool("list_mcp_tools", "The tools of a server", SERVER, {
      run: (args) => tools.ofServer(text(args, "server_name")),
      reads: true,
    }),
    tool(
      "call_mcp_tool",
      "Call a tool of a server",
      { ...SERVER, tool_name: TEXT, arguments: { type: "object" }, workflow_id: TEXT },
      {
        run: (args, exchange) => callTool(tools, args, exchange),
        operation: "callTool",
        optional: ["arguments", "workflow_id"],
        wrapper: "request",
        destroys: true,
      },
    ),
    tool("get_mcp_latency_metrics", "Latency of the calls of the last 24 hours (p50, p95, p99), by server", SERVER, {
      run: (args) => stats.latency(args["server_name"] === undefined ? undefined : text(args, "server_name")),
      optional: ["server_name"],
      reads: true,
    }),
    tool(
      "list_mcp_logins",
      "The logins at servers: state, account, scopes, expiry",
      {},
      {
        run: (_, exchange) => logins.list(rightsOf(exchange)),
        reads: true,
      },
    ),
    tool(
      "begin_mcp_login",
      "Begin a login at a server. A person has to open the `url` of the answer and log in there",
      ID,
      {
        run: (args, exchange) => logins.begin(text(args, "id"), rightsOf(exchange)),
        operation: "beginLogin",
      },
    ),
    tool(
      "get_mcp_login",
      "Progress of a login that was begun: pending, completed or failed",
      { login: TEXT },
      {
        run: (args, exchange) => logins.find(text(args, "login"), rightsOf(exchange)),
        reads: true,
      },
    ),
    tool("end_mcp_login", "Log out at a server: revoke its tokens and forget them", ID, {
      run: (args, exchange) => logins.logout(text(args, "id"), rightsOf(exchange)),
      operation: "logout",
      destroys: true,
    }),
    ...registryTools(registry),
    tool(
      "get_mcp_approval",
      "What a server runs, and how its tools differ from those that were approved. A person has to approve it: plugboard approve",
      ID,
      { run: (args) => approvals.get(text(args, "id")), reads: true },
    ),
  ];
}

/** Finding servers in registries and adding them. */
function registryTools(registry: RegistryCommands): readonly AdminTool[] {
  return [
    tool(
      "search_mcp_registry",
      "Search servers in registries. Every word must be in name, title or description",
      { query: TEXT, registry: REGISTRY, cursor: TEXT },
      {
        run: (args) =>
          registry.search({
            query: optionalText(args, "query") ?? "",
            registry: optionalText(args, "registry"),
            cursor: optionalText(args, "cursor"),
          }),
        optional: ["query", "registry", "cursor"],
        reads: true,
      },
    ),
    tool(
      "get_mcp_registry_server",
      "A server of a registry: what would be run, and the inputs that it needs",
      { name: TEXT, registry: REGISTRY, version: TEXT },
      {
        run: (args) =>
          registry.get(text(args, "name"), {
            registry: optionalText(args, "registry"),
            version: optionalText(args, "version"),
          }),
        optional: ["registry", "version"],
        reads: true,
      },
    ),
    tool(
      "add_mcp_registry_server",
      "Add a server of a registry. Without a required value nothing is saved. Ask a person for secrets, or name a stored one: " +
        '{"secret_ref": "name"}',
      {
        name: TEXT,
        registry: REGISTRY,
        version: TEXT,
        package: { ...TEXT, enum: [...OFFER_KINDS] },
        as: { ...TEXT, description: "The name of the server in the hub" },
        values: { type: "object", description: "By input" },
        enabled: { type: "boolean" },
        groups: { type: "array", items: TEXT },
      },
      {
        run: (args) => registry.add(check(registryAdd, args)),
        operation: "addRegistryServer",
        optional: ["registry", "version", "package", "as", "values", "enabled", "groups"],
      },
    ),
  ];
}

type ToolOptions = ToolSpec & ({ readonly reads: true } | { readonly reads?: never; readonly operation: string });

interface ToolSpec {
  readonly run: AdminTool["run"];
  readonly destroys?: boolean;
  /** Optional properties. */
  readonly optional?: readonly string[];
  /** The arguments are also accepted inside an object of this name. */
  readonly wrapper?: string;
}

/** Alternative names of arguments. */
const ALIASES: Readonly<Record<string, string>> = { server_name: "serverName" };

function tool(name: string, description: string, properties: JsonObject, options: ToolOptions): AdminTool {
  const { run, reads = false, destroys = false, optional = [], wrapper } = options;
  const operation = options.reads === true ? undefined : options.operation;
  const keys = Object.keys(properties);
  const aliases = Object.fromEntries(
    keys.flatMap((key) => {
      const alias = ALIASES[key];
      return alias === undefined ? [] : [[alias, { ...TEXT, description: `Same as ${key}` }]];
    }),
  );
  const wrapped =
    wrapper === undefined ? {} : { [wrapper]: { type: "object", description: "All arguments in one object" } };
  // An argument with two spellings is required in neither.
  const required = keys.filter((key) => !optional.includes(key) && !(key in ALIASES) && wrapper === undefined);
  const inputSchema = {
    type: "object",
    properties: { ...properties, ...aliases, ...wrapped },
    required,
    additionalProperties: false,
  };
  const annotations = { readOnlyHint: reads, destructiveHint: destroys };
  return {
    definition: { name, description, inputSchema, annotations },
    operation,
    run: (args, exchange) => run(readArguments(args, keys, wrapper), exchange),
  };
}

/** The arguments without wrapper and aliases. Unknown arguments are refused. */
function readArguments(given: JsonObject, keys: readonly string[], wrapper: string | undefined): JsonObject {
  const inner = wrapper === undefined ? undefined : given[wrapper];
  if (wrapper !== undefined && inner !== undefined) {
    const beside = Object.keys(given).find((key) => key !== wrapper);
    if (beside !== undefined) throw invalid(beside, `"${beside}" and "${wrapper}" exclude each other`);
    if (!isObject(inner)) throw invalid(wrapper, `\`${wrapper}\` must be an object`);
    return readArguments(inner, keys, undefined);
  }
  const flat: Record<string, unknown> = {};
  for (const [name, value] of Object.entries(given)) {
    const key = keys.find((candidate) => candidate === name || ALIASES[candidate] === name);
    if (key === undefined) {
      const known = [...keys, ...(wrapper === undefined ? [] : [wrapper])].join(", ");
      throw invalid(name, `Unknown argument "${name}"`, `Arguments: ${known || "none"}`);
    }
    if (key in flat) throw invalid(name, `Duplicate argument ${key}`);
    flat[key] = value;
  }
  return flat;
}

async function callTool(tools: ToolCommands, args: JsonObject, exchange: IncomingRequest): Promise<unknown> {
  const { arguments: given = {}, workflow_id } = args;
  if (!isObject(given)) throw invalid("arguments", "`arguments` must be an object");
  const outcome = await tools.callOnServer(text(args, "server_name"), text(args, "tool_name"), rawParams(given), {
    signal: exchange.signal,
    arrival: exchange,
    principal: exchange.requester?.principal,
    workflowId: workflow_id === undefined ? undefined : text(args, "workflow_id"),
  });
  return JSON.parse(toCallResult(outcome).toString());
}

/** The endpoint is for administrators; each has logins of their own. */
function rightsOf({ requester }: IncomingRequest): Rights {
  return { ...OWNER_RIGHTS, principal: requester?.principal ?? OWNER_RIGHTS.principal };
}

function text(args: JsonObject, key: string): string {
  const value = args[key];
  if (typeof value === "string" && value !== "") return value;
  throw invalid(key, `\`${key}\` must be text`);
}

function optionalText(args: JsonObject, key: string): string | undefined {
  return args[key] === undefined ? undefined : text(args, key);
}

function invalid(field: string, message: string, hint?: string): HubError {
  return new HubError("InvalidArgument", message, { field, ...(hint === undefined ? {} : { hint }) });
}
