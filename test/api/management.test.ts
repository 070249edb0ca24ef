// MG-1: the eleven management commands through all four interfaces: REST, the command line, the typed client and
// the tools of the admin endpoint. One hub, one table; every cell is a real request.

import { readFile } from "node:fs/promises";
import { join } from "node:path";
import { Client } from "@modelcontextprotocol/sdk/client/index.js";
import { StreamableHTTPClientTransport } from "@modelcontextprotocol/sdk/client/streamableHttp.js";
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { HubClient, HubError } from "../../hub/src/index.ts";
import { tokenOf } from "../support/client.ts";
import { fixture, makeHome, plugboard, startHub, type Home, type RunningHub } from "../support/hub.ts";
import { processesWithMark } from "../support/processes.ts";
import { http } from "../support/rpc.ts";

const TEXT = expect.any(String);
const NUMBER = expect.any(Number);

// The required members of each answer, with their types. There may be more.
const TOOL = {
  name: "add",
  description: TEXT,
  input_schema: { type: "object", properties: { a: { type: "number" } } },
};
const serverOf = (name: string, status: string, more: object = {}) => ({
  config: {
    id: name,
    name,
    enabled: true,
    command: process.execPath,
    args: [expect.stringContaining("echo.mjs")],
    env: expect.any(Object),
    ...more,
  },
  status,
  tools: expect.any(Array),
  resources: expect.any(Array),
  created_at: expect.stringMatching(/^\d{4}-\d\d-\d\dT.*Z$/),
  updated_at: expect.stringMatching(/^\d{4}-\d\d-\d\dT.*Z$/),
});
const METRICS = { server_name: "echo", p50_ms: NUMBER, p95_ms: NUMBER, p99_ms: NUMBER, total_calls: NUMBER };

let home: Home;
let hub: RunningHub;
let token: string;
let client: HubClient;
let admin: Client;

beforeAll(async () => {
  home = await makeHome({ echo: fixture("echo"), off: { ...fixture("echo"), enabled: false } });
  hub = await startHub(home);
  token = await tokenOf(home);
  client = new HubClient({ url: hub.url, token });
  admin = new Client({ name: "agent", version: "1" });
  const requestInit = { headers: { authorization: `Bearer ${token}` } };
  await admin.connect(new StreamableHTTPClientTransport(new URL(`${hub.url}/mcp/@admin`), { requestInit }));
});

afterAll(async () => {
  await admin?.close();
  expect(await hub?.stop()).toBe(0);
  expect(processesWithMark(home.mark)).toEqual([]);
  await home?.remove();
});

/** A list with an element that has at least these members. */
function including(shape: object): unknown {
  return expect.toSatisfy((list: unknown) => {
    return Array.isArray(list) && list.some((each) => isLike(each, shape));
  });
}

function isLike(value: unknown, shape: object): boolean {
  try {
    expect(value).toMatchObject(shape);
    return true;
  } catch {
    return false;
  }
}

/** The result of a command: its data, or an error. */
type Outcome = unknown;

async function rest(method: string, path: string, body?: unknown): Promise<Outcome> {
  const type: Record<string, string> = body === undefined ? {} : { "content-type": "application/json" };
  const headers = { authorization: `Bearer ${token}`, ...type };
  const json = body === undefined ? {} : { body: JSON.stringify(body) };
  const answer = await http(`${hub.url}/api/v1${path}`, { method, headers, ...json });
  return answer.body === "" ? undefined : JSON.parse(answer.body);
}

async function cli(...args: string[]): Promise<Outcome> {
  const { stdout, stderr } = await plugboard(home, ["--json", ...args]);
  return JSON.parse(stdout === "" ? stderr : stdout);
}

async function tool(name: string, args: Record<string, unknown> = {}): Promise<Outcome> {
  const { content } = await admin.callTool({ name, arguments: args });
  const [first] = content as { text: string }[];
  return JSON.parse(first?.text ?? "");
}

async function typed(run: () => Promise<unknown>): Promise<Outcome> {
  return run().catch((error: unknown) => {
    if (error instanceof HubError) return error.toJSON();
    throw error;
  });
}

const inServer = async (outcome: Promise<Outcome>) => {
  const value = (await outcome) as { server?: unknown };
  return value.server ?? value;
};

