// MG-3: an independent validator accepts the OpenAPI document, and a JSON Schema validator checks the answers of a real hub
// against the document, route by route.

import { Validator } from "@seriousme/openapi-schema-validator";
import { Ajv2020, type ValidateFunction } from "ajv/dist/2020.js";
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { openManaged, type ManagedHub } from "../support/api.ts";
import { failing, fixture } from "../support/hub.ts";
import { startAuthorizationServer, type AuthorizationServer } from "../support/oauth/authorization-server.ts";
import { Browser } from "../support/oauth/browser.ts";
import { ProtectedServer } from "../support/oauth/protected-server.ts";
import { Registry } from "../support/registry.ts";
import { http, type HttpResult } from "../support/rpc.ts";

// eslint-disable-next-line typescript/no-explicit-any -- the document is walked through as JSON
type Any = any;

interface Sample {
  readonly path: string;
  readonly body?: unknown;
}

/** One successful request for each route, in an order in which all can succeed. */
const SAMPLES: Readonly<Record<string, Sample>> = {
  "GET /status": { path: "/status" },
  "GET /servers": { path: "/servers" },
  "POST /servers": { path: "/servers", body: { name: "new", ...fixture("echo"), description: "New" } },
  "POST /servers/test": { path: "/servers/test", body: fixture("echo") },
  "POST /servers/parse": { path: "/servers/parse", body: { text: "npx -y @acme/tickets" } },
  "GET /servers/{id}": { path: "/servers/remote" },
  "GET /registries": { path: "/registries" },
  "GET /registry/servers": { path: "/registry/servers?registry=curated&q=search" },
  "GET /registry/servers/{name}": { path: "/registry/servers/filesystem?registry=curated" },
  "POST /registry/servers": {
    path: "/registry/servers",
    body: { name: "filesystem", registry: "curated", values: { folders: "/tmp" }, enabled: false },
  },
  "PUT /servers/{id}": { path: "/servers/new", body: { ...fixture("echo"), env: { API_KEY: "x" } } },
  "PATCH /servers/{id}": { path: "/servers/new", body: { timeouts: { request_ms: 5000 } } },
  "POST /servers/{id}/start": { path: "/servers/new/start" },
  "POST /servers/{id}/stop": { path: "/servers/new/stop" },
  "POST /servers/{id}/restart": { path: "/servers/new/restart" },
  "POST /servers/{id}/update": { path: "/servers/told/update" },
  "POST /servers/{id}/update/preview": { path: "/servers/told/update/preview" },
  "POST /servers/{id}/disable": { path: "/servers/new/disable" },
  "POST /servers/{id}/enable": { path: "/servers/new/enable" },
  "POST /servers/{id}/test": { path: "/servers/broken/test" },
  "GET /server-approvals": { path: "/server-approvals" },
  "GET /servers/{id}/approval": { path: "/servers/new/approval" },
  "POST /servers/{id}/approve": { path: "/servers/new/approve", body: {} },
  "GET /servers/{id}/logs": { path: "/servers/broken/logs" },
  "GET /servers/{id}/history": { path: "/servers/echo/history" },
  "GET /servers/{id}/usage": { path: "/servers/echo/usage" },
  "GET /logs": { path: "/logs?tail=5" },
  "GET /servers/{id}/tools": { path: "/servers/echo/tools" },
  "GET /servers/{id}/tools/{tool}": { path: "/servers/echo/tools/add" },
  "GET /servers/{id}/prompts": { path: "/servers/echo/prompts" },
  "GET /servers/{id}/resource-templates": { path: "/servers/echo/resource-templates" },
  "GET /tools": { path: "/tools?view=index" },
  "POST /servers/{id}/tools/{tool}/call": {
    path: "/servers/echo/tools/add/call",
    body: { arguments: { a: 1, b: 2 } },
  },
  "GET /logins": { path: "/logins" },
  "DELETE /servers/{id}/login": { path: "/servers/open/login" },
  "POST /groups": { path: "/groups", body: { name: "more", servers: ["echo"] } },
  "POST /groups/preview": { path: "/groups/preview", body: { servers: ["echo"], tools: ["add"] } },
  "PUT /groups/{name}": { path: "/groups/desk", body: { description: "Desk", servers: ["echo"], tools: ["add"] } },
  "GET /tokens": { path: "/tokens" },
  "POST /tokens": { path: "/tokens", body: { name: "ci", groups: ["default"], read_only: true } },
  "DELETE /tokens/{id}": { path: "/tokens/ci" },
  "GET /grants": { path: "/grants" },
  "GET /connections": { path: "/connections" },
  "PUT /connections/secrets/{name}": { path: "/connections/secrets/mine", body: { value: "v" } },
  "DELETE /connections/secrets/{name}": { path: "/connections/secrets/mine" },
  "GET /me": { path: "/me" },
  "GET /users": { path: "/users" },
  "GET /users/{id}": { path: "/users/ann@example.com" },
  "PATCH /users/{id}": { path: "/users/ann@example.com", body: { role: "operator", disabled: true } },
  "DELETE /users/{id}": { path: "/users/ann@example.com" },
  "GET /audit": { path: "/audit" },
  "GET /audit/verify": { path: `/audit/verify?head=${"x".repeat(43)}` },
  "GET /settings": { path: "/settings" },
  "PATCH /settings": { path: "/settings", body: { call_log: { retention_days: 7, max_bytes: null } } },
  "GET /doctor": { path: "/doctor" },
  "GET /clients": { path: "/clients" },
  "GET /clients/import": { path: "/clients/import" },
  "POST /clients/import": { path: "/clients/import", body: { servers: [{ client: "cursor", name: "none" }] } },
  "POST /clients/{client}/plan": { path: "/clients/cursor/plan", body: {} },
  "POST /clients/{client}/install": { path: "/clients/cursor/install", body: {} },
  "DELETE /clients/{client}/install": { path: "/clients/cursor/install" },
  "GET /clients/backups": { path: "/clients/backups" },
  "GET /groups": { path: "/groups" },
  "GET /groups/{name}": { path: "/groups/desk" },
  "GET /groups/{name}/tools": { path: "/groups/desk/tools" },
  "GET /groups/{name}/tools/{tool}": { path: "/groups/desk/tools/add" },
  "POST /groups/{name}/tools/{tool}/call": { path: "/groups/default/tools/echo%3Afail/call", body: {} },
  "POST /groups/{name}/resources/read": { path: "/groups/desk/resources/read", body: { uri: "test://static" } },
  "POST /groups/{name}/prompts/{prompt}/get": {
    path: "/groups/desk/prompts/greet/get",
    body: { arguments: { who: "you" } },
  },
  "DELETE /groups/{name}": { path: "/groups/desk" },
  "PUT /secrets/{name}": { path: "/secrets/service", body: { value: "v" } },
  "GET /secrets": { path: "/secrets" },
  "GET /secrets/missing": { path: "/secrets/missing" },
  "POST /secrets/rotate-key": { path: "/secrets/rotate-key" },
  "DELETE /secrets/{name}": { path: "/secrets/service?force=true" },
  "GET /calls": { path: "/calls?limit=1" },
  "GET /calls/active": { path: "/calls/active" },
  "GET /calls/approvals": { path: "/calls/approvals" },
  "GET /sessions": { path: "/sessions" },
  "GET /calls/{id}": { path: "/calls/1" },
  "GET /calls/{id}/neighbours": { path: "/calls/1/neighbours" },
  "GET /calls/count": { path: "/calls/count?q=x" },
  "GET /stats/series": { path: "/stats/series?by=server" },
  "DELETE /calls": { path: "/calls?before=0" },
  "GET /metrics/latency": { path: "/metrics/latency?server=echo" },
  "GET /stats": { path: "/stats?since=0" },
  "GET /config": { path: "/config" },
  "GET /config/export": { path: "/config/export" },
  "POST /config/validate": { path: "/config/validate", body: { mcpServers: { x: {} } } },
  "POST /config/reload": { path: "/config/reload" },
  "GET /config/files/{file}": { path: "/config/files/group" },
  "PUT /config/files/{file}": { path: "/config/files/group", body: { text: "{}" } },
  "GET /openapi.json": { path: "/openapi.json" },
  "POST /ui/keys": { path: "/ui/keys" },
  "GET /ui/sessions": { path: "/ui/sessions" },
  "DELETE /ui/sessions": { path: "/ui/sessions" },
  "DELETE /servers/{id}": { path: "/servers/new" },
};

