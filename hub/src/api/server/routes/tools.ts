// Tools, resources and prompts: of one server, and of a group as its clients see it.

import * as z from "zod/mini";
import { requestIdOf } from "../../../http/request-id.ts";
import type { JsonObject } from "../../../lib/json/json.ts";
import { rawParams, type RawParams } from "../../../protocol/rpc/jsonrpc.ts";
import { CLIENT_HEADER } from "../../client/connection.ts";
import { flag, toolView } from "../../schemas/query.ts";
import {
  anyResult,
  groupTool,
  groupToolDetail,
  prompt,
  promptGet,
  resourceRead,
  resourceTemplate,
  tool,
  toolCall,
  toolCallResult,
  toolDetail,
  toolIndex,
} from "../../schemas/tool.ts";
import { memberOf, resultOf, toCallResult } from "../call-result.ts";
import type { CallOutcome, ToolCommands, RequestOptions } from "../commands/tools.ts";
import { idParam, nameParam, promptParam, routesOf, toolParam, type Call, type Route } from "../route.ts";

const { get, post } = routesOf("tools");

/** Shared by both routes that call a tool. */
const callsTool = {
  query: z.strictObject({
    raw: z._default(flag("Answer with the unchanged result of the server; its errors become a problem"), false),
  }),
  body: toolCall,
  answer: z.union([toolCallResult, anyResult]),
} as const;

export function toolRoutes(tools: ToolCommands): Route[] {
  return [
    get("/servers/{id}/tools", "listTools", "The tools of a server (list_mcp_tools)", {
      params: idParam,
      answer: z.array(tool),
      run: ({ params }) => tools.ofServer(params.id),
    }),
    get("/servers/{id}/tools/{tool}", "getTool", "One tool of a server, by its name there", {
      params: z.extend(idParam, toolParam),
      answer: toolDetail,
      run: ({ params }) => tools.onServer(params.id, params.tool),
    }),
    get("/servers/{id}/prompts", "listPrompts", "The prompts of a server", {
      params: idParam,
      answer: z.array(prompt),
      run: ({ params }) => tools.promptsOf(params.id),
    }),
    get("/servers/{id}/resource-templates", "listResourceTemplates", "The resource templates of a server", {
      params: idParam,
      answer: z.array(resourceTemplate),
      run: ({ params }) => tools.templatesOf(params.id),
    }),
    get("/tools", "getToolIndex", "The tools of all servers under their own names, as a compact index", {
      query: z.strictObject({ view: z._default(z.enum(["index"]), "index") }),
      answer: toolIndex,
      run: () => tools.index(),
    }),
    post("/servers/{id}/tools/{tool}/call", "callTool", "Call a tool by its name on the server (call_mcp_tool)", {
      ...callsTool,
      params: z.extend(idParam, toolParam),
      run: async (call) => {
        const { id, tool: name } = call.params;
        return toBytes(call, await tools.callOnServer(id, name, argumentsOf(call), toOptions(call)));
      },
    }),
    get("/groups/{name}/tools", "listGroupTools", "The tools of a group, under the names that its clients see", {
      params: nameParam,
      query: z.strictObject({ view: toolView }),
      answer: z.union([z.array(groupTool), toolIndex]),
      run: ({ params, query: { view } }) =>
        view === "index" ? tools.indexOfGroup(params.name) : tools.ofGroup(params.name, { view }),
    }),
    get("/groups/{name}/tools/{tool}", "getGroupTool", "One tool of a group, by the name that its clients see", {
      params: z.extend(nameParam, toolParam),
      answer: groupToolDetail,
      run: ({ params }) => tools.inGroup(params.name, params.tool),
    }),
    post("/groups/{name}/tools/{tool}/call", "callGroupTool", "Call a tool as a client of the group would", {
      ...callsTool,
      params: z.extend(nameParam, toolParam),
      run: async (call) => {
        const { name, tool: exposed } = call.params;
        return toBytes(call, await tools.callInGroup(name, exposed, argumentsOf(call), toOptions(call)));
      },
    }),
    post("/groups/{name}/resources/read", "readResource", "Read a resource", {
      params: nameParam,
      body: resourceRead,
      answer: anyResult,
      run: async (call) => (await tools.readResource(call.params.name, call.body.uri, toOptions(call))).bytes,
    }),
    post("/groups/{name}/prompts/{prompt}/get", "getPrompt", "Get a prompt with its arguments filled in", {
      params: z.extend(nameParam, promptParam),
      body: promptGet,
      answer: anyResult,
      run: async (call) =>
        (await tools.getPrompt(call.params.name, call.params.prompt, call.body.arguments, toOptions(call))).bytes,
    }),
  ];
}

function toBytes({ query }: { readonly query: { readonly raw: boolean } }, outcome: CallOutcome): Buffer {
  return query.raw ? resultOf(outcome).bytes : toCallResult(outcome);
}

/** The bytes of the arguments as the client sent them. */
function argumentsOf({ body, bytes }: Call<unknown, unknown, { readonly arguments: JsonObject }>): RawParams {
  const sent = memberOf(bytes, "arguments");
  return sent === undefined ? rawParams({}) : rawParams(body.arguments, sent);
}

interface CallBody {
  readonly timeout_ms?: number | undefined;
  readonly workflow_id?: string | undefined;
}

const MAX_CLIENT = 128;
/** The web interface. */
const UI_CLIENT = "ui";
const TRACE_HEADERS = ["traceparent", "tracestate", "baggage"] as const;

function toOptions({
  body,
  signal,
  header,
  session,
  response,
  grant,
}: Call<unknown, unknown, CallBody>): RequestOptions {
  const headers = Object.fromEntries(TRACE_HEADERS.map((name) => [name, header(name)]));
  return {
    client: session === undefined ? header(CLIENT_HEADER)?.slice(0, MAX_CLIENT) || "api" : UI_CLIENT,
    signal,
    principal: grant?.principal,
    timeoutMs: body.timeout_ms,
    workflowId: body.workflow_id,
    arrival: { transport: "http", headers, requester: grant, requestId: requestIdOf(response) },
  };
}
