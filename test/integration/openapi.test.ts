// MG-3: the document that the hub serves is OpenAPI 3.1, says a validator that is not ours; and the answers of a real hub
// are what the document says, checked with a JSON Schema validator against the document alone, route by route.

import { Validator } from "@seriousme/openapi-schema-validator";
import { Ajv2020, type ValidateFunction } from "ajv/dist/2020.js";
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { openManaged, type ManagedHub } from "../support/api.ts";
import { failing, fixture } from "../support/hub.ts";
import { Registry } from "../support/registry.ts";
import { http, type HttpResult } from "../support/rpc.ts";

// eslint-disable-next-line typescript/no-explicit-any -- the document is walked through as JSON
type Any = any;

interface Sample {
  readonly path: string;
  readonly body?: unknown;
}

/** One request for each route that succeeds, in an order in which they all can. */
const SAMPLES: Readonly<Record<string, Sample>> = {
  "GET /status": { path: "/status" },
  "GET /servers": { path: "/servers" },
  "POST /servers": { path: "/servers", body: { name: "new", ...fixture("echo"), description: "New" } },
  "POST /servers/test": { path: "/servers/test", body: fixture("echo") },
  "GET /servers/{id}": { path: "/servers/remote" },
  "PUT /servers/{id}": { path: "/servers/new", body: { ...fixture("echo"), env: { API_KEY: "x" } } },
  "PATCH /servers/{id}": { path: "/servers/new", body: { timeouts: { request_ms: 5000 } } },
  "POST /servers/{id}/start": { path: "/servers/new/start" },
  "POST /servers/{id}/stop": { path: "/servers/new/stop" },
  "POST /servers/{id}/restart": { path: "/servers/new/restart" },
  "POST /servers/{id}/update": { path: "/servers/told/update" },
  "POST /servers/{id}/disable": { path: "/servers/new/disable" },
  "POST /servers/{id}/enable": { path: "/servers/new/enable" },
  "POST /servers/{id}/test": { path: "/servers/broken/test" },
  "GET /servers/{id}/logs": { path: "/servers/broken/logs" },
  "GET /servers/{id}/tools": { path: "/servers/echo/tools" },
  "POST /servers/{id}/tools/{tool}/call": {
    path: "/servers/echo/tools/add/call",
    body: { arguments: { a: 1, b: 2 } },
  },
  "POST /groups": { path: "/groups", body: { name: "more", servers: ["echo"] } },
  "PUT /groups/{name}": { path: "/groups/desk", body: { description: "Desk", servers: ["echo"], tools: ["add"] } },
  "GET /groups": { path: "/groups" },
  "GET /groups/{name}": { path: "/groups/desk" },
  "GET /groups/{name}/tools": { path: "/groups/desk/tools" },
  "POST /groups/{name}/tools/{tool}/call": { path: "/groups/default/tools/echo%3Afail/call", body: {} },
  "POST /groups/{name}/resources/read": { path: "/groups/desk/resources/read", body: { uri: "test://static" } },
  "POST /groups/{name}/prompts/{prompt}/get": {
    path: "/groups/desk/prompts/greet/get",
    body: { arguments: { who: "you" } },
  },
  "DELETE /groups/{name}": { path: "/groups/desk" },
  "PUT /secrets/{name}": { path: "/secrets/service", body: { value: "v" } },
  "GET /secrets": { path: "/secrets" },
  "POST /secrets/rotate-key": { path: "/secrets/rotate-key" },
  "DELETE /secrets/{name}": { path: "/secrets/service?force=true" },
  "GET /calls": { path: "/calls?limit=1" },
  "GET /calls/{id}": { path: "/calls/1" },
  "GET /metrics/latency": { path: "/metrics/latency?server=echo" },
  "GET /stats": { path: "/stats?since=0" },
  "GET /config": { path: "/config" },
  "GET /config/export": { path: "/config/export" },
  "POST /config/validate": { path: "/config/validate", body: { mcpServers: { x: {} } } },
  "POST /config/reload": { path: "/config/reload" },
  "GET /openapi.json": { path: "/openapi.json" },
  "DELETE /servers/{id}": { path: "/servers/new" },
};

/** An endless answer: its first bytes are looked at. */
const STREAM = "GET /events";

let managed: ManagedHub;
let document: Any;
/** One for each document: reading it takes the longest. */
const validators = new WeakMap<object, Ajv2020>();

let registry: Registry;

beforeAll(async () => {
  registry = await Registry.open();
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
    told: { command: "npx", args: ["-y", "@plugboard-test/told"], cwd: "/", enabled: false },
  };
  managed = await openManaged(servers, { variables: { npm_config_registry: registry.url } });
  await managed.hub.secrets.set("service", "v");
  await managed.hub.start();
  document = JSON.parse((await request("GET", { path: "/openapi.json" })).body);
});

afterAll(async () => {
  await registry.close();
  expect(await managed.end()).toEqual([]);
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

/** What an answer breaks of what the document promises for its route. */
function faultsOf(described: Any, route: string, { status, headers, body }: HttpResult): string[] {
  const [method = "", path = ""] = route.split(" ");
  const responses = described.paths[`/api/v1${path}`][method.toLowerCase()].responses;
  const name = responses[status] === undefined ? "default" : String(status);
  const content: Any = responses[name].content;
  if (content === undefined) return body === "" ? [] : [`${route}: a body where none is promised`];
  const type = String(headers["content-type"]).split(";")[0] ?? "";
  if (content[type] === undefined) return [`${route}: the type ${type} is not promised`];
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
  ])("%s would be refused", async (_, mutate) => {
    const mutated = structuredClone(document);
    mutate(mutated);
    expect((await new Validator().validate(mutated)).valid).toBe(false);
  });

  it("has a sample for every route", () => {
    const routes = Object.entries<object>(document.paths).flatMap(([path, methods]) =>
      Object.keys(methods).map((method) => `${method.toUpperCase()} ${path.replace("/api/v1", "")}`),
    );
    expect([...Object.keys(SAMPLES), STREAM].toSorted()).toEqual(routes.toSorted());
  });
});

describe("MG-3 what the hub answers is what the document says", () => {
  // In this order: some need what others did.
  it.each(Object.entries(SAMPLES))("%s", async (route, sample) => {
    const answer = await request(methodOf(route), sample);
    expect([answer.status, answer.status < 300 ? "" : answer.body]).toEqual([expect.toSatisfy(isSuccess), ""]);
    const { responses } = document.paths[`/api/v1${route.split(" ")[1]}`][methodOf(route).toLowerCase()];
    expect(Object.keys(responses)).toContain(String(answer.status));
    expect(faultsOf(document, route, answer)).toEqual([]);
  });

  it.each(Object.entries(SAMPLES))("%s, refused", async (route, sample) => {
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
  ])("a document that promises %s is found out", async (_, route, mutate) => {
    const answer = await request(methodOf(route), SAMPLES[route] ?? { path: "" });
    expect(faultsOf(document, route, answer)).toEqual([]);
    const mutated = structuredClone(document);
    mutate(mutated);
    expect(faultsOf(mutated, route, answer)).not.toEqual([]);
  });
});

const isSuccess = (status: number) => status >= 200 && status < 300;