/** An endless answer, which is checked separately. */
const STREAM = "GET /events";
/** They need a call or a session that goes on, or are a file: test/api/activity.test.ts, calls.test.ts. */
const LIVE = [
  "POST /servers/{id}/update/rollback",
  "POST /calls/approvals/{id}/approve",
  "POST /calls/approvals/{id}/deny",
  "GET /calls/export",
  "DELETE /calls/active/{id}",
  "DELETE /sessions/{id}",
];
/** They need an authorization server, and the id of an attempt: checked separately. */
const ATTEMPTS = [
  "POST /servers/{id}/login",
  "POST /servers/{id}/login/refresh",
  "POST /servers/{id}/login/import",
  "GET /logins/{login}",
  "POST /logins/{login}/callback",
  "DELETE /logins/{login}",
];
/** Tested where clients log in: test/ui/consent.test.ts. */
const CONSENT = [
  "POST /grants",
  "DELETE /grants/{id}",
  "GET /oauth/requests/{code}",
  "POST /oauth/requests/{code}/approve",
];
/** Of a signed-in browser: checked separately. */
const BROWSER = ["GET /ui/providers", "POST /ui/session", "GET /ui/session", "DELETE /ui/session"];
/** They need an identity provider, and the session of another browser: test/auth/sso.test.ts. */
const SSO = ["POST /ui/sign-ins", "DELETE /ui/sessions/{id}"];
/** It needs the id of a backup: checked by clients.test.ts. */
const RESTORE = "POST /clients/backups/{id}/restore";
/** It needs something to repair: checked by doctor.test.ts. */
const REPAIR = "POST /doctor/fix";
/** They need a chat server: checked by chats.test.ts. */
const CHATS = ["GET /servers/{id}/chat", "PATCH /servers/{id}/chat"];

