// The management API through a real socket, on a real hub with real servers: scenario tables, and what must never be in
// an answer. Every answer of this file is kept, and searched at the end for the secrets that were planted everywhere.

import { once } from "node:events";
import { readFile, stat, writeFile } from "node:fs/promises";
import { connect } from "node:net";
import { join } from "node:path";
import { afterAll, afterEach, beforeAll, describe, expect, it } from "vitest";
import { HubClient } from "../../hub/src/api/client.ts";
import { createRoutes } from "../../hub/src/api/routes.ts";
import { EventLog } from "../../hub/src/api/live/event-log.ts";
import { EventStreams } from "../../hub/src/api/live/event-streams.ts";
import { filledLog, formsOf, openManaged, type Answer, type Asked, type ManagedHub } from "../support/api.ts";
import { failing, fixture, type Servers } from "../support/hub.ts";
import { untilState } from "../support/in-process.ts";
import { processesWithMark } from "../support/processes.ts";
import { http } from "../support/rpc.ts";

/** Planted where each name says. None of them may come out of the API, in any form. */
const SECRETS = {
  env: "planted-env-5f3a9c",
  marked: "planted-marked-77b1",
  variable: "planted-variable-c0ffee",
  stored: "planted-stored-d00d",
  header: "planted-header-beef",
  userinfo: "planted-userinfo-9911",
  query: "planted-query-4242",
  arg: "planted-arg-8d8d",
  flag: "planted-flag-3c3c",
  json: "planted-json-6e6e",
  connection: "planted-connection-1f1f",
} as const;

const SERVERS: Servers = {
  echo: {
    ...fixture("echo"),
    description: "Answers",
    env: {
      API_KEY: SECRETS.env,
      CODE: { value: SECRETS.marked, isSecret: true },
      HUB_TOKEN: "${HUB_VARIABLE}",
      STORED: { secretRef: "service" },
      DB: `postgres://app:${SECRETS.connection}@db/x`,
      MODE: "fast",
    },
    config: { apiKey: SECRETS.json, colour: "blue" },
    groups: ["hinted"],
  },
  second: { ...fixture("echo"), id: "id-of-second", autoApprove: ["echo"] },
  remote: {
    url: `http://u:${SECRETS.userinfo}@127.0.0.1:1/mcp?api_key=${SECRETS.query}&page=1`,
    headers: { Authorization: `Bearer ${SECRETS.header}`, "X-Other": SECRETS.header },
    enabled: false,
  },
  broken: {
    ...failing("API_KEY"),
    env: { API_KEY: SECRETS.env },
    enabled: false,
  },
  arguments: {
    command: "/no/such/command",
    args: ["--token", SECRETS.arg, `--password=${SECRETS.flag}`, "-e", `API_KEY=${SECRETS.flag}`],
    enabled: false,
  },
};

const GROUPS = { desk: { description: "Desk", servers: ["echo"], tools: ["echo", "add"] } };

let managed: ManagedHub;
const unexpected: unknown[] = [];

beforeAll(async () => {
  managed = await openManaged(SERVERS, {
    groups: GROUPS,
    variables: { HUB_VARIABLE: SECRETS.variable },
    onUnexpected: (error) => unexpected.push(error),
  });
  await managed.hub.secrets.set("service", SECRETS.stored);
  await managed.hub.start();
});

afterAll(async () => {
  const output = managed.seen.join("\n");
  const statuses = JSON.stringify(unexpected);
  expect(await managed.end()).toEqual([]);
  for (const [where, secret] of Object.entries(SECRETS)) {
    expect([where, formsOf(secret).filter((form) => output.includes(form))]).toEqual([where, []]);
  }
  expect(output.length).toBeGreaterThan(10_000);
  expect(statuses).toBe("[]");
});

const ask = (path: string, asked?: Asked): Promise<Answer> => managed.ask(path, asked);
const configFile = () => readFile(join(managed.paths.config, "mcp_server.json"), "utf8");
const problem = (status: number, code: string, kind: string | null) =>
  expect.objectContaining({ status, code, kind, message: expect.any(String) });

/** Every route with a request that reaches it. "nobody" is no server, group or secret: reaching is enough. */
const MATRIX: Readonly<Record<string, Asked & { readonly path: string }>> = {
  "GET /status": { path: "/status" },
  "GET /servers": { path: "/servers" },
  "POST /servers": { path: "/servers", body: {} },
  "POST /servers/test": { path: "/servers/test", body: {} },
  "GET /servers/{id}": { path: "/servers/nobody" },
  "PUT /servers/{id}": { path: "/servers/nobody", body: {} },
  "PATCH /servers/{id}": { path: "/servers/nobody", body: {} },
  "DELETE /servers/{id}": { path: "/servers/nobody" },
  "POST /servers/{id}/start": { path: "/servers/nobody/start" },
  "POST /servers/{id}/stop": { path: "/servers/nobody/stop" },
  "POST /servers/{id}/restart": { path: "/servers/nobody/restart" },
  "POST /servers/{id}/update": { path: "/servers/nobody/update" },
  "POST /servers/{id}/enable": { path: "/servers/nobody/enable" },
  "POST /servers/{id}/disable": { path: "/servers/nobody/disable" },
  "POST /servers/{id}/test": { path: "/servers/nobody/test" },
  "GET /servers/{id}/logs": { path: "/servers/nobody/logs" },
  "GET /servers/{id}/tools": { path: "/servers/nobody/tools" },
  "POST /servers/{id}/tools/{tool}/call": { path: "/servers/nobody/tools/x/call", body: {} },
  "GET /groups": { path: "/groups" },
  "POST /groups": { path: "/groups", body: {} },
  "GET /groups/{name}": { path: "/groups/nobody" },
  "PUT /groups/{name}": { path: "/groups/nobody", body: { unknown: 1 } },
  "DELETE /groups/{name}": { path: "/groups/nobody" },
  "GET /groups/{name}/tools": { path: "/groups/nobody/tools" },
  "POST /groups/{name}/tools/{tool}/call": { path: "/groups/nobody/tools/x/call", body: {} },
  "POST /groups/{name}/resources/read": { path: "/groups/nobody/resources/read", body: { uri: "x" } },
  "POST /groups/{name}/prompts/{prompt}/get": { path: "/groups/nobody/prompts/x/get", body: {} },
  "GET /secrets": { path: "/secrets" },
  "PUT /secrets/{name}": { path: "/secrets/nobody", body: { unknown: 1 } },
  "DELETE /secrets/{name}": { path: "/secrets/nobody" },
  "POST /secrets/rotate-key": { path: "/secrets/rotate-key" },
  "GET /calls": { path: "/calls" },
  "GET /calls/{id}": { path: "/calls/999999999" },
  "GET /metrics/latency": { path: "/metrics/latency" },
  "GET /stats": { path: "/stats?since=0" },
  "GET /config": { path: "/config" },
  "GET /config/export": { path: "/config/export" },
  "POST /config/validate": { path: "/config/validate", body: {} },
  "POST /config/reload": { path: "/config/reload" },
  "GET /events": { path: "/events?topics=none" },
  "GET /openapi.json": { path: "/openapi.json" },
};