const entryOf = (name: string) => ({ name, ...fixture("echo") });
const commandOf = (name: string) => ["add", name, "--", fixture("echo").command, ...fixture("echo").args];

interface Row {
  readonly command: string;
  /** Undefined: the command returns nothing. */
  readonly shape: ((own: string) => unknown) | undefined;
  /** Each interface changes a server of its own. */
  readonly rest: (own: string) => Promise<Outcome>;
  readonly cli: (own: string) => Promise<Outcome>;
  readonly typed: (own: string) => Promise<Outcome>;
  readonly admin: (own: string) => Promise<Outcome>;
}

const call = { server_name: "echo", tool_name: "add", arguments: { a: 2, b: 3 } };
const called = { success: true, content: [{ type: "text", text: "5" }], duration_ms: NUMBER };

const ROWS: readonly Row[] = [
  {
    command: "create_mcp_server",
    shape: (own) => serverOf(own, expect.stringMatching(/^(starting|running)$/)),
    rest: (own) => rest("POST", "/servers", entryOf(own)),
    // The command line adds the file that it changed.
    cli: (own) => inServer(cli(...commandOf(own))),
    typed: (own) => typed(() => client.servers.create(entryOf(own))),
    admin: (own) => tool("create_mcp_server", { config: entryOf(own) }),
  },
  {
    command: "start_mcp_server",
    shape: (own) => serverOf(own, "running"),
    rest: (own) => rest("POST", `/servers/${own}/start`),
    cli: (own) => cli("start", own),
    typed: (own) => typed(() => client.servers.start(own)),
    admin: (own) => tool("start_mcp_server", { id: own }),
  },
  {
    command: "list_mcp_servers",
    shape: (own) => including(serverOf(own, "running")),
    rest: () => rest("GET", "/servers"),
    cli: () => cli("ls"),
    typed: () => typed(() => client.servers.list()),
    admin: () => tool("list_mcp_servers"),
  },
  {
    command: "get_mcp_server",
    shape: (own) => ({
      ...serverOf(own, "running"),
      tools: including(TOOL),
      resources: [{ uri: "test://static", name: "static" }],
    }),
    rest: (own) => rest("GET", `/servers/${own}`),
    cli: (own) => cli("get", own),
    typed: (own) => typed(() => client.servers.get(own)),
    admin: (own) => tool("get_mcp_server", { id: own }),
  },
  {
    command: "update_mcp_server",
    shape: (own) => serverOf(own, expect.any(String), { description: "changed" }),
    rest: (own) => rest("PUT", `/servers/${own}`, { ...entryOf(own), description: "changed" }),
    cli: (own) => cli("edit", "--replace", own, JSON.stringify({ ...fixture("echo"), description: "changed" })),
    typed: (own) => typed(() => client.servers.update(own, { ...entryOf(own), description: "changed" })),
    admin: (own) => tool("update_mcp_server", { id: own, config: { ...entryOf(own), description: "changed" } }),
  },
  {
    command: "stop_mcp_server",
    shape: (own) => ({ ...serverOf(own, "stopped"), tools: [] }),
    rest: (own) => rest("POST", `/servers/${own}/stop`),
    cli: (own) => cli("stop", own),
    typed: (own) => typed(() => client.servers.stop(own)),
    admin: (own) => tool("stop_mcp_server", { id: own }),
  },
  {
    command: "test_mcp_server",
    shape: () => ({
      success: true,
      message: TEXT,
      tools: including(TOOL),
      resources: [{ uri: "test://static" }],
      latency_ms: NUMBER,
    }),
    rest: () => rest("POST", "/servers/test", fixture("echo")),
    cli: () => cli("test", JSON.stringify(fixture("echo"))),
    typed: () => typed(() => client.servers.test(fixture("echo"))),
    admin: () => tool("test_mcp_server", { config: fixture("echo") }),
  },
  {
    command: "list_mcp_tools",
    shape: () => including({ ...TOOL, name: expect.stringMatching(/^(echo__)?add$/) }),
    rest: () => rest("GET", "/servers/echo/tools"),
    // Names in the default group: with a prefix, because there are several servers.
    cli: () => cli("tools", "echo"),
    typed: () => typed(() => client.servers.tools("echo")),
    admin: () => tool("list_mcp_tools", { server_name: "echo" }),
  },
  {
    command: "call_mcp_tool",
    shape: () => called,
    rest: () => rest("POST", "/servers/echo/tools/add/call", { arguments: call.arguments }),
    cli: () => cli("call", "echo.add", "a=2", "b=3"),
    typed: () => typed(() => client.callTool({ server: "echo", tool: "add", arguments: call.arguments })),
    admin: () => tool("call_mcp_tool", call),
  },
  {
    command: "get_mcp_latency_metrics",
    shape: () => [METRICS],
    rest: () => rest("GET", "/metrics/latency?server=echo"),
    cli: () => cli("stats", "echo"),
    typed: () => typed(() => client.calls.latency("echo")),
    admin: () => tool("get_mcp_latency_metrics", { server_name: "echo" }),
  },
  {
    command: "delete_mcp_server",
    shape: undefined,
    rest: (own) => rest("DELETE", `/servers/${own}`),
    cli: async (own) => {
      expect(await cli("rm", own)).toMatchObject({ removed: own });
    },
    typed: (own) => typed(() => client.servers.delete(own)),
    // The result of a tool cannot be empty.
    admin: async (own) => {
      expect(await tool("delete_mcp_server", { id: own })).toEqual({ deleted: true });
    },
  },
];

