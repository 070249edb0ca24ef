// Tools, resources and prompts: of one server, and of a group as its clients see it.

import { z } from "@hono/zod-openapi";
import { toCallResult } from "../call-result.ts";
import type { ToolCommands } from "../commands/tools.ts";
import { idParam, nameParam, route, type Route } from "../route.ts";
import { anyResult, groupTool, promptGet, resourceRead, tool, toolCall, toolCallResult } from "../schemas/tool.ts";

const tag = "tools";
const CALLER = { client: "api" };
const toolName = z.string().min(1);

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
      body: toolCall,
      answer: toolCallResult,
      run: async ({ params, body, signal }) =>
        toCallResult(
          await tools.callOnServer(params.id, params.tool, body.arguments, {
            ...CALLER,
            signal,
            timeoutMs: body.timeout_ms,
          }),
        ),
    }),
    route({
      method: "get",
      path: "/groups/{name}/tools",
      tag,
      id: "listGroupTools",
      summary: "The tools of a group, under the names that its clients see",
      params: nameParam,
      answer: z.array(groupTool),
      run: ({ params }) => tools.ofGroup(params.name),
    }),
    route({
      method: "post",
      path: "/groups/{name}/tools/{tool}/call",
      tag,
      id: "callGroupTool",
      summary: "Call a tool as a client of the group would",
      params: nameParam.extend({ tool: toolName }),
      body: toolCall,
      answer: toolCallResult,
      run: async ({ params, body, signal }) =>
        toCallResult(
          await tools.callInGroup(params.name, params.tool, body.arguments, {
            ...CALLER,
            signal,
            timeoutMs: body.timeout_ms,
          }),
        ),
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
      run: async ({ params, body, signal }) =>
        (await tools.readResource(params.name, body.uri, { ...CALLER, signal, timeoutMs: body.timeout_ms })).bytes,
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
      run: async ({ params, body, signal }) =>
        (
          await tools.getPrompt(params.name, params.prompt, body.arguments, {
            ...CALLER,
            signal,
            timeoutMs: body.timeout_ms,
          })
        ).bytes,
    }),
  ];
}