let managed: ManagedHub;
let document: Any;
/** A validator for each document: parsing the document takes the longest. */
const validators = new WeakMap<object, Ajv2020>();

let registry: Registry;
let issuer: AuthorizationServer;
let protectedServer: ProtectedServer;

beforeAll(async () => {
  registry = await Registry.open();
  issuer = await startAuthorizationServer();
  protectedServer = await ProtectedServer.open([issuer.issuer]);
  issuer.settings.resources.set(protectedServer.url, protectedServer.allScopes);
  registry.publish({ name: "@plugboard-test/told", version: "1.0.0" });
  const servers = {
    echo: { ...fixture("echo"), env: { TOKEN: { secretRef: "service" } } },
    broken: failing(),
    remote: {
      url: "https://example.com/mcp",
      headers: { Authorization: "Bearer x" },
      source: { type: "manual" },
      enabled: false,
    },
    open: { url: "https://example.com/mcp", enabled: false },
    closed: { url: protectedServer.url },
    told: { command: "npx", args: ["-y", "@plugboard-test/told"], cwd: "/", enabled: false },
  };
  managed = await openManaged(servers, { variables: { npm_config_registry: registry.url } });
  const ann = { issuer: issuer.issuer, subject: "1", email: "ann@example.com", emailVerified: true };
  await managed.hub.users.signedIn(ann);
  await managed.hub.secrets.set("service", "v");
  managed.hub.logins.baseUrl = { url: managed.url };
  await managed.hub.start();
  document = JSON.parse((await request("GET", { path: "/openapi.json" })).body);
});

afterAll(async () => {
  await registry.close();
  expect(await managed.end()).toEqual([]);
  await protectedServer.close();
  await issuer.close();
});

function request(method: string, { path, body }: Sample, token = managed.token): Promise<HttpResult> {
  return http(`${managed.url}/api/v1${path}`, {
    method,
    headers: {
      authorization: `Bearer ${token}`,
      ...(body === undefined ? {} : { "content-type": "application/json" }),
    },
    ...(body === undefined ? {} : { body: JSON.stringify(body) }),
  });
}

/** Differences between an answer and the description of its route. */
function faultsOf(described: Any, route: string, { status, headers, body }: HttpResult): string[] {
  const [method = "", path = ""] = route.split(" ");
  const responses = described.paths[`/api/v1${path}`][method.toLowerCase()].responses;
  const name = responses[status] === undefined ? "default" : String(status);
  const content: Any = responses[name].content;
  if (content === undefined) return body === "" ? [] : [`${route}: a body, but none is described`];
  const type = String(headers["content-type"]).split(";")[0] ?? "";
  if (content[type] === undefined) return [`${route}: the type ${type} is not described`];
  const pointer = ["paths", `/api/v1${path}`, method.toLowerCase(), "responses", name, "content", type, "schema"];
  const validate = schemaAt(described, pointer);
  return validate(JSON.parse(body)) ? [] : (validate.errors ?? []).map((fault) => `${route}: ${JSON.stringify(fault)}`);
}