const WAYS = ["rest", "cli", "typed", "admin"] as const;
const CELLS = ROWS.flatMap((row) => WAYS.map((way) => ({ name: `${row.command} by ${way}`, row, way })));

describe("MG-1 the eleven commands, through four interfaces", () => {
  it("there are eleven", () => {
    expect(new Set(ROWS.map(({ command }) => command)).size).toBe(11);
    expect(CELLS).toHaveLength(44);
  });

  it.each(CELLS.map((cell) => [cell.name, cell] as const))("MG-1 %s", async (_, { row, way }) => {
    const own = `by-${way}`;
    const outcome = await row[way](own);
    if (row.shape === undefined) expect(outcome).toBeUndefined();
    else expect({ outcome }).toMatchObject({ outcome: row.shape(own) });
  });

  it("MG-1 leave no server and no process behind", async () => {
    expect((await client.servers.list()).map(({ config }) => config.name)).toEqual(["echo", "off"]);
  });
});

/** Code, kind, message and field are the same for all interfaces. */
const FAILURES: readonly {
  readonly what: string;
  readonly error: object;
  readonly ways: Pick<Row, "rest" | "cli" | "typed" | "admin">;
}[] = [
  {
    what: "MC-NT1 start of a disabled server",
    error: { code: "CONFLICT", kind: "ServerDisabled" },
    ways: {
      rest: () => rest("POST", "/servers/off/start"),
      cli: () => cli("start", "off"),
      typed: () => typed(() => client.servers.start("off")),
      admin: () => tool("start_mcp_server", { id: "off" }),
    },
  },
  {
    what: "MC-NT2 call on an unknown server",
    error: { code: "NOT_FOUND" },
    ways: {
      rest: () => rest("POST", "/servers/nobody/tools/add/call", {}),
      cli: () => cli("call", "nobody.add"),
      typed: () => typed(() => client.callTool({ server: "nobody", tool: "add" })),
      admin: () => tool("call_mcp_tool", { server_name: "nobody", tool_name: "add" }),
    },
  },
  {
    what: "MC-NT3 a server without a name",
    error: { code: "VALIDATION_ERROR", kind: "InvalidConfig", message: "Name is required", field: "name" },
    ways: {
      rest: () => rest("POST", "/servers", { command: "x" }),
      cli: () => cli("add", '{"name": " ", "command": "x"}', "--no-test"),
      typed: () => typed(() => client.servers.create({ command: "x" })),
      admin: () => tool("create_mcp_server", { config: { command: "x" } }),
    },
  },
  {
    what: "MC-NT4 a new server without a variable that it needs",
    error: {
      code: "VALIDATION_ERROR",
      kind: "InvalidConfig",
      message: "Missing required credentials",
      field: "env.API_KEY",
    },
    ways: needing((entry) => ({
      rest: () => rest("POST", "/servers", { name: "new", ...entry }),
      cli: () => cli("add", JSON.stringify({ name: "new", ...entry }), "--no-test"),
      typed: () => typed(() => client.servers.create({ name: "new", ...entry })),
      admin: () => tool("create_mcp_server", { config: { name: "new", ...entry } }),
    })),
  },
  {
    what: "MC-NT4 RG-1 a server of a registry without a variable that it requires",
    error: {
      code: "VALIDATION_ERROR",
      kind: "InvalidConfig",
      message: "Missing required credentials: BRAVE_API_KEY",
      field: "values.BRAVE_API_KEY",
    },
    ways: {
      rest: () => rest("POST", "/registry/servers", { name: "brave-search", registry: "curated" }),
      cli: () => cli("add", "registry:brave-search", "--registry", "curated"),
      typed: () => typed(() => client.registry.add({ name: "brave-search", registry: "curated" })),
      admin: () => tool("add_mcp_registry_server", { name: "brave-search", registry: "curated" }),
    },
  },
  {
    what: "MC-NT4 a server that would lose a variable that it needs",
    error: { code: "VALIDATION_ERROR", message: "Missing required credentials", field: "env.API_KEY" },
    ways: needing((entry) => ({
      rest: () => rest("PUT", "/servers/off", entry),
      cli: () => cli("edit", "off", JSON.stringify(entry)),
      typed: () => typed(() => client.servers.patch("off", entry)),
      admin: () => tool("update_mcp_server", { id: "off", config: entry }),
    })),
  },
  {
    what: "CF-7 a name that is taken",
    error: { code: "CONFLICT", kind: "ServerAlreadyExists" },
    ways: {
      rest: () => rest("POST", "/servers", entryOf("echo")),
      cli: () => cli("add", "echo", "--no-test", "--", "x"),
      typed: () => typed(() => client.servers.create(entryOf("echo"))),
      admin: () => tool("create_mcp_server", { config: entryOf("echo") }),
    },
  },
];