describe("T06 every route needs the management token", () => {
  it("MG-3 the matrix has exactly the routes of the OpenAPI document, and the document those that are served", async () => {
    const { json } = await ask("/openapi.json");
    const documented = Object.entries<object>(json.paths).flatMap(([path, methods]) =>
      Object.keys(methods).map((method) => `${method.toUpperCase()} ${path.replace("/api/v1", "")}`),
    );
    expect(Object.keys(MATRIX).toSorted()).toEqual(documented.toSorted());
    const served = createRoutes({ ...managed, callLog: managed.hub.callLog }, streams());
    const names = served.map(({ method, path }) => `${method.toUpperCase()} ${path}`);
    expect([...names, "GET /openapi.json"].toSorted()).toEqual(documented.toSorted());
  });

  it.each(Object.entries(MATRIX))("%s without one", async (_, { path, ...asked }) => {
    for (const authorization of ["", "Basic dXNlcjpwYXNz", `Token ${managed.token}`]) {
      const answer = await ask(path, { ...methodOf(_), ...asked, headers: { authorization } });
      expect(answer.json).toEqual(problem(401, "UNAUTHENTICATED", "Unauthenticated"));
      expect(answer).toMatchObject({ status: 401, headers: { "www-authenticate": 'Bearer realm="plugboard"' } });
      expect(answer.headers["content-type"]).toBe("application/problem+json");
    }
  });

  it.each(Object.entries(MATRIX))("%s with a wrong one", async (_, { path, ...asked }) => {
    for (const wrong of [`pb_${"A".repeat(43)}`, `${managed.token}x`, managed.token.slice(0, -1)]) {
      const headers = { authorization: `Bearer ${wrong}` };
      const answer = await ask(path, { ...methodOf(_), ...asked, headers });
      expect(answer.json).toEqual(problem(401, "UNAUTHENTICATED", "Unauthenticated"));
    }
  });

  it.each(Object.entries(MATRIX))("%s with the right one is reached", async (_, { path, ...asked }) => {
    const { status, json } = await ask(path, { ...methodOf(_), ...asked });
    expect([401, 403, 429, 500]).not.toContain(status);
    // An address that is not there has no kind; a server that is not there has one.
    if (status >= 400) expect(json.kind).toEqual(expect.any(String));
  });

  it.each(["", "/", "/v1", "/v1/", "/v2/status", "/v1/nothing", "/v1/../status", "//v1/status"])(
    "T06 /api%s is behind it too, and is nothing",
    async (path) => {
      expect((await http(`${managed.url}/api${path}`, { method: "GET" })).status).toBe(401);
      const headers = { authorization: `Bearer ${managed.token}` };
      const known = await http(`${managed.url}/api${path}`, { method: "GET", headers });
      expect([known.status, JSON.parse(known.body).code]).toEqual([404, "NOT_FOUND"]);
    },
  );

  it.each(["/API/v1/status", "/%61pi/v1/status", "/api%2Fv1/status", "/x/api/v1/status"])(
    "T06 %s is no way around it",
    async (path) => {
      const headers = { authorization: `Bearer ${managed.token}` };
      expect((await http(managed.url + path, { method: "GET", headers })).status).toBe(404);
    },
  );

  it.each(["GET", "HEAD", "POST", "PUT", "PATCH", "DELETE", "OPTIONS"])(
    "%s without a token is refused",
    async (method) => {
      expect((await http(`${managed.url}/api/v1/servers`, { method })).status).toBe(401);
    },
  );

  it("T04 a token in the query string opens nothing, and neither does a cookie", async () => {
    for (const [path, headers] of [
      [`/status?token=${managed.token}`, {}],
      [`/status?access_token=${managed.token}`, {}],
      ["/status", { cookie: `token=${managed.token}` }],
    ] as const) {
      const answer = await http(`${managed.url}/api/v1${path}`, { method: "GET", headers });
      expect(answer.status).toBe(401);
      expect(answer.body).not.toContain(managed.token);
    }
  });

  it("T03 nothing was changed by all that", async () => {
    const names = (await ask("/servers")).json.map(({ config }: { config: { name: string } }) => config.name);
    expect(names).toEqual(Object.keys(SERVERS));
  });
});

const methodOf = (name: string) => ({ method: name.split(" ")[0] ?? "GET" });

const streams = () => new EventStreams(new EventLog());

describe("probes", () => {
  it.each(["/livez", "/readyz", "/readyz?verbose", "/healthz"])(
    "T04 %s needs no token and says nothing else",
    async (path) => {
      const { status, body } = await http(managed.url + path, { method: "GET" });
      expect([status, body]).toEqual([200, '{"status":"ok"}']);
    },
  );
});

describe("T05 wrong tokens", () => {
  it("the eleventh within a minute has to wait, and says how long; the right one still works", async () => {
    const hub = await openManaged({}, { wrongTokens: 10 });
    try {
      const wrong = { headers: { authorization: "Bearer wrong" } };
      for (let times = 0; times < 10; times++) expect((await hub.ask("/status", wrong)).status).toBe(401);
      const refused = await hub.ask("/status", wrong);
      expect(refused.json).toEqual(problem(429, "RATE_LIMITED", "RateLimited"));
      expect(Number(refused.headers["retry-after"])).toBeGreaterThan(50);
      expect(refused.json.retry_after_ms).toBeGreaterThan(50_000);
      expect((await hub.ask("/status")).status).toBe(200);
    } finally {
      expect(await hub.end()).toEqual([]);
    }
  });

  it("T05 the token stands in its own file and nowhere else", async () => {
    const hub = await openManaged({ it: { command: "x", enabled: false } });
    try {
      await hub.ask("/servers/it", { method: "PATCH", body: { description: "new" } });
      await hub.client.setSecret("a", "b");
      const { readdir } = await import("node:fs/promises");
      const files = await readdir(hub.home.dir, { recursive: true, withFileTypes: true });
      for (const file of files.filter((entry) => entry.isFile() && entry.name !== "token")) {
        expect(await readFile(join(file.parentPath, file.name), "latin1")).not.toContain(hub.token);
      }
      expect((await stat(join(hub.paths.data, "token"))).mode & 0o777).toBe(0o600);
    } finally {
      expect(await hub.end()).toEqual([]);
    }
  });
});

