// `/mcp/@admin`: the management plane as an MCP server, so that an agent can run the hub. Needs the management token.

import type { IncomingMessage, ServerResponse } from "node:http";
import type { ManagementToken } from "../../auth/management-token.ts";
import { HubError, toHubError } from "../../errors.ts";
import { StreamableHttpServer } from "../../wire/http-server.ts";
import { isObject, type JsonObject } from "../../wire/json.ts";
import { failure, RPC, success, type Reply } from "../../wire/jsonrpc.ts";
import type { Exchange } from "../../wire/server.ts";
import { simpleService } from "../../wire/simple-service.ts";
import { VERSION } from "../../version.ts";
import type { Managed } from "../core.ts";
import { sendProblem } from "../refusal.ts";
import { adminTools, type AdminTool } from "./tools.ts";

export interface AdminEndpoint {
  (request: IncomingMessage, response: ServerResponse): boolean;
  /** Ends every session. */
  close(): void;
}

const PATH = /^\/mcp\/(?:@|%40)admin\/?(?:\?.*)?$/;

export function createAdminEndpoint(managed: Managed, token: ManagementToken): AdminEndpoint {
  const tools = adminTools(managed);
  const service = simpleService({
    serverInfo: { name: "plugboard-admin", title: "Plugboard: management", version: VERSION },
    capabilities: { tools: {} },
    instructions: "Manages the MCP servers of this hub. Changes are saved to its config files.",
    methods: {
      "tools/list": () => success({ tools: tools.map(({ definition }) => definition) }),
      "tools/call": (params, exchange) => call(tools, params, exchange),
    },
  });
  const server = new StreamableHttpServer(service);
  const edge = (request: IncomingMessage, response: ServerResponse): boolean => {
    if (!PATH.test(request.url ?? "")) return false;
    try {
      token.require(request.headers.authorization, request.socket.remoteAddress ?? "");
      server.handle(request, response);
    } catch (error) {
      sendProblem(response, error);
    }
    return true;
  };
  return Object.assign(edge, { close: () => server.close() });
}

async function call(tools: readonly AdminTool[], params: JsonObject, exchange: Exchange): Promise<Reply> {
  const { name, arguments: args } = params;
  const tool = tools.find(({ definition }) => definition.name === name);
  if (tool === undefined)
    return failure({ code: RPC.invalidParams, message: `There is no tool ${JSON.stringify(name)}` });
  try {
    return result(await tool.run(readObject(args), exchange), false);
  } catch (thrown) {
    return result(toHubError(thrown).toJSON(), true);
  }
}

function readObject(args: unknown = {}): JsonObject {
  if (isObject(args)) return args;
  throw new HubError("InvalidConfig", "`arguments` must be an object", { field: "arguments" });
}

/** As text for models of every age, and as an object for those that take one. */
function result(value: unknown, isError: boolean): Reply {
  const structuredContent = isObject(value) ? value : { items: value };
  return success({ content: [{ type: "text", text: JSON.stringify(value) }], structuredContent, isError });
}