function schemaAt(described: Any, pointer: readonly string[]): ValidateFunction {
  const ajv =
    validators.get(described) ?? new Ajv2020({ strict: false, allErrors: true }).addSchema(described, "openapi");
  validators.set(described, ajv);
  const steps = pointer.map((step) => encodeURIComponent(step.replaceAll("~", "~0").replaceAll("/", "~1")));
  return ajv.compile({ $ref: `openapi#/${steps.join("/")}` });
}

const methodOf = (route: string) => route.split(" ")[0] ?? "";

describe("MG-3 the document", () => {
  it("is valid OpenAPI 3.1", async () => {
    const validator = new Validator();
    expect(await validator.validate(structuredClone(document))).toEqual({ valid: true });
    expect(validator.version).toBe("3.1");
  });

  it.each<[string, (described: Any) => void]>([
    ["without a version", (described) => delete described.info.version],
    ["without a description of an answer", (d) => delete d.paths["/api/v1/status"].get.responses[200].description],
    [
      "with a parameter that is nowhere",
      (d) => {
        d.paths["/api/v1/servers/{id}"].get.parameters[0].in = "nowhere";
      },
    ],
    [
      "with an unknown kind of security",
      (d) => {
        d.components.securitySchemes.management_token.type = "handshake";
      },
    ],
    [
      "with a path that does not begin with a slash",
      (d) => {
        d.paths["status"] = d.paths["/api/v1/status"];
      },
    ],
  ])("a document %s is invalid", async (_, mutate) => {
    const mutated = structuredClone(document);
    mutate(mutated);
    expect((await new Validator().validate(mutated)).valid).toBe(false);
  });

  it("has a sample for every route", () => {
    const routes = Object.entries<object>(document.paths).flatMap(([path, methods]) =>
      Object.keys(methods).map((method) => `${method.toUpperCase()} ${path.replace("/api/v1", "")}`),
    );
    expect(
      [
        ...Object.keys(SAMPLES),
        STREAM,
        ...ATTEMPTS,
        ...CONSENT,
        ...LIVE,
        ...BROWSER,
        ...SSO,
        ...CHATS,
        RESTORE,
        REPAIR,
      ].toSorted(),
    ).toEqual(routes.toSorted());
  });
});