describe("S4 MG-1 servers", () => {
  it("list_mcp_servers: all of them, with their real state", async () => {
    const { status, json } = await ask("/servers");
    expect(status).toBe(200);
    expect(json.map((each: { config: { name: string }; status: string }) => [each.config.name, each.status])).toEqual([
      ["echo", "running"],
      ["second", "running"],
      ["remote", "disabled"],
      ["broken", "disabled"],
      ["arguments", "disabled"],
    ]);
  });

  it("get_mcp_server: S4's shape and our own, by name or id", async () => {
    const { json } = await ask("/servers/echo");
    expect(json).toMatchObject({
      config: {
        id: "echo",
        name: "echo",
        enabled: true,
        command: process.execPath,
        args: [expect.stringContaining("echo.mjs")],
        description: "Answers",
        groups: ["hinted"],
      },
      status: "running",
      resources: [{ uri: "test://static", name: "static", mime_type: "text/plain" }],
      kind: "binary",
      error: null,
      pid: managed.hub.supervisor.get("echo").pid,
      protocol_version: "2025-11-25",
      since: expect.stringMatching(/^\d{4}-.*Z$/),
      stage: null,
      groups: expect.arrayContaining(["desk", "hinted"]),
    });
    expect(json.tools).toContainEqual({
      name: "add",
      description: "The tool add",
      input_schema: { type: "object", properties: { a: { type: "number" }, b: { type: "number" } } },
    });
    for (const at of [json.created_at, json.updated_at]) expect(new Date(at).toISOString()).toBe(at);
    expect((await ask("/servers/id-of-second")).json.config.name).toBe("second");
  });

  it("SE-1 T12 shows secrets as ***, references as they are written, and the rest in clear", async () => {
    const { config, secret_refs } = (await ask("/servers/echo")).json;
    const { TEST_MARK: _, ...env } = config.env;
    expect(env).toEqual({
      API_KEY: "***",
      CODE: "***",
      HUB_TOKEN: "${HUB_VARIABLE}",
      STORED: "***",
      DB: "postgres://***@db/x",
      MODE: "fast",
    });
    expect(secret_refs).toEqual({ STORED: "service" });
    expect(config.config).toEqual({ apiKey: "***", colour: "blue" });
    expect((await ask("/servers/remote")).json.config).toMatchObject({
      command: "http",
      args: [],
      type: "http",
      url: "http://***@127.0.0.1:1/mcp?api_key=***&page=1",
      headers: { Authorization: "***", "X-Other": "***" },
    });
    expect((await ask("/servers/arguments")).json.config.args).toEqual([
      "--token",
      "***",
      "--password=***",
      "-e",
      "API_KEY=***",
    ]);
  });

  it.each<[string, string, Asked, number, string, string]>([
    ["MC-NT2 unknown", "/servers/nobody", {}, 404, "NOT_FOUND", "ServerNotFound"],
    ["MC-NT2 unknown, to start", "/servers/nobody/start", { method: "POST" }, 404, "NOT_FOUND", "ServerNotFound"],
    ["MC-NT1 disabled, to start", "/servers/broken/start", { method: "POST" }, 409, "CONFLICT", "ServerDisabled"],
    ["MC-NT1 disabled, to restart", "/servers/broken/restart", { method: "POST" }, 409, "CONFLICT", "ServerDisabled"],
    ["disabled, its tools", "/servers/broken/tools", {}, 503, "SERVICE_UNAVAILABLE", "ServerNotRunning"],
    ["MC-NT3 new, without a name", "/servers", post({ command: "x" }), 400, "VALIDATION_ERROR", "InvalidConfig"],
    [
      "MC-NT3 new, with an empty name",
      "/servers",
      post({ name: " ", command: "x" }),
      400,
      "VALIDATION_ERROR",
      "InvalidConfig",
    ],
    [
      "new, of a name that is taken",
      "/servers",
      post({ name: "echo", command: "x" }),
      409,
      "CONFLICT",
      "ServerAlreadyExists",
    ],
    ["new, without a transport", "/servers", post({ name: "n" }), 400, "VALIDATION_ERROR", "InvalidConfig"],
    [
      "MC-NT4 new, without a variable that it needs",
      "/servers",
      post({ name: "n", command: "x", env: { KEY: { required: true } } }),
      400,
      "VALIDATION_ERROR",
      "InvalidConfig",
    ],
    [
      "T08 new, with a shell",
      "/servers",
      post({ name: "n", command: "sh; rm" }),
      400,
      "VALIDATION_ERROR",
      "InvalidConfig",
    ],
    [
      "T52 new, with power over the machine",
      "/servers",
      post({ name: "n", command: "docker", args: ["run", "--privileged", "x"] }),
      400,
      "VALIDATION_ERROR",
      "InvalidConfig",
    ],
    [
      "T07 tried, with power over the machine",
      "/servers/test",
      post({ command: "docker", args: ["run", "--privileged", "x"] }),
      400,
      "VALIDATION_ERROR",
      "InvalidConfig",
    ],
    [
      "T12 new, with a mask",
      "/servers",
      post({ name: "n", command: "x", env: { KEY: "***" } }),
      400,
      "VALIDATION_ERROR",
      "InvalidConfig",
    ],
    ["replaced, by nothing", "/servers/second", { method: "PUT", body: {} }, 400, "VALIDATION_ERROR", "InvalidConfig"],
    [
      "renamed, to one that is taken",
      "/servers/second",
      patch({ name: "echo" }),
      409,
      "CONFLICT",
      "ServerAlreadyExists",
    ],
    ["T16 with a path for a name", "/servers/..%2F..%2Fetc%2Fpasswd", {}, 404, "NOT_FOUND", "ServerNotFound"],
    ["its log, of no lines", "/servers/echo/logs?tail=0", {}, 400, "VALIDATION_ERROR", "InvalidConfig"],
    ["its log, of many lines", "/servers/echo/logs?tail=x", {}, 400, "VALIDATION_ERROR", "InvalidConfig"],
  ])("%s", async (_, path, asked, status, code, kind) => {
    const before = await configFile();
    const answer = await ask(path, asked);
    expect(answer.json).toEqual(problem(status, code, kind));
    expect(answer.status).toBe(status);
    expect(await configFile()).toBe(before);
    expect(managed.hub.supervisor.get("broken").status).toEqual({ state: "disabled" });
  });

  it("MC-NT3 MC-NT4 says which field is wrong", async () => {
    expect((await ask("/servers", post({ command: "x" }))).json).toMatchObject({
      field: "name",
      message: "Name is required",
    });
    const { json } = await ask("/servers", post({ name: "n", command: "x", env: { KEY: { required: true } } }));
    expect(json).toMatchObject({ field: "env.KEY", message: "Missing required credentials" });
  });
});

function post(body: unknown): Asked {
  return { method: "POST", body };
}

function patch(body: unknown): Asked {
  return { method: "PATCH", body, headers: { "content-type": "application/merge-patch+json" } };
}

