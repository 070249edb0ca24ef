// The demo server as a service: four tools, one prompt and one resource, in both eras.

import { isObject, type JsonObject } from "../lib/json/json.ts";
import { failure, RPC, success, type Reply } from "../protocol/rpc/jsonrpc.ts";
import type { Service } from "../protocol/serve/service.ts";
import { simpleService } from "../protocol/serve/simple-service.ts";
import { VERSION } from "../version.ts";
import { demoTools, type DemoTool } from "./tools.ts";

const GUIDE = { uri: "demo://guide", name: "guide", title: "First steps with Plugboard", mimeType: "text/markdown" };
const PROMPT = { name: "first_steps", description: "Asks the assistant to help you set up your first server" };

export function demoService(configDir: string): Service {
  const tools = demoTools(configDir);
  return simpleService({
    serverInfo: { name: "plugboard-demo", version: VERSION },
    capabilities: { tools: {}, prompts: {}, resources: {} },
    methods: {
      "tools/list": () => success({ tools: tools.map(({ definition }) => definition) }),
      "tools/call": (params) => callTool(tools, params),
      "prompts/list": () => success({ prompts: [PROMPT] }),
      "prompts/get": ({ name }) => {
        if (name !== PROMPT.name) return unknown("prompt", name);
        return success({ messages: [{ role: "user", content: { type: "text", text: guide(configDir) } }] });
      },
      "resources/list": () => success({ resources: [GUIDE] }),
      "resources/templates/list": () => success({ resourceTemplates: [] }),
      "resources/read": ({ uri }) => {
        if (uri !== GUIDE.uri) return unknown("resource", uri);
        return success({ contents: [{ uri: GUIDE.uri, mimeType: GUIDE.mimeType, text: guide(configDir) }] });
      },
    },
  });
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
  return failure({ code: RPC.invalidParams, message: `Unknown ${what} ${JSON.stringify(name)}` });
}

function guide(configDir: string): string {
  return `# First steps with Plugboard

You are looking at the built-in demo server. It runs because there is no config yet.

1. Put your servers into \`${configDir}/mcp_server.json\`, in the usual format of MCP clients:
   \`{"mcpServers": {"memory": {"command": "npx", "args": ["-y", "@modelcontextprotocol/server-memory"]}}}\`
2. Start the hub again: \`plugboard up\`
3. Point your MCP client at the address that it prints.

The tool \`config_example\` gives an entry for each kind of server.
`;
}
