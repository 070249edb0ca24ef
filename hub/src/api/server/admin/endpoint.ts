// `/mcp/@admin`: the management API as an MCP server, so that an agent can manage the hub. Needs the role admin.

import type { IncomingMessage, ServerResponse } from "node:http";
import { Grant } from "../../../auth/grant.ts";
import { audited } from "../route-audit.ts";
import type { Authenticator } from "../../../auth/authenticator.ts";
import { HubError, toHubError } from "../../../errors.ts";
import { StreamableHttpServer } from "../../../protocol/serve/http-server.ts";
import { isObject, type JsonObject } from "../../../lib/json/json.ts";
import { failure, RPC, success, type Reply } from "../../../protocol/rpc/jsonrpc.ts";
import type { IncomingRequest } from "../../../protocol/serve/service.ts";
import { simpleService } from "../../../protocol/serve/simple-service.ts";
import { VERSION } from "../../../version.ts";
import type { Managed } from "../core.ts";
import { isAdminPath } from "../../../http/mcp-paths.ts";
import { NodeResponse } from "../../../http/node-response.ts";
import { sendProblem } from "../../../http/send-problem.ts";
import { adminTools, type AdminTool } from "./tools.ts";
import { addressOf } from "../../../http/client-address.ts";

export interface AdminEndpoint {
  (request: IncomingMessage, response: ServerResponse): boolean;
  /** Ends all sessions. */
  close(): void;
}

export function createAdminEndpoint(managed: Managed, authenticator: Authenticator): AdminEndpoint {
  const tools = adminTools(managed);
  const service = simpleService({
    serverInfo: { name: "plugboard-admin", title: "Plugboard: management", version: VERSION },
    capabilities: { tools: {} },
    instructions: "Manages the MCP servers of this hub. Changes are saved to its config files.",
    methods: {
      "tools/list": () => success({ tools: tools.map(({ definition }) => definition) }),
      "tools/call": (params, exchange) => call(managed, tools, params, exchange),
    },
  });
  const server = new StreamableHttpServer(service);
  const edge = (request: IncomingMessage, response: ServerResponse): boolean => {
    if (!isAdminPath(request.url ?? "")) return false;
    const source = addressOf(request);
    authenticator
      .authenticate(request, source)
      .then((grant) => {
        authenticator.requireRole(grant, { role: "admin", changes: true }, source);
        server.handle(request, new NodeResponse(response), grant);
      })
      .catch((error: unknown) => sendProblem(response, error));
    return true;
  };
  return Object.assign(edge, { close: () => server.close() });
}

async function call(
  { hub }: Managed,
  tools: readonly AdminTool[],
  params: JsonObject,
  exchange: IncomingRequest,
): Promise<Reply> {
  const { name, arguments: args } = params;
  const tool = tools.find(({ definition }) => definition.name === name);
  if (tool === undefined)
    return failure({ code: RPC.invalidParams, message: `There is no tool ${JSON.stringify(name)}` });
  try {
    const given = readObject(args);
    const { requester } = exchange;
    const by = requester instanceof Grant ? requester : { principal: requester?.principal ?? "unknown" };
    const operation = { params: given, body: isObject(given["config"]) ? given["config"] : given };
    const run = () => tool.run(given, exchange);
    return result(await audited({ log: hub.audit, by }, tool.operation ?? "", operation, run), false);
  } catch (thrown) {
    return result(toHubError(thrown).toJSON(), true);
  }
}

function readObject(args: unknown = {}): JsonObject {
  if (isObject(args)) return args;
  throw new HubError("InvalidArgument", "`arguments` must be an object", { field: "arguments" });
}

/** As text for clients of every protocol revision, and as structured content. */
function result(value: unknown, isError: boolean): Reply {
  const structuredContent = isObject(value) ? value : { items: value };
  return success({ content: [{ type: "text", text: JSON.stringify(value) }], structuredContent, isError });
}
