// The demo server as a service on our own wire layer: four tools, one prompt, one resource, in both eras.

import { META, adaptResult, SUPPORTED_VERSIONS } from "../wire/era.ts";
import { isObject, type JsonObject } from "../wire/json.ts";
import { failure, RPC, success, type Reply } from "../wire/jsonrpc.ts";
import type { Exchange, Service } from "../wire/server.ts";
import { VERSION } from "../version.ts";
import { demoTools, type DemoTool } from "./tools.ts";

const SERVER_INFO = { name: "plugboard-demo", version: VERSION };
const CAPABILITIES = { tools: {}, prompts: {}, resources: {} };
const GUIDE = { uri: "demo://guide", name: "guide", title: "First steps with Plugboard", mimeType: "text/markdown" };
const PROMPT = { name: "first_steps", description: "Asks the assistant to help you set up your first server" };

export function demoService(configDir: string): Service {
  const tools = demoTools(configDir);
  return {
    handle: async (exchange) => {
      const reply = answer(exchange, tools, configDir);
      const { method } = exchange.request;
      return reply.ok ? { ok: true, result: adaptResult(reply.result, method, exchange.era) } : reply;
    },
    onNotification: () => undefined,
    onSession: () => undefined,
    onSessionEnd: () => undefined,
  };
}

function answer({ request, session }: Exchange, tools: readonly DemoTool[], configDir: string): Reply {
  const params = request.params?.value ?? {};
  switch (request.method) {
    case "initialize":
      return success({ protocolVersion: session?.version, capabilities: CAPABILITIES, serverInfo: SERVER_INFO });
    case "server/discover":
      return success({
        supportedVersions: SUPPORTED_VERSIONS,
        capabilities: CAPABILITIES,
        _meta: { [META.serverInfo]: SERVER_INFO },
      });
    case "ping":
      return success({});
    case "tools/list":
      return success({ tools: tools.map(({ definition }) => definition) });
    case "tools/call":
      return callTool(tools, params);
    case "prompts/list":
      return success({ prompts: [PROMPT] });
    case "prompts/get":
      if (params["name"] !== PROMPT.name) return unknown("prompt", params["name"]);
      return success({ messages: [{ role: "user", content: { type: "text", text: guide(configDir) } }] });
    case "resources/list":
      return success({ resources: [GUIDE] });
    case "resources/templates/list":
      return success({ resourceTemplates: [] });
    case "resources/read":
      if (params["uri"] !== GUIDE.uri) return unknown("resource", params["uri"]);
      return success({ contents: [{ uri: GUIDE.uri, mimeType: GUIDE.mimeType, text: guide(configDir) }] });
    default:
      return failure({ code: RPC.methodNotFound, message: `There is no method ${request.method} here` });
  }
}

function callTool(tools: readonly DemoTool[], { name, arguments: args }: JsonObject): Reply {
  const tool = tools.find(({ definition }) => definition.name === name);
  if (tool === undefined) return unknown("tool", name);
  try {
    return success({ content: [{ type: "text", text: tool.run(isObject(args) ? args : {}) }] });
  } catch (error) {
    const text = error instanceof Error ? error.message : String(error);
    return success({ content: [{ type: "text", text }], isError: true });
  }
}

function unknown(what: string, name: unknown): Reply {
  return failure({ code: RPC.invalidParams, message: `There is no ${what} ${JSON.stringify(name)}` });
}

function guide(configDir: string): string {
  return `# First steps with Plugboard

You are looking at the built-in demo server. It runs because there is no config yet.

1. Put your servers into \`${configDir}/mcp_server.json\`, in the shape that every MCP client uses:
   \`{"mcpServers": {"memory": {"command": "npx", "args": ["-y", "@modelcontextprotocol/server-memory"]}}}\`
2. Start the hub again: \`plugboard up\`
3. Point your MCP client at the address that it prints.

The tool \`config_example\` gives an entry for each kind of server.
`;
}
