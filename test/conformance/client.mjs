// The "client" that the suite tests is the hub's own client side. This command adds the scenario's server to a running hub, logs in
// where the server wants it, makes the calls that the scenario expects through the hub, and removes the server again.
//
//   HUB_URL=… HUB_TOKEN=… node client.mjs http://localhost:1234/mcp

import { mkdtemp, rm, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { setTimeout as delay } from "node:timers/promises";

const { HUB_URL: hub, HUB_TOKEN: token, MCP_CONFORMANCE_PROTOCOL_VERSION: revision } = process.env;
const { MCP_CONFORMANCE_SCENARIO: scenario } = process.env;
const context = JSON.parse(process.env.MCP_CONFORMANCE_CONTEXT ?? "{}");
const name = `scenario-${process.pid}`;

/** The client id that the suite wants where an authorization server takes an address as one. It is not fetched. */
const CLIENT_DOCUMENT = "https://conformance-test.local/client-metadata.json";
/** More logins than any scenario allows. */
const MOST_LOGINS = 4;
const NEEDS_LOGIN = new Set(["LoginRequired", "LoginExpired", "ScopeRequired"]);

async function manage(method, path, body) {
  const response = await fetch(`${hub}/api/v1${path}`, {
    method,
    headers: { authorization: `Bearer ${token}`, "content-type": "application/json" },
    ...(body === undefined ? {} : { body: JSON.stringify(body) }),
  });
  const text = await response.text();
  const answer = text === "" ? undefined : JSON.parse(text);
  if (!response.ok) throw Object.assign(new Error(`${method} ${path}: ${text}`), { kind: answer?.kind });
  return answer;
}

/** What the entry says about authorization: what an operator would write after reading the scenario's context. */
function authFor(tokenFile) {
  const { client_id, client_secret, private_key_pem: key, signing_algorithm: algorithm, idp_issuer: issuer } = context;
  const client = { client_id, ...(client_secret === undefined ? {} : { client_secret }) };
  if (key !== undefined) return { type: "private_key_jwt", client_id, key, algorithm };
  if (issuer !== undefined) {
    const { idp_token_endpoint: token_url, idp_client_id, idp_id_token: id_token } = context;
    return { type: "enterprise", ...client, idp: { issuer, token_url, client_id: idp_client_id, id_token } };
  }
  if (context.valid_jwt !== undefined) return { type: "workload", client_id, token_file: tokenFile };
  if (scenario === "auth/client-credentials-basic") return { type: "client_credentials", ...client };
  if (client_id !== undefined) return client;
  return { client_metadata_url: CLIENT_DOCUMENT };
}

/** Logs in as often as the server wants it. The suite's authorization servers need no person. */
async function logIn() {
  for (let count = 0; count < MOST_LOGINS; count++) {
    const { id, url } = await manage("POST", `/servers/${name}/login`, {});
    await (await fetch(url, { redirect: "follow" })).text();
    let login = await manage("GET", `/logins/${id}`);
    for (; login.state === "pending"; login = await manage("GET", `/logins/${id}`)) await delay(20);
    if (login.state === "failed") throw new Error(`The login failed: ${JSON.stringify(login.error)}`);
    if (await start()) return;
  }
  throw new Error(`${MOST_LOGINS} logins were not enough`);
}

/** @returns whether the server runs; false if it wants a login */
async function start() {
  try {
    await manage("POST", `/servers/${name}/start`);
    return true;
  } catch (error) {
    if (NEEDS_LOGIN.has(error.kind)) return false;
    throw error;
  }
}

/** A client of the hub in the scenario's era that accepts every request. */
async function connect() {
  // Loaded on demand: not needed if the server does not start.
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

/** A value of the right type for each required argument. A tool that asks for its schema gets it. */
function argumentsFor({ inputSchema }, tools) {
  const values = { string: "text", number: 2, integer: 2, boolean: true, object: tools[0].inputSchema };
  const { properties = {}, required = [] } = inputSchema;
  return Object.fromEntries(required.map((key) => [key, values[properties[key]?.type] ?? null]));
}

/** Calls a tool, and once more after the login that it asked for. */
async function makeCall(client, call) {
  for (let count = 0; count <= MOST_LOGINS; count++) {
    const { kind } = (await client.callTool(call))._meta?.["io.plugboard/error"] ?? {};
    if (kind === undefined) return;
    if (!NEEDS_LOGIN.has(kind)) throw new Error(`The call of ${call.name} failed: ${kind}`);
    await logIn();
  }
}

function ignoreMissingMethod(error) {
  if (error.code !== -32_601) throw error;
}

async function useEverything(client) {
  const { tools } = await client.listTools();
  const calls = context.toolCalls ?? tools.map((tool) => ({ name: tool.name, arguments: argumentsFor(tool, tools) }));
  // Some scenarios have tools to list and none to call.
  for (const call of calls) await makeCall(client, call).catch(ignoreMissingMethod);
  for (const { uri } of (await client.listResources()).resources) await client.readResource({ uri });
  for (const prompt of (await client.listPrompts()).prompts) await client.getPrompt({ name: prompt.name });
}

const folder = await mkdtemp(join(tmpdir(), "plugboard-scenario-"));
const tokenFile = join(folder, "token");
if (context.valid_jwt !== undefined) await writeFile(tokenFile, context.valid_jwt, { mode: 0o600 });
const auth = scenario?.startsWith("auth/") ? { auth: authFor(tokenFile) } : {};
await manage("POST", "/servers", { name, url: process.argv[2], groups: [name], enabled: true, ...auth });
try {
  if (!(await start())) await logIn();
  const client = await connect();
  await useEverything(client);
  // The authorization server may have changed after the first use.
  if (scenario === "auth/authorization-server-migration") await useEverything(client);
  await client.close();
} finally {
  await manage("DELETE", `/servers/${name}`);
  await rm(folder, { recursive: true });
}