/** Tests that change the config have a hub of their own. */
describe("changes", () => {
  let own: ManagedHub;

  const open = async (servers: Servers, text?: (servers: string) => string) => {
    own = await openManaged(servers);
    const path = join(own.paths.config, "mcp_server.json");
    if (text !== undefined) {
      await writeFile(path, text(await readFile(path, "utf8")));
      await own.hub.configuration.reload();
    }
    return own;
  };
  const file = () => readFile(join(own.paths.config, "mcp_server.json"), "utf8");
  const entries = async () => JSON.parse(await file()).mcpServers;

  afterEach(async () => {
    const output = own.seen.join("\n");
    expect(await own.end()).toEqual([]);
    for (const form of formsOf("own-secret-31337")) expect(output).not.toContain(form);
  });

  it("create_mcp_server: saved as given, started, and shown at its own address", async () => {
    const { ask: askOwn, hub } = await open({});
    await hub.start();
    const entry = { name: "new", ...fixture("echo"), env: { API_KEY: "own-secret-31337" }, note: "theirs" };
    const { status, headers, json } = await askOwn("/servers", post(entry));
    expect([status, headers["location"]]).toEqual([201, "/api/v1/servers/new"]);
    expect(json).toMatchObject({ config: { name: "new", env: { API_KEY: "***" } } });
    const { name: _, ...saved } = entry;
    expect(await entries()).toEqual({ new: saved });
    await untilState(hub, "new", "running");
    expect((await askOwn("/servers/new")).json.status).toBe("running");
  });

  it("update_mcp_server: what is sent back as it was read changes nothing, not even the file's text", async () => {
    const { ask: askOwn, hub } = await open(
      { it: { ...fixture("echo"), env: { API_KEY: "own-secret-31337", PORT: 3000 } } },
      (text) => text.replace("{", "{\n  // mine\n"),
    );
    await hub.start();
    const { pid } = hub.supervisor.get("it");
    const before = await file();
    const { config } = (await askOwn("/servers/it")).json;
    const answer = await askOwn("/servers/it", { method: "PUT", body: config });
    expect(answer.status).toBe(200);
    expect(await file()).toBe(before);
    expect(hub.supervisor.get("it").pid).toBe(pid);
  });

  it("T12 a PUT of *** keeps the stored value; another text replaces it", async () => {
    const { ask: askOwn, hub } = await open({
      it: { ...fixture("echo"), env: { API_KEY: "own-secret-31337", TOKEN: { secretRef: "service" } } },
    });
    const { config } = (await askOwn("/servers/it")).json;
    await askOwn("/servers/it", { method: "PUT", body: { ...config, env: { ...config.env, MODE: "slow" } } });
    expect((await entries()).it.env).toMatchObject({
      API_KEY: "own-secret-31337",
      TOKEN: { secretRef: "service" },
      MODE: "slow",
    });
    await askOwn("/servers/it", { method: "PUT", body: { ...config, env: { API_KEY: "another" } } });
    expect((await entries()).it.env).toEqual({ API_KEY: "another" });
    expect(hub.supervisor.get("it").config.env).toEqual({ API_KEY: { value: "another" } });
  });

  it("CF-10 a merge patch changes what it names and keeps the rest of the file, comments and all", async () => {
    const text = `{
  // my servers
  "mcpServers": {
    "it": {
      "command": "server", // the program
      "args": ["--a"],
      "env": { "API_KEY": "own-secret-31337" /* from the vault */ },
      "theirs": 1
    }
  }
}
`;
    const { ask: askOwn } = await open({}, () => text);
    const { status, json } = await askOwn(
      "/servers/it",
      patch({ description: "Mine", env: { MODE: "x" }, theirs: null }),
    );
    expect([status, json.config.description]).toEqual([200, "Mine"]);
    const after = await file();
    for (const comment of ["// my servers", "// the program", "/* from the vault */"]) expect(after).toContain(comment);
    expect(after).toContain('"args": ["--a"],');
    expect(after).not.toContain("theirs");
    expect(after).toContain("own-secret-31337");
    await askOwn("/servers/it", patch({ description: null, env: { MODE: null } }));
    expect((await askOwn("/servers/it")).json.config).toMatchObject({ env: { API_KEY: "***" } });
    expect((await askOwn("/servers/it")).json.config).not.toHaveProperty("description");
  });

  it("a server that gets another name keeps its id, and is found by both", async () => {
    const { ask: askOwn } = await open({ it: { command: "server", enabled: false } });
    expect((await askOwn("/servers/it", patch({ name: "new" }))).json.config).toMatchObject({ id: "it", name: "new" });
    expect((await askOwn("/servers/it")).json.config.name).toBe("new");
    expect(Object.keys(await entries())).toEqual(["new"]);
  });

  it("delete_mcp_server: stopped, gone from the file, and its processes with it", async () => {
    const { ask: askOwn, hub, home } = await open({ it: fixture("echo") });
    await hub.start();
    const stopped = once(hub.events, "server.status");
    const { status, body } = await askOwn("/servers/it", { method: "DELETE" });
    expect([status, body]).toEqual([204, ""]);
    expect(await entries()).toEqual({});
    expect((await askOwn("/servers/it")).status).toBe(404);
    await stopped;
    expect(processesWithMark(home.mark)).toEqual([]);
  });

  it("start_mcp_server and stop_mcp_server: the answer is the state that was reached", async () => {
    const { ask: askOwn } = await open({ it: fixture("echo") });
    expect((await askOwn("/servers/it/start", { method: "POST" })).json.status).toBe("running");
    const first = (await askOwn("/servers/it")).json.pid;
    const restarted = (await askOwn("/servers/it/restart", { method: "POST" })).json;
    expect(restarted.status).toBe("running");
    expect(restarted.pid).not.toBe(first);
    expect((await askOwn("/servers/it/stop", { method: "POST" })).json).toMatchObject({
      status: "stopped",
      pid: null,
      tools: [],
    });
  });

  it("LC-3 a start that fails is the command's failure, with what the server said last and without its secrets", async () => {
    const { ask: askOwn } = await open({
      it: { ...failing("API_KEY"), env: { API_KEY: "own-secret-31337" } },
      args: {
        command: process.execPath,
        args: ["-e", "console.error(process.argv.at(-1)); process.exit(1)", "--", "--token", "own-secret-31337"],
      },
    });
    const { json } = await askOwn("/servers/it/start", { method: "POST" });
    expect(json).toEqual(problem(503, "SERVICE_UNAVAILABLE", "ProcessSpawnFailed"));
    expect(json.detail).toContain("fatal: no configuration found\n***");
    expect((await askOwn("/servers/it")).json).toMatchObject({
      status: "error",
      error: { kind: "ProcessSpawnFailed" },
    });
    expect((await askOwn("/servers/args/start", { method: "POST" })).json.detail).toContain("***");
    await askOwn("/servers/args");
    const logs = (await askOwn("/servers/it/logs?tail=2")).json;
    expect(logs).toMatchObject({ server: "it", text: "fatal: no configuration found\n***" });
    expect(logs.lines).toEqual([
      { timestamp: expect.stringMatching(/^\d{4}-.*Z$/), text: "fatal: no configuration found" },
      { timestamp: expect.any(String), text: "***" },
    ]);
    expect((await askOwn("/servers/args/logs")).json.text).toMatch(/^\*\*\*(\n\*\*\*)*$/);
    expect((await askOwn("/servers/it/logs?tail=1")).json.text).toBe("***");
  });

  it("LC-8 switching on a server that cannot start gives the error and leaves it off, in the file too", async () => {
    const { ask: askOwn, hub } = await open({
      it: { ...failing(), enabled: false },
      works: { ...fixture("echo"), enabled: false },
    });
    await hub.start();
    const before = await file();
    const refused = await askOwn("/servers/it/enable", { method: "POST" });
    expect(refused.json).toEqual(problem(503, "SERVICE_UNAVAILABLE", "ProcessSpawnFailed"));
    expect(await file()).toBe(before);
    expect((await askOwn("/servers/it")).json).toMatchObject({ status: "disabled", config: { enabled: false } });
    expect((await askOwn("/servers/works/enable", { method: "POST" })).json).toMatchObject({
      status: "running",
      config: { enabled: true },
    });
    expect((await entries()).works.enabled).toBe(true);
    expect((await askOwn("/servers/works/disable", { method: "POST" })).json.config.enabled).toBe(false);
    expect((await entries()).works.enabled).toBe(false);
    await untilState(hub, "works", "disabled");
  });

  it("test_mcp_server LC-9: tried, not saved, and nothing left running", async () => {
    const { ask: askOwn, home } = await open({ it: { ...fixture("echo"), env: { API_KEY: "own-secret-31337" } } });
    const before = await file();
    const [name = "", value = ""] = home.mark.split("=");
    const works = await askOwn("/servers/test", post({ ...fixture("echo"), env: { [name]: value } }));
    expect(works.json).toMatchObject({
      success: true,
      message: expect.stringMatching(/^Connected: \d+ tools$/),
      tools: expect.arrayContaining([expect.objectContaining({ name: "add", input_schema: expect.any(Object) })]),
      resources: [{ uri: "test://static" }],
      latency_ms: expect.any(Number),
    });
    const fails = await askOwn(
      "/servers/test",
      post({ ...failing("KEY"), env: { KEY: "own-secret-31337", [name]: value } }),
    );
    expect(fails).toMatchObject({
      status: 200,
      json: { success: false, tools: [], error: { kind: "ProcessSpawnFailed" } },
    });
    // A saved server that is being edited may be tried with the secrets that it has.
    const edited = { name: "it", ...failing("API_KEY"), env: { API_KEY: "***", [name]: value } };
    expect((await askOwn("/servers/test", post(edited))).json.error.detail).toContain("***");
    expect((await askOwn("/servers/it/test", { method: "POST" })).json.success).toBe(true);
    expect(await file()).toBe(before);
    expect(processesWithMark(home.mark)).toEqual([]);
  });

  it("the config's revision goes with answers, and a change can demand it", async () => {
    const { ask: askOwn } = await open({ it: { command: "server", enabled: false } });
    const read = await askOwn("/servers/it");
    const etag = String(read.headers["etag"]);
    expect(etag).toMatch(/^"\w+\.\w+"$/);
    const revisionIn = (tag: unknown) => String(tag).split(".")[0];
    for (const path of ["/servers", "/config", "/groups"]) {
      expect(revisionIn((await askOwn(path)).headers["etag"])).toBe(revisionIn(etag));
    }
    const ifMatch = (tag: string) => ({ headers: { "if-match": tag, "content-type": "application/json" } });
    const changed = await askOwn("/servers/it", { ...patch({ description: "one" }), ...ifMatch(etag) });
    expect(changed.status).toBe(200);
    expect(changed.headers["etag"]).not.toBe(etag);
    const before = await file();
    for (const asked of [
      { path: "/servers/it", method: "PATCH", body: { description: "two" } },
      { path: "/servers/it", method: "PUT", body: { command: "other" } },
      { path: "/servers/it", method: "DELETE" },
      { path: "/servers", method: "POST", body: { name: "n", command: "x" } },
      { path: "/groups/g", method: "PUT", body: { servers: [] } },
    ]) {
      const { json } = await askOwn(asked.path, { ...asked, ...ifMatch(etag) });
      expect([asked.path, json]).toEqual([asked.path, problem(409, "CONFLICT", "StaleConfig")]);
    }
    expect(await file()).toBe(before);
    const fresh = String(changed.headers["etag"]);
    for (const tag of ["*", `"other", ${fresh}`, `W/${fresh}`]) {
      const { headers, status } = await askOwn("/servers/it", { ...patch({ enabled: false }), ...ifMatch(tag) });
      expect([tag, status, headers["etag"]]).toEqual([tag, 200, fresh]);
    }
  });

  it("D26 what is read has an ETag of its content, and is not sent again to whoever has it", async () => {
    const { ask: askOwn, hub } = await open({ it: fixture("echo") });
    await hub.start();
    for (const path of ["/servers", "/servers?view=summary", "/groups/default/tools", "/status"]) {
      const first = await askOwn(path);
      const etag = String(first.headers["etag"]);
      const again = await askOwn(path, { headers: { "if-none-match": `"x", W/${etag}` } });
      // The status tells the time.
      if (path !== "/status") expect([path, again.status, again.body]).toEqual([path, 304, ""]);
      expect((await askOwn(path, { headers: { "if-none-match": '"x"' } })).status).toBe(200);
    }
    const before = String((await askOwn("/servers")).headers["etag"]);
    await hub.supervisor.get("it").stop();
    expect((await askOwn("/servers", { headers: { "if-none-match": before } })).status).toBe(200);
  });

  it("D26 long answers are compressed for those who take them so; a summary leaves out what is long", async () => {
    const { ask: askOwn, hub, url, token } = await open({ it: fixture("echo") });
    await hub.start();
    const plain = await askOwn("/servers");
    for (const [accepted, coding] of [
      ["gzip", "gzip"],
      ["gzip, br;q=1.0", "br"],
    ] as const) {
      const answer = await fetch(`${url}/api/v1/servers`, {
        headers: { authorization: `Bearer ${token}`, "accept-encoding": accepted },
      });
      expect([answer.headers.get("content-encoding"), answer.headers.get("vary")]).toEqual([coding, "accept-encoding"]);
      expect(await answer.text()).toBe(plain.body);
    }
    const refused = await askOwn("/servers", { headers: { "accept-encoding": "gzip;q=0, identity" } });
    expect(refused.headers["content-encoding"]).toBeUndefined();
    const [full] = plain.json;
    const [short] = (await askOwn("/servers?view=summary")).json;
    expect(short).toEqual({ ...full, tools: [], resources: [] });
    expect([short.tool_count, short.resource_count]).toEqual([full.tools.length, full.resources.length]);
    const [tool] = (await askOwn("/groups/default/tools?view=summary")).json;
    expect(tool).toEqual({
      name: expect.any(String),
      description: expect.any(String),
      input_schema: {},
      server: "it",
      tool: expect.any(String),
    });
    expect((await askOwn("/servers?view=short")).status).toBe(400);
  });

  it("F39 of two writers at once that saw the same revision, one is told", async () => {
    const { client } = await open({ it: { command: "server", enabled: false } });
    const { revision } = await client.config();
    const results = await Promise.allSettled(
      ["a", "b", "c", "d"].map((description) => client.patchServer("it", { description }, { revision })),
    );
    expect(results.filter(({ status }) => status === "fulfilled")).toHaveLength(1);
    for (const result of results) {
      if (result.status === "rejected") expect(result.reason).toMatchObject({ kind: "StaleConfig", code: "CONFLICT" });
    }
  });

  it("groups: added, changed, removed, in their own file", async () => {
    const { ask: askOwn, paths } = await open({
      a: { command: "a", enabled: false },
      b: { command: "b", enabled: false },
    });
    const made = await askOwn("/groups/desk", {
      method: "PUT",
      body: { description: "Desk", servers: ["a"], tools: ["x*"] },
    });
    expect(made.json).toMatchObject({
      name: "desk",
      description: "Desk",
      servers: ["a"],
      tools: ["x*"],
      declared: true,
    });
    expect(made.json.path).toBe("/groups/desk/mcp");
    const path = join(paths.config, "group.json");
    expect(JSON.parse(await readFile(path, "utf8"))).toEqual({
      desk: { description: "Desk", servers: ["a"], tools: ["x*"] },
    });
    await askOwn("/groups/desk", { method: "PUT", body: { name: "desk", description: null, servers: ["a", "b"] } });
    expect((await askOwn("/groups/desk")).json).toMatchObject({ description: null, servers: ["a", "b"], tools: [] });
    expect((await askOwn("/groups/desk", { method: "DELETE" })).status).toBe(204);
    expect((await askOwn("/groups/desk")).json).toEqual(problem(404, "NOT_FOUND", "GroupNotFound"));
    expect((await askOwn("/groups/default", { method: "DELETE" })).json.kind).toBe("GroupNotFound");
    for (const [name, body, field] of [
      ["desk", { name: "other" }, "name"],
      ["desk", { server: ["a"] }, "server"],
      ["desk", { servers: "a" }, "servers"],
      ["a%20b", {}, undefined],
      ["__proto__", {}, undefined],
    ] as const) {
      const { status, json } = await askOwn(`/groups/${name}`, { method: "PUT", body });
      expect([status, json.code]).toEqual([400, "VALIDATION_ERROR"]);
      if (field !== undefined) expect(json.field).toBe(field);
    }
  });

  it("SE-1 secrets go in and never come out", async () => {
    const { ask: askOwn, hub } = await open({
      it: { command: "a", env: { K: { secretRef: "a/b c" } }, enabled: false },
    });
    const stored = await askOwn("/secrets/a%2Fb%20c", { method: "PUT", body: { value: "own-secret-31337" } });
    expect([stored.status, stored.json]).toEqual([200, { name: "a/b c", used_by: ["it"], starting: [] }]);
    expect(await hub.secrets.get("a/b c")).toBe("own-secret-31337");
    expect((await askOwn("/secrets")).json).toEqual([{ name: "a/b c", used_by: ["it"] }]);
    expect((await askOwn("/secrets/a%2Fb%20c")).status).toBe(405);
    for (const body of [{}, { value: 1 }, { value: "x\0own-secret-31337" }, { value: "a", secret: "b" }]) {
      expect((await askOwn("/secrets/x", { method: "PUT", body })).json.code).toBe("VALIDATION_ERROR");
    }
    expect((await askOwn("/secrets/a%2Fb%20c?force=true", { method: "DELETE" })).status).toBe(204);
    expect((await askOwn("/secrets/a%2Fb%20c", { method: "DELETE" })).json.code).toBe("NOT_FOUND");
    expect((await askOwn("/secrets")).json).toEqual([]);
  });

  it("CF-9 the files are read again when asked, and a broken one changes nothing", async () => {
    const { ask: askOwn, paths } = await open({ it: { command: "a", enabled: false } });
    const path = join(paths.config, "mcp_server.json");
    await writeFile(path, JSON.stringify({ mcpServers: { other: { command: "b", enabled: false } } }));
    const { json } = await askOwn("/config/reload", { method: "POST" });
    expect(json).toMatchObject({ added: ["other"], removed: ["it"], description: "added other; removed it" });
    await writeFile(path, '{"mcpServers": {');
    expect((await askOwn("/config/reload", { method: "POST" })).json).toEqual(
      problem(400, "VALIDATION_ERROR", "InvalidConfig"),
    );
    expect((await askOwn("/servers")).json.map((each: { config: { name: string } }) => each.config.name)).toEqual([
      "other",
    ]);
  });

  it("T19 names that reach a prototype are refused or harmless, on every route that writes", async () => {
    const { ask: askOwn } = await open({ it: { command: "a", enabled: false } });
    for (const name of ["__proto__", "constructor", "prototype", "toString", "hasOwnProperty", "valueOf"]) {
      const poison = `{"${name}":{"polluted":true},"command":"a","name":"n-${name.replaceAll("_", "")}","enabled":false}`;
      for (const [method, path, body] of [
        ["POST", "/servers", poison],
        ["POST", "/servers", `{"name":"${name}","command":"a","enabled":false}`],
        ["PUT", "/servers/it", poison.replace(/"name":"[^"]*",/, "")],
        ["PATCH", "/servers/it", `{"env":{"${name}":"x"}}`],
        ["PATCH", "/servers/it", `{"${name}":{"polluted":true}}`],
        ["PATCH", `/servers/${name}`, "{}"],
        ["PUT", `/groups/${name}`, "{}"],
        ["PUT", "/groups/g", `{"${name}":{"polluted":true}}`],
        ["PUT", `/secrets/${name}`, '{"value":"x"}'],
        ["POST", "/config/validate", `{"mcpServers":{"${name}":{"command":"a"}},"groups":{"${name}":{}}}`],
        ["POST", "/servers/it/tools/x/call", `{"arguments":{"${name}":{"polluted":true}}}`],
      ] as const) {
        const { status } = await askOwn(path, { method, body: Buffer.from(body) });
        expect([method, path, body, status]).not.toEqual([method, path, body, 500]);
      }
      expect(({} as { polluted?: boolean }).polluted).toBeUndefined();
    }
    expect((await askOwn("/servers")).status).toBe(200);
  });
});

describe("tools, resources and prompts", () => {
  it("list_mcp_tools: those of one server; a group's under the names that its clients see", async () => {
    const own = (await ask("/servers/echo/tools")).json;
    expect(own.map(({ name }: { name: string }) => name)).toEqual(expect.arrayContaining(["echo", "add"]));
    const group = (await ask("/groups/desk/tools")).json;
    expect(group.map(({ name, server, tool }: Record<string, string>) => [name, server, tool])).toEqual([
      ["echo", "echo", "echo"],
      ["add", "echo", "add"],
    ]);
    expect(group[0].input_schema).toEqual({ type: "object", properties: { text: { type: "string" } } });
  });

  it.each<[string, string, unknown, object]>([
    [
      "call_mcp_tool RS-7",
      "/servers/echo/tools/add/call",
      { arguments: { a: 2, b: 3 } },
      { success: true, content: [{ type: "text", text: "5" }] },
    ],
    ["without arguments", "/servers/echo/tools/pid/call", {}, { success: true }],
    ["through a group", "/groups/desk/tools/echo/call", { arguments: { text: "hi" } }, { content: [{ text: "hi" }] }],
    [
      "GR-6 as server:tool",
      "/groups/default/tools/second%3Aecho/call",
      { arguments: { text: "hi" } },
      { success: true },
    ],
    [
      "RS-7 a result that says that it failed",
      "/servers/echo/tools/fail/call",
      {},
      {
        success: false,
        outcome: "tool_error",
        content: [{ type: "text", text: "it failed" }],
        error: "it failed",
        code: "SERVICE_UNAVAILABLE",
      },
    ],
    [
      "GR-5 an error of the server itself, unchanged",
      "/servers/echo/tools/rpc_error/call",
      {},
      {
        success: false,
        outcome: "failed",
        content: [],
        error: "no such luck",
        code: "SERVICE_UNAVAILABLE",
        rpc_error: { code: -32042, message: "no such luck", data: { reason: "odd", n: 1 } },
      },
    ],
  ])("%s", async (_, path, body, expected) => {
    const { status, json } = await ask(path, post(body));
    expect(status).toBe(200);
    expect(json).toMatchObject({ ...expected, duration_ms: expect.any(Number) });
  });

  it("GR-5 CL-5 what a server answers comes through byte by byte", async () => {
    const { body } = await ask("/servers/echo/tools/unknown_fields/call", post({}));
    expect(body).toContain('"depth":1.0,"id":12345678901234567890');
    expect(body).toContain('"structured_content":{"n":0.10}');
  });

  it.each<[string, string, unknown, number, string]>([
    ["MC-NT2 unknown server", "/servers/nobody/tools/echo/call", {}, 404, "ServerNotFound"],
    ["unknown tool", "/servers/echo/tools/nothing/call", {}, 404, "ToolNotFound"],
    ["unknown group", "/groups/nobody/tools/echo/call", {}, 404, "GroupNotFound"],
    [
      "GR-5 T06 tool outside the group",
      "/groups/desk/tools/env/call",
      { arguments: { name: "API_KEY" } },
      404,
      "ToolNotFound",
    ],
    ["MG-5 server that is disabled", "/servers/broken/tools/x/call", {}, 409, "ServerDisabled"],
    ["CL-3 tool that does not answer in time", "/servers/echo/tools/hang/call", { timeout_ms: 50 }, 504, "Timeout"],
    ["arguments that are no object", "/servers/echo/tools/echo/call", { arguments: [1] }, 400, "InvalidConfig"],
    ["unknown member", "/servers/echo/tools/echo/call", { args: {} }, 400, "InvalidConfig"],
    ["unknown resource", "/groups/default/resources/read", { uri: "other://x" }, 404, "ToolNotFound"],
    ["no uri", "/groups/desk/resources/read", {}, 400, "InvalidConfig"],
    ["unknown prompt", "/groups/desk/prompts/nothing/get", {}, 404, "ToolNotFound"],
  ])("%s", async (_, path, body, status, kind) => {
    const answer = await ask(path, post(body));
    expect([answer.status, answer.json.status, answer.json.kind]).toEqual([status, status, kind]);
  });

  it("reads a resource and gets a prompt, as the server gives them", async () => {
    expect((await ask("/groups/desk/resources/read", post({ uri: "test://items/7" }))).json).toMatchObject({
      contents: [{ uri: "test://items/7", text: "of test://items/7" }],
    });
    expect((await ask("/groups/desk/prompts/greet/get", post({ arguments: { who: "Ada" } }))).json).toMatchObject({
      messages: [{ role: "user", content: { text: "Greet Ada" } }],
    });
    const refused = await ask("/groups/desk/prompts/greet/get", post({ arguments: { who: 7 } }));
    expect(refused.json).toMatchObject({ status: 400, field: "arguments.who" });
  });

  it("F46 a client that goes away cancels its call", async () => {
    const abort = new AbortController();
    const calls = async () => (await heardByServer()).filter((what) => what === "tools/call").length;
    const cancelled = async () =>
      (await heardByServer()).filter((what) => typeof what === "object" && CANCELLED in what).length;
    const cancelledBefore = await cancelled();
    const before = await calls();
    const finished = new Promise<unknown>((resolve) => {
      managed.hub.events.on("call.finished", (record) => {
        if (record.tool === "hang") resolve(record);
      });
    });
    const call = managed.client.callTool({ server_name: "echo", tool_name: "hang" }, { signal: abort.signal });
    // Looking is a call too: the server has the one that hangs when there is one more than we made.
    for (let looks = 1; (await calls()) - before === looks; looks++);
    abort.abort();
    await expect(call).rejects.toMatchObject({ kind: "Cancelled" });
    expect(await finished).toMatchObject({ outcome: "cancelled", error: { kind: "Cancelled" } });
    while ((await cancelled()) === cancelledBefore);
  });
});

const CANCELLED = "notifications/cancelled";

/** Everything that the server has heard so far. */
async function heardByServer(): Promise<(string | object)[]> {
  const { content } = await managed.client.callTool({ server_name: "echo", tool_name: "heard" });
  const [block] = content as { text: string }[];
  return JSON.parse(block?.text ?? "[]");
}

describe("groups", () => {
  it("GR-4 declared, hinted and the default one", async () => {
    const { json } = await ask("/groups");
    expect(json.map(({ name, declared }: Record<string, unknown>) => [name, declared])).toEqual(
      expect.arrayContaining([
        ["desk", true],
        ["hinted", false],
        ["default", false],
      ]),
    );
    expect((await ask("/groups/desk")).json).toMatchObject({
      servers: ["echo"],
      tools: ["echo", "add"],
      tool_count: 2,
    });
  });
});

describe("the config", () => {
  it("CF-10 SE-1 is shown and exported without its secrets, with its references", async () => {
    const { json } = await ask("/config");
    expect(json).toMatchObject({ revision: managed.hub.configuration.revision, demo: false });
    expect(json.config.mcpServers.echo).toMatchObject({
      env: { API_KEY: "***", CODE: { value: "***", isSecret: true }, STORED: { secretRef: "service" } },
    });
    expect(json.config.groups).toEqual(GROUPS);
    const exported = await ask("/config/export");
    expect(exported.json).toEqual(json.config);
    expect(exported.headers["content-disposition"]).toBe('attachment; filename="plugboard.json"');
    expect((await ask("/config/validate", post(exported.json))).json.valid).toBe(true);
  });

  it.each<[string, unknown, boolean, unknown[]]>([
    ["nothing", {}, true, []],
    ["a good one", { mcpServers: { a: { command: "x" } }, groups: { g: { servers: ["a"] } } }, true, []],
    ["VS Code's", { servers: { a: { command: "x" } } }, true, []],
    [
      "everything that is wrong",
      { mcpServers: { a: {}, b: { command: "x", args: "y" }, "c d": { command: "x" } }, groups: { g: { tools: 1 } } },
      false,
      [
        { kind: "InvalidConfig", field: "mcpServers.a.transport" },
        { kind: "InvalidConfig", field: "mcpServers.b.args" },
        { kind: "InvalidConfig", field: "groups.g.tools" },
      ],
    ],
    [
      "CF-7 two of one name",
      { mcpServers: { a: { command: "x" }, b: { name: "a", command: "x" } } },
      false,
      [{ kind: "ServerAlreadyExists", code: "CONFLICT" }],
    ],
  ])("%s is checked, and not saved", async (_, document, valid, errors) => {
    const before = await configFile();
    const { status, json } = await ask("/config/validate", post(document));
    expect([status, json.valid]).toEqual([200, valid]);
    expect(json.errors).toHaveLength(errors.length);
    expect(json.errors).toMatchObject(errors);
    expect(await configFile()).toBe(before);
  });

  it("T52 warns of what gives a server power over the machine", async () => {
    const document = { mcpServers: { a: { command: "docker", args: ["run", "--privileged", "x"] } } };
    expect((await ask("/config/validate", post(document))).json).toMatchObject({
      valid: true,
      warnings: [expect.stringContaining("--privileged")],
    });
  });
});

describe("records", () => {
  it("RS-4 calls come in pages, and each says where the next one is", async () => {
    const own = await openManaged({}, { callLog: filledLog(120) });
    try {
      const ids: number[] = [];
      let path: string | undefined = "/calls?limit=25&server=even";
      while (path !== undefined) {
        const { json, headers }: Answer = await own.ask(path);
        ids.push(...json.items.map(({ id }: { id: number }) => id));
        const link = /^<\/api\/v1([^>]+)>; rel="next"$/.exec(String(headers["link"] ?? ""));
        expect(json.next_cursor === null).toBe(link === null);
        path = link?.[1];
        if (path !== undefined) expect(path).toContain("server=even");
      }
      expect(ids).toEqual(Array.from({ length: 60 }, (_, index) => 120 - 2 * index));
    } finally {
      expect(await own.end()).toEqual([]);
    }
  });

  it("RS-4 SE-1 a call is there with its outcome, and without the secrets that it carried", async () => {
    await managed.client.callTool({ server_name: "second", tool_name: "echo", arguments: { text: SECRETS.env } });
    const secret = ["API_KEY", "CODE", "HUB_TOKEN", "STORED"];
    for (const name of secret) {
      await managed.client.callTool({ server_name: "echo", tool_name: "env", arguments: { name } });
    }
    const { items } = (await ask("/calls?limit=5")).json;
    expect(items.at(-1)).toMatchObject({
      server_name: "second",
      tool_name: "echo",
      client: "api",
      success: true,
      error_code: null,
      params: { text: "***" },
    });
    for (const { result } of items) expect(result).toEqual({ content: [{ type: "text", text: "***" }] });
  });

  it("RS-4 filters reach the log", async () => {
    const asked: unknown[] = [];
    const own = await openManaged(
      {},
      {
        callLog: {
          degraded: "the disk is full",
          query: async (query) => {
            asked.push(query);
            return { items: [], next_cursor: null };
          },
          stats: async () => [],
        },
      },
    );
    try {
      await own.client.calls({
        server: "s",
        tool: "t",
        group: "g",
        client: "c",
        workflow_id: "w",
        outcome: "failed",
        success: false,
        since: "2026-01-01T00:00:00Z",
        until: 1_800_000_000_000,
        slower_than_ms: 1.5,
        after: 7,
        limit: 10,
        cursor: "x",
      });
      expect(asked).toEqual([
        {
          server: "s",
          tool: "t",
          group: "g",
          client: "c",
          workflowId: "w",
          outcome: "failed",
          success: false,
          since: Date.UTC(2026, 0, 1),
          until: 1_800_000_000_000,
          slowerThanMs: 1.5,
          after: 7,
          limit: 10,
          cursor: "x",
        },
      ]);
      expect((await own.client.status()).degraded).toEqual(["the disk is full"]);
    } finally {
      expect(await own.end()).toEqual([]);
    }
  });

  it.each([
    "limit=0",
    "limit=1001",
    "limit=x",
    "limit=",
    "since=yesterday",
    "success=maybe",
    "outcome=maybe",
    "after=-1",
    "limt=5",
    "limit=1&limit=2",
  ])("?%s is refused", async (query) => expect((await ask(`/calls?${query}`)).json.code).toBe("VALIDATION_ERROR"));

  it("a cursor that the log did not give is refused", async () => {
    expect((await ask("/calls?cursor=abc")).json).toMatchObject({ status: 400, field: "cursor" });
  });

  it("get_mcp_latency_metrics RS-5: of all servers, or of one and its tools, by name or id", async () => {
    await managed.client.callTool({ server_name: "second", tool_name: "pid" });
    const all = (await ask("/metrics/latency")).json;
    expect(all.map(({ server_name }: { server_name: string }) => server_name)).toContain("second");
    const [second] = (await ask("/metrics/latency?server=id-of-second")).json;
    for (const figures of [second, second.tools[0]]) {
      expect(figures).toMatchObject({
        p50_ms: expect.any(Number),
        p95_ms: expect.any(Number),
        p99_ms: expect.any(Number),
        total_calls: expect.any(Number),
      });
    }
    expect(second.tools.map(({ tool_name }: { tool_name: string }) => tool_name)).toContain("pid");
    expect((await ask("/metrics/latency?server=nobody")).json.kind).toBe("ServerNotFound");
  });
});

describe("requests and answers", () => {
  it("MG-3 the status says how the hub is", async () => {
    const { json } = await ask("/status");
    expect(json).toMatchObject({
      version: expect.stringMatching(/^\d+\.\d+\.\d+/),
      pid: process.pid,
      demo: false,
      revision: managed.hub.configuration.revision,
      servers: { total: 5, running: 2, disabled: 3 },
      event_streams: 0,
      degraded: [],
    });
  });

  it.each([
    ["req-1.A_b", "req-1.A_b"],
    ["a b", undefined],
    ["x".repeat(129), undefined],
    ['"><script>', undefined],
  ])("X-Request-Id %j", async (given, expected) => {
    for (const path of ["/status", "/servers/nobody", "/nothing"]) {
      const { headers, json } = await ask(path, { headers: { "x-request-id": given } });
      const id = headers["x-request-id"];
      if (expected === undefined) expect(id).toMatch(/^[\da-f-]{36}$/);
      else expect(id).toBe(expected);
      if (path !== "/status") expect(json.instance).toBe(id);
    }
  });

  it("nothing is cached, sniffed, or shared with other sites", async () => {
    for (const path of ["/status", "/nothing"]) {
      const { headers } = await ask(path);
      expect(headers).toMatchObject({ "cache-control": "no-store", "x-content-type-options": "nosniff" });
      expect(headers).not.toHaveProperty("access-control-allow-origin");
    }
  });

  it.each([
    ["text/plain", "{}"],
    ["application/x-www-form-urlencoded", "name=x&command=sh"],
    ["multipart/form-data; boundary=x", "--x--"],
  ])("T03 a body of type %s is refused, and nothing is saved", async (type, body) => {
    const before = await configFile();
    const answer = await ask("/servers", { method: "POST", body, headers: { "content-type": type } });
    expect([answer.status, answer.json.code]).toEqual([415, "VALIDATION_ERROR"]);
    expect(await configFile()).toBe(before);
  });

  it("T20 a body of 2 MiB is refused, whether it says its length or not", async () => {
    const big = Buffer.alloc(2 << 20, 0x20);
    expect((await ask("/servers", { method: "POST", body: big })).json).toEqual(
      problem(413, "PAYLOAD_TOO_LARGE", "PayloadTooLarge"),
    );
    const chunked = await fetch(`${managed.url}/api/v1/servers`, {
      method: "POST",
      headers: { authorization: `Bearer ${managed.token}`, "content-type": "application/json" },
      body: new Blob([big]).stream(),
      duplex: "half",
    });
    expect(chunked.status).toBe(413);
    expect((await ask("/status")).status).toBe(200);
  });

  it("T20 60 MB are refused before the first of them is read, and the hub lives", async () => {
    const { port, hostname } = new URL(managed.url);
    const socket = connect(Number(port), hostname);
    const head = `POST /api/v1/servers HTTP/1.1\r\nHost: ${hostname}:${port}\r\nAuthorization: Bearer ${managed.token}\r\nContent-Type: application/json\r\nContent-Length: ${60 << 20}\r\n\r\n`;
    socket.write(head);
    const [answer] = await once(socket, "data");
    expect(String(answer)).toMatch(/^HTTP\/1\.1 413 /);
    socket.destroy();
    expect((await ask("/status")).status).toBe(200);
  });

  it("a body where none is taken is refused", async () => {
    expect((await ask("/servers/echo/stop", post({ force: true }))).json.code).toBe("VALIDATION_ERROR");
    expect(managed.hub.supervisor.get("echo").available).toBe(true);
  });

  it("T50 what nobody foresaw is told to the log, and to nobody else", async () => {
    const seen: unknown[] = [];
    const broken = new Error("ENOENT /home/someone/.config planted-inner");
    const own = await openManaged(
      {},
      {
        callLog: { query: () => Promise.reject(broken), stats: () => Promise.reject(broken), degraded: undefined },
        onUnexpected: (error, requestId) => seen.push([error, requestId]),
      },
    );
    try {
      const { status, body, headers } = await own.ask("/calls");
      expect(status).toBe(500);
      expect(JSON.parse(body)).toEqual(problem(500, "INTERNAL", "Unexpected"));
      expect(body).not.toMatch(/planted|ENOENT|home|\.ts|at /);
      expect(seen).toEqual([[broken, headers["x-request-id"]]]);
    } finally {
      expect(await own.end()).toEqual([]);
    }
  });

  it("the globals of the program that the hub lives in stay what they were", () => {
    expect(Response.name).toBe("Response");
    expect(Object.getOwnPropertyDescriptor(globalThis, "Request")?.configurable).toBe(true);
    expect(String(Request)).not.toContain("getRequestCache");
  });

  it("F42 a hub that is stopping is not ready, and takes no new streams", async () => {
    const own = await openManaged({});
    own.api.close();
    expect((await http(`${own.url}/readyz`, { method: "GET" })).status).toBe(503);
    expect((await http(`${own.url}/livez`, { method: "GET" })).status).toBe(200);
    expect((await own.ask("/events")).json.code).toBe("SERVICE_UNAVAILABLE");
    expect(await own.end()).toEqual([]);
  });
});

describe("MG-1 the typed client", () => {
  it("gives what the API gives, for every command", async () => {
    const { client } = managed;
    expect((await client.listServers()).map(({ config }) => config.name)).toEqual(Object.keys(SERVERS));
    expect((await client.getServer("echo")).status).toBe("running");
    expect((await client.listTools("echo")).map(({ name }) => name)).toContain("add");
    expect(await client.callTool({ server_name: "echo", tool_name: "add", arguments: { a: 1, b: 2 } })).toMatchObject({
      success: true,
      content: [{ text: "3" }],
    });
    expect(await client.callGroupTool("desk", "echo", { text: "hi" })).toMatchObject({ success: true });
    expect(await client.readResource("desk", "test://static")).toMatchObject({ contents: [{ uri: "test://static" }] });
    expect(await client.getPrompt("desk", "greet", { who: "you" })).toMatchObject({ messages: [{ role: "user" }] });
    expect((await client.listGroups()).length).toBe(3);
    expect((await client.listGroupTools("desk")).length).toBe(2);
    expect((await client.latency("echo"))[0]?.total_calls).toBeGreaterThan(0);
    expect((await client.calls({ limit: 1 })).items).toHaveLength(1);
    expect(await client.serverLogs("echo", 3)).toEqual({ server: "echo", text: "", lines: [] });
    expect((await client.validateConfig({})).valid).toBe(true);
    expect((await client.exportConfig()).groups).toEqual(GROUPS);
    expect((await client.reloadConfig()).description).toBe("nothing");
    expect((await client.stopServer("second")).status).toBe("stopped");
    expect((await client.startServer("second")).status).toBe("running");
    expect((await client.restartServer("second")).status).toBe("running");
  });

  it("failures are those of the hub, kind by kind", async () => {
    const { client } = managed;
    await expect(client.getServer("nobody")).rejects.toMatchObject({ kind: "ServerNotFound", code: "NOT_FOUND" });
    await expect(client.startServer("broken")).rejects.toMatchObject({
      kind: "ServerDisabled",
      hint: expect.any(String),
    });
    await expect(client.createServer({ command: "x" })).rejects.toMatchObject({ kind: "InvalidConfig", field: "name" });
    await expect(client.callTool({ server_name: "broken", tool_name: "x" })).rejects.toMatchObject({
      kind: "ServerDisabled",
      message: 'Server "broken" is disabled',
    });
  });

  it("a hub that is not there, and a wrong token, say what to do", async () => {
    const nobody = new HubClient({ url: "http://127.0.0.1:1/", token: "t" });
    await expect(nobody.status()).rejects.toMatchObject({
      kind: "ConnectionFailed",
      message: "No hub answers at http://127.0.0.1:1",
      hint: "Start it with: plugboard up",
    });
    const stranger = new HubClient({ url: managed.url, token: "wrong" });
    await expect(stranger.status()).rejects.toMatchObject({ kind: "Unauthenticated", hint: expect.any(String) });
  });
});
