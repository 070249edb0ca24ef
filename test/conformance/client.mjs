// The "client" that the suite tests is the hub's own side towards servers. This command puts the scenario's server behind a
// running hub, does through the hub what the scenario wants to see, and takes the server away again.
//
//   HUB_URL=… HUB_TOKEN=… node client.mjs http://localhost:1234/mcp

const { HUB_URL: hub, HUB_TOKEN: token, MCP_CONFORMANCE_PROTOCOL_VERSION: revision } = process.env;
const context = JSON.parse(process.env.MCP_CONFORMANCE_CONTEXT ?? "{}");
const name = `scenario-${process.pid}`;

async function manage(method, path, body) {
  const response = await fetch(`${hub}/api/v1${path}`, {
    method,
    headers: { authorization: `Bearer ${token}`, "content-type": "application/json" },
    ...(body === undefined ? {} : { body: JSON.stringify(body) }),
  });
  if (!response.ok) throw new Error(`${method} ${path}: ${await response.text()}`);
}

/** A client of the hub in the scenario's era, that agrees to everything it is asked. */
async function connect() {
  // Loaded late: where the server does not start, there is nothing to do.
  const { Client, StreamableHTTPClientTransport } = await import("@modelcontextprotocol/client");
  const modern = { versionNegotiation: { mode: { pin: "2026-07-28" } } };
  const capabilities = { elicitation: { form: { applyDefaults: true } } };
  const client = new Client(
    { name: "scenario", version: "1" },
    { capabilities, ...(revision >= "2026-07-28" ? modern : {}) },
  );
  client.setRequestHandler("elicitation/create", ({ params }) => ({
    action: "accept",
    content: "confirmed" in params.requestedSchema.properties ? { confirmed: true } : {},
  }));
  await client.connect(new StreamableHTTPClientTransport(new URL(`${hub}/mcp/${name}`)));
  return client;
}

/** Something of the right type for each required argument. A schema goes back to the tool that wants to see one. */
function argumentsFor({ inputSchema }, tools) {
  const values = { string: "text", number: 2, integer: 2, boolean: true, object: tools[0].inputSchema };
  const { properties = {}, required = [] } = inputSchema;
  return Object.fromEntries(required.map((key) => [key, values[properties[key]?.type] ?? null]));
}

async function useEverything(client) {
  const { tools } = await client.listTools();
  const calls = context.toolCalls ?? tools.map((tool) => ({ name: tool.name, arguments: argumentsFor(tool, tools) }));
  for (const call of calls) await client.callTool(call);
  for (const { uri } of (await client.listResources()).resources) await client.readResource({ uri });
  for (const prompt of (await client.listPrompts()).prompts) await client.getPrompt({ name: prompt.name });
}

await manage("POST", "/servers", { name, url: process.argv[2], groups: [name], enabled: true });
try {
  await manage("POST", `/servers/${name}/start`);
  const client = await connect();
  await useEverything(client);
  await client.close();
} finally {
  await manage("DELETE", `/servers/${name}`);
}