/** An entry from a registry: its required variable has no value. */
function needing<T>(ways: (entry: Record<string, unknown>) => T): T {
  return ways({
    source: { type: "official", name: "io.example/notes", version: "1.0.0" },
    package: { type: "npm", identifier: "@example/notes" },
    transport: "stdio",
    env_vars: { API_KEY: { required: true, is_secret: true } },
    enabled: false,
  });
}

describe("invalid requests get the same message from all four interfaces, and nothing is saved", () => {
  const bytes = () => readFile(join(home.dir, "config/mcp_server.json"));

  it.each(
    FAILURES.flatMap(({ what, error, ways }) =>
      WAYS.map((way) => [`${what}, by ${way}`, { error, run: ways[way] }] as const),
    ),
  )("%s", async (_, { error, run }) => {
    const before = await bytes();
    expect(await run("")).toMatchObject(error);
    expect(await bytes()).toEqual(before);
    const servers = await client.servers.list();
    expect(servers.map(({ config, status }) => `${config.name} ${status}`)).toEqual(["echo running", "off disabled"]);
  });
});

describe("RS-7 the result of a call", () => {
  it.each<[string, Outcome, string, object]>([
    ["of a tool that works", called, "add", { a: 2, b: 3 }],
    ["of a tool that failed", { success: false, error: "it failed", duration_ms: NUMBER }, "fail", {}],
  ])("RS-7 %s is the same four ways", async (_, shape, name, args) => {
    const words = Object.entries(args).map(([key, value]) => `${key}=${value}`);
    const request = { server_name: "echo", tool_name: name, arguments: { ...args } };
    for (const outcome of [
      await rest("POST", `/servers/echo/tools/${name}/call`, { arguments: args }),
      await cli("call", `echo.${name}`, ...words),
      await typed(() => client.callTool({ server: "echo", tool: name, arguments: { ...args } })),
      await tool("call_mcp_tool", request),
    ]) {
      expect(outcome).toMatchObject(shape as object);
      expect(Object.keys(outcome as object).filter((key) => !MEMBERS.includes(key))).toEqual([]);
    }
  });
});

const MEMBERS = ["success", "content", "error", "duration_ms", "structured_content", "rpc_error", "outcome", "code"];
