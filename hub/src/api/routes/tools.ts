// Tools, resources and prompts: of one server, and of a group as its clients see it.

import { z } from "@hono/zod-openapi";
import type { JsonObject } from "../../wire/json.ts";
import { rawParams, type RawParams } from "../../wire/jsonrpc.ts";
import { memberOf, resultOf, toCallResult } from "../call-result.ts";
import type { ToolCommands, UseOptions } from "../commands/tools.ts";
import { CLIENT_HEADER } from "../connection.ts";
import { idParam, nameParam, route, type Call, type Route } from "../route.ts";
import { flag, view } from "../schemas/query.ts";
import { anyResult, groupTool, promptGet, resourceRead, tool, toolCall, toolCallResult } from "../schemas/tool.ts";

const tag = "tools";
const toolName = z.string().min(1);

const callQuery = z.strictObject({
  raw: flag
    .default(false)
    .openapi({ description: "The server's own result, byte by byte; its own error is then a problem" }),
});

export function toolRoutes(tools: ToolCommands): Route[] {
  return [
    route({
      method: "get",
      path: "/servers/{id}/tools",
      tag,
      id: "listTools",
      summary: "The tools of a server (list_mcp_tools)",
      params: idParam,
      answer: z.array(tool),
      run: ({ params }) => tools.ofServer(params.id),
    }),
    route({
      method: "post",
      path: "/servers/{id}/tools/{tool}/call",
      tag,
      id: "callTool",
      summary: "Call a tool by the name that its server knows (call_mcp_tool)",
      params: idParam.extend({ tool: toolName }),
      query: callQuery,
      body: toolCall,
      answer: z.union([toolCallResult, anyResult]),
      keyed: true,
      run: async (call) => {
        const { params, query, body, bytes } = call;
        const outcome = await tools.callOnServer(params.id, params.tool, argumentsOf(bytes, body), toOptions(call));
        return query.raw ? resultOf(outcome).bytes : toCallResult(outcome);
      },
    }),
    route({
      method: "get",
      path: "/groups/{name}/tools",
      tag,
      id: "listGroupTools",
      summary: "The tools of a group, under the names that its clients see",
      params: nameParam,
      query: z.strictObject({ view }),
      answer: z.array(groupTool),
      run: ({ params, query }) => tools.ofGroup(params.name, query),
    }),
    route({
      method: "post",
      path: "/groups/{name}/tools/{tool}/call",
      tag,
      id: "callGroupTool",
      summary: "Call a tool as a client of the group would",
      params: nameParam.extend({ tool: toolName }),
      query: callQuery,
      body: toolCall,
      answer: z.union([toolCallResult, anyResult]),
      keyed: true,
      run: async (call) => {
        const { params, query, body, bytes } = call;
        const outcome = await tools.callInGroup(params.name, params.tool, argumentsOf(bytes, body), toOptions(call));
        return query.raw ? resultOf(outcome).bytes : toCallResult(outcome);
      },
    }),
    route({
      method: "post",
      path: "/groups/{name}/resources/read",
      tag,
      id: "readResource",
      summary: "Read a resource",
      params: nameParam,
      body: resourceRead,
      answer: anyResult,
      run: async (call) => (await tools.readResource(call.params.name, call.body.uri, toOptions(call))).bytes,
    }),
    route({
      method: "post",
      path: "/groups/{name}/prompts/{prompt}/get",
      tag,
      id: "getPrompt",
      summary: "Get a prompt with its arguments filled in",
      params: nameParam.extend({ prompt: z.string().min(1) }),
      body: promptGet,
      answer: anyResult,
      run: async (call) =>
        (await tools.getPrompt(call.params.name, call.params.prompt, call.body.arguments, toOptions(call))).bytes,
    }),
  ];
}

/** The arguments as they were sent. */
function argumentsOf(body: Buffer, parsed: { readonly arguments: JsonObject }): RawParams {
  const bytes = memberOf(body, "arguments");
  return bytes === undefined ? rawParams({}) : rawParams(parsed.arguments, bytes);
}

interface CallBody {
  readonly timeout_ms?: number | undefined;
  readonly workflow_id?: string | undefined;
}

function toOptions({ body, signal, header }: Call<unknown, unknown, CallBody>): UseOptions {
  const headers = Object.fromEntries(TRACE_HEADERS.map((name) => [name, header(name)]));
  return {
    client: header(CLIENT_HEADER)?.slice(0, MAX_CLIENT) || "api",
    signal,
    timeoutMs: body.timeout_ms,
    workflowId: body.workflow_id,
    arrival: { transport: "http", headers },
  };
}

const MAX_CLIENT = 128;

const TRACE_HEADERS = ["traceparent", "tracestate", "baggage"] as const;