describe("MG-3 answers match the document", () => {
  // The order matters: some requests depend on earlier ones.
  it.each(Object.entries(SAMPLES))("%s", async (route, sample) => {
    const answer = await request(methodOf(route), sample);
    expect([answer.status, answer.status < 300 ? "" : answer.body]).toEqual([expect.toSatisfy(isSuccess), ""]);
    const { responses } = document.paths[`/api/v1${route.split(" ")[1]}`][methodOf(route).toLowerCase()];
    expect(Object.keys(responses)).toContain(String(answer.status));
    expect(faultsOf(document, route, answer)).toEqual([]);
  });

  it("AU-1 attempts to log in", async () => {
    const ask = async (route: string, sample: Sample) => {
      const answer = await request(methodOf(route), sample);
      expect([route, answer.status, faultsOf(document, route, answer)]).toEqual([
        route,
        expect.toSatisfy(isSuccess),
        [],
      ]);
      return answer.body === "" ? undefined : JSON.parse(answer.body);
    };
    const begin = () => ask("POST /servers/{id}/login", { path: "/servers/closed/login", body: {} });
    const { id } = await begin();
    await ask("GET /logins/{login}", { path: `/logins/${id}` });
    await ask("DELETE /logins/{login}", { path: `/logins/${id}` });
    await ask("GET /logins/{login}", { path: `/logins/${id}` });
    const second = await begin();
    const { url } = await new Browser().open(second.url, ({ pathname }) => pathname === "/oauth/callback");
    await ask("POST /logins/{login}/callback", { path: `/logins/${second.id}/callback`, body: { url } });
    await ask("POST /servers/{id}/login/refresh", { path: "/servers/closed/login/refresh" });
    const logins: Any[] = await ask("GET /logins", { path: "/logins" });
    const { client_id: clientId } = logins.find(({ server }) => server === "closed");
    await managed.ask("/servers/closed", { method: "PATCH", body: { auth: { client_id: clientId } } });
    const { refresh_token: refresh } = JSON.parse(issuer.front.refreshes.at(-1)?.answer?.body ?? "{}");
    await ask("POST /servers/{id}/login/import", {
      path: "/servers/closed/login/import",
      body: { refresh_token: refresh },
    });
    await ask("GET /servers/{id}", { path: "/servers/closed" });
    await ask("DELETE /servers/{id}/login", { path: "/servers/closed/login" });
  });

  it("MG-4 the session of a browser", async () => {
    const { url } = JSON.parse((await request("POST", { path: "/ui/keys" })).body);
    const page = { origin: managed.url, "sec-fetch-site": "same-origin" };
    const [, key] = url.split("#k=");
    const signedIn = await http(`${managed.url}/api/v1/ui/session`, {
      method: "POST",
      headers: { ...page, "content-type": "application/json" },
      body: JSON.stringify({ key }),
    });
    const cookie = String(signedIn.headers["set-cookie"]).split(";")[0] ?? "";
    const headers = { ...page, cookie, "x-plugboard-key": JSON.parse(signedIn.body).page_key };
    const answers = {
      "GET /ui/providers": await http(`${managed.url}/api/v1/ui/providers`, { method: "GET" }),
      "POST /ui/session": signedIn,
      "GET /ui/session": await http(`${managed.url}/api/v1/ui/session`, { method: "GET", headers }),
      "DELETE /ui/session": await http(`${managed.url}/api/v1/ui/session`, { method: "DELETE", headers }),
    };
    for (const [route, answer] of Object.entries(answers)) {
      expect([route, answer.status, faultsOf(document, route, answer)]).toEqual([
        route,
        expect.toSatisfy(isSuccess),
        [],
      ]);
    }
  });

  it.each(Object.entries(SAMPLES))("%s without access", async (route, sample) => {
    const answer = await request(methodOf(route), sample, "wrong");
    expect(answer.status).toBe(401);
    expect(faultsOf(document, route, answer)).toEqual([]);
  });

  it.each([
    ["GET /servers/{id}", { path: "/servers/nobody" }, 404],
    ["POST /servers", { path: "/servers", body: { name: " " } }, 400],
    ["POST /servers", { path: "/servers", body: { name: "echo", command: "x" } }, 409],
    ["POST /servers/{id}/start", { path: "/servers/broken/start" }, 503],
    ["POST /servers/{id}/start", { path: "/servers/remote/start" }, 409],
    ["POST /groups/{name}/tools/{tool}/call", { path: "/groups/default/tools/nope/call", body: {} }, 404],
    ["GET /calls", { path: "/calls?limit=x" }, 400],
  ] as const)("%s %j fails with %i", async (route, sample, status) => {
    const answer = await request(methodOf(route), sample);
    expect(answer.status).toBe(status);
    expect(faultsOf(document, route, answer)).toEqual([]);
  });

  it("GET /events", async () => {
    const abort = new AbortController();
    const response = await fetch(`${managed.url}/api/v1/events`, {
      headers: { authorization: `Bearer ${managed.token}`, "last-event-id": "0" },
      signal: abort.signal,
    });
    const described = document.paths["/api/v1/events"].get.responses[response.status];
    expect(Object.keys(described.content)).toEqual([response.headers.get("content-type")?.split(";")[0]]);
    abort.abort();
  });

  it.each<[string, string, (described: Any) => void]>([
    [
      "another type of a member",
      "GET /servers",
      (d) => {
        d.components.schemas.MCPServer.properties.status = { type: "number" };
      },
    ],
    ["a member that must be there", "GET /status", (d) => d.components.schemas.Status.required.push("moon")],
    [
      "another kind of answer",
      "GET /config",
      (d) => {
        d.paths["/api/v1/config"].get.responses[200].content = { "text/plain": { schema: {} } };
      },
    ],
    ["no body", "GET /groups", (d) => delete d.paths["/api/v1/groups"].get.responses[200].content],
  ])("a document that describes %s does not match", async (_, route, mutate) => {
    const answer = await request(methodOf(route), SAMPLES[route] ?? { path: "" });
    expect(faultsOf(document, route, answer)).toEqual([]);
    const mutated = structuredClone(document);
    mutate(mutated);
    expect(faultsOf(mutated, route, answer)).not.toEqual([]);
  });
});

const isSuccess = (status: number) => status >= 200 && status < 300;
