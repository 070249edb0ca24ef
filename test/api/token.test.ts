// Access to the management API: which requests need the token, and how wrong tokens are limited.

import { stat } from "node:fs/promises";
import { join } from "node:path";
import { beforeAll, describe, expect, it } from "vitest";
import { BrowserAccess } from "../../hub/src/api/server/browser/access.ts";
import { EventLog } from "../../hub/src/api/server/live/event-log.ts";
import { EventStreams } from "../../hub/src/api/server/live/event-streams.ts";
import { createRoutes } from "../../hub/src/api/server/route-table.ts";
import { ROLES } from "../../hub/src/auth/grant.ts";
import { ManagementToken } from "../../hub/src/auth/management-token.ts";
import { openManaged, type Asked } from "../support/api.ts";
import { filesWith } from "../support/files.ts";
import { http } from "../support/rpc.ts";
import { problem, send, SERVERS, usePlantedHub } from "./planted-hub.ts";

const managed = usePlantedHub();

const ask = (route: string, path: string, asked: Asked) => send(managed(), `${route.split(" ")[0]} ${path}`, asked);

interface Row {
  /** The role that the route needs. Default: admin. */
  readonly role?: "operator" | "user";
  readonly route: string;
  readonly path: string;
  readonly body?: unknown;
  /** An access token is refused, whatever its role. */
  readonly isForPeople?: true;
}

/**
 * A request for every route. "absent" is not the name of a server, group or secret, so that the error shows that the route is
 * reached.
 */
const MATRIX: readonly Row[] = [
  { role: "operator", route: "GET /status", path: "/status" },
  { role: "operator", route: "GET /servers", path: "/servers" },
  { route: "POST /servers", path: "/servers", body: {} },
  { route: "POST /servers/test", path: "/servers/test", body: {} },
  { route: "POST /servers/parse", path: "/servers/parse", body: { unknown: 1 } },
  { role: "operator", route: "GET /servers/{id}", path: "/servers/absent" },
  { route: "PUT /servers/{id}", path: "/servers/absent", body: {} },
  { route: "PATCH /servers/{id}", path: "/servers/absent", body: {} },
  { route: "DELETE /servers/{id}", path: "/servers/absent" },
  { role: "operator", route: "POST /servers/{id}/start", path: "/servers/absent/start" },
  { role: "operator", route: "POST /servers/{id}/stop", path: "/servers/absent/stop" },
  { role: "operator", route: "POST /servers/{id}/restart", path: "/servers/absent/restart" },
  { route: "POST /servers/{id}/update", path: "/servers/absent/update" },
  { route: "POST /servers/{id}/update/preview", path: "/servers/absent/update/preview" },
  { route: "POST /servers/{id}/update/rollback", path: "/servers/absent/update/rollback" },
  { route: "POST /servers/{id}/enable", path: "/servers/absent/enable" },
  { route: "POST /servers/{id}/disable", path: "/servers/absent/disable" },
  { role: "operator", route: "POST /servers/{id}/test", path: "/servers/absent/test" },
  { role: "operator", route: "GET /server-approvals", path: "/server-approvals" },
  { role: "operator", route: "GET /servers/{id}/approval", path: "/servers/absent/approval" },
  { route: "POST /servers/{id}/approve", path: "/servers/absent/approve", body: {} },
  { role: "operator", route: "GET /servers/{id}/logs", path: "/servers/absent/logs" },
  { role: "operator", route: "GET /servers/{id}/tools", path: "/servers/absent/tools" },
  { role: "operator", route: "GET /servers/{id}/tools/{tool}", path: "/servers/absent/tools/x" },
  { role: "operator", route: "GET /servers/{id}/prompts", path: "/servers/absent/prompts" },
  { role: "operator", route: "GET /servers/{id}/resource-templates", path: "/servers/absent/resource-templates" },
  { role: "operator", route: "GET /servers/{id}/history", path: "/servers/absent/history" },
  { role: "operator", route: "GET /servers/{id}/usage", path: "/servers/absent/usage" },
  { route: "POST /servers/{id}/tools/{tool}/call", path: "/servers/absent/tools/x/call", body: {} },
  { route: "GET /servers/{id}/chat", path: "/servers/absent/chat" },
  { route: "PATCH /servers/{id}/chat", path: "/servers/absent/chat", body: {} },
  { role: "user", route: "POST /servers/{id}/login", path: "/servers/absent/login", body: {} },
  { role: "user", route: "DELETE /servers/{id}/login", path: "/servers/absent/login" },
  { role: "user", route: "POST /servers/{id}/login/refresh", path: "/servers/absent/login/refresh" },
  { route: "POST /servers/{id}/login/import", path: "/servers/absent/login/import", body: {} },
  { role: "user", route: "GET /logins", path: "/logins" },
  { role: "user", route: "GET /logins/{login}", path: "/logins/absent" },
  { role: "user", route: "POST /logins/{login}/callback", path: "/logins/absent/callback", body: { url: "x" } },
  { role: "user", route: "DELETE /logins/{login}", path: "/logins/absent" },
  { route: "GET /settings", path: "/settings" },
  { route: "PATCH /settings", path: "/settings", body: {} },
  { role: "operator", route: "GET /doctor", path: "/doctor" },
  { route: "POST /doctor/fix", path: "/doctor/fix", body: {} },
  { route: "GET /clients", path: "/clients" },
  { route: "GET /clients/import", path: "/clients/import" },
  { route: "POST /clients/import", path: "/clients/import", body: {} },
  { route: "GET /clients/backups", path: "/clients/backups" },
  { route: "POST /clients/backups/{id}/restore", path: "/clients/backups/absent/restore" },
  { route: "POST /clients/{client}/plan", path: "/clients/absent/plan", body: {} },
  { route: "POST /clients/{client}/install", path: "/clients/absent/install", body: {} },
  { route: "DELETE /clients/{client}/install", path: "/clients/absent/install" },
  { role: "user", route: "GET /groups", path: "/groups" },
  { route: "POST /groups", path: "/groups", body: {} },
  { route: "POST /groups/preview", path: "/groups/preview", body: { unknown: 1 } },
  { role: "user", route: "GET /groups/{name}", path: "/groups/absent" },
  { route: "PUT /groups/{name}", path: "/groups/absent", body: { unknown: 1 } },
  { route: "DELETE /groups/{name}", path: "/groups/absent" },
  { role: "operator", route: "GET /groups/{name}/tools", path: "/groups/absent/tools" },
  { role: "operator", route: "GET /groups/{name}/tools/{tool}", path: "/groups/absent/tools/x" },
  { route: "POST /groups/{name}/tools/{tool}/call", path: "/groups/absent/tools/x/call", body: {} },
  { route: "POST /groups/{name}/resources/read", path: "/groups/absent/resources/read", body: { uri: "x" } },
  { route: "POST /groups/{name}/prompts/{prompt}/get", path: "/groups/absent/prompts/x/get", body: {} },
  { role: "user", route: "GET /connections", path: "/connections" },
  { role: "user", route: "PUT /connections/secrets/{name}", path: "/connections/secrets/x", body: { unknown: 1 } },
  { role: "user", route: "DELETE /connections/secrets/{name}", path: "/connections/secrets/absent" },
  { role: "user", route: "GET /grants", path: "/grants" },
  { route: "POST /grants", path: "/grants", body: { name: "x", groups: [] } },
  { role: "user", route: "DELETE /grants/{id}", path: "/grants/absent" },
  { role: "user", route: "GET /oauth/requests/{code}", path: "/oauth/requests/absent" },
  {
    role: "user",
    route: "POST /oauth/requests/{code}/approve",
    path: "/oauth/requests/absent/approve",
    isForPeople: true,
  },
  { role: "user", route: "GET /calls/approvals", path: "/calls/approvals" },
  {
    role: "user",
    route: "POST /calls/approvals/{id}/approve",
    path: "/calls/approvals/absent/approve",
    isForPeople: true,
  },
  {
    role: "user",
    route: "POST /calls/approvals/{id}/deny",
    path: "/calls/approvals/absent/deny",
    body: {},
    isForPeople: true,
  },
  { role: "user", route: "GET /me", path: "/me" },
  { role: "user", route: "GET /tokens", path: "/tokens" },
  // Tokens of lower roles make no tokens, whatever their role may do otherwise.
  { route: "POST /tokens", path: "/tokens", body: { name: "" } },
  { role: "user", route: "DELETE /tokens/{id}", path: "/tokens/absent" },
  { route: "GET /users", path: "/users" },
  { route: "GET /users/{id}", path: "/users/absent" },
  { route: "PATCH /users/{id}", path: "/users/absent", body: { disabled: true } },
  { route: "DELETE /users/{id}", path: "/users/absent" },
  { route: "GET /audit", path: "/audit" },
  { route: "GET /audit/verify", path: "/audit/verify" },
  { route: "GET /registries", path: "/registries" },
  { route: "GET /registry/servers", path: "/registry/servers?registry=absent" },
  { route: "GET /registry/servers/{name}", path: "/registry/servers/absent?registry=curated" },
  { route: "POST /registry/servers", path: "/registry/servers", body: { unknown: 1 } },
  { route: "GET /secrets", path: "/secrets" },
  { route: "GET /secrets/missing", path: "/secrets/missing" },
  { route: "PUT /secrets/{name}", path: "/secrets/absent", body: { unknown: 1 } },
  { route: "DELETE /secrets/{name}", path: "/secrets/absent" },
  { route: "POST /secrets/rotate-key", path: "/secrets/rotate-key" },
  { role: "user", route: "GET /calls", path: "/calls" },
  { route: "DELETE /calls", path: "/calls?before=0" },
  { role: "operator", route: "GET /calls/active", path: "/calls/active" },
  { role: "operator", route: "DELETE /calls/active/{id}", path: "/calls/active/absent" },
  { role: "user", route: "GET /calls/count", path: "/calls/count" },
  { role: "user", route: "GET /calls/export", path: "/calls/export?format=xml" },
  { role: "user", route: "GET /calls/{id}", path: "/calls/999999999" },
  { role: "user", route: "GET /calls/{id}/neighbours", path: "/calls/999999999/neighbours" },
  { role: "operator", route: "GET /metrics/latency", path: "/metrics/latency" },
  { role: "operator", route: "GET /stats", path: "/stats?since=0" },
  { role: "operator", route: "GET /stats/series", path: "/stats/series?since=0" },
  { role: "operator", route: "GET /logs", path: "/logs" },
  { role: "operator", route: "GET /sessions", path: "/sessions" },
  { role: "operator", route: "DELETE /sessions/{id}", path: "/sessions/absent" },
  { role: "operator", route: "GET /tools", path: "/tools?view=index" },
  { route: "GET /config", path: "/config" },
  { route: "GET /config/export", path: "/config/export" },
  { route: "POST /config/validate", path: "/config/validate", body: {} },
  { route: "POST /config/reload", path: "/config/reload" },
  { route: "GET /config/files/{file}", path: "/config/files/group" },
  { route: "PUT /config/files/{file}", path: "/config/files/group", body: { text: "{}" } },
  { role: "operator", route: "GET /events", path: "/events?topics=none" },
  { role: "operator", route: "GET /openapi.json", path: "/openapi.json" },
  { route: "POST /ui/keys", path: "/ui/keys" },
  { route: "GET /ui/session", path: "/ui/session", role: "user" },
  { route: "DELETE /ui/session", path: "/ui/session", role: "user" },
  { route: "GET /ui/sessions", path: "/ui/sessions", role: "user" },
  { route: "DELETE /ui/sessions", path: "/ui/sessions", role: "user" },
  { route: "DELETE /ui/sessions/{id}", path: "/ui/sessions/nothing", role: "user" },
];

/** Browsers sign in here; test/ui/session.test.ts, test/auth/sso.test.ts. */
const WITHOUT_TOKEN = ["POST /ui/session", "POST /ui/sign-ins", "GET /ui/providers"];

describe("T06 every route needs the management token", () => {
  it("MG-3 the table above, the OpenAPI document and the served routes are the same", async () => {
    const { json } = await managed().ask("/openapi.json");
    const documented = Object.entries<object>(json.paths).flatMap(([path, methods]) =>
      Object.keys(methods).map((method) => `${method.toUpperCase()} ${path.replace("/api/v1", "")}`),
    );
    expect([...MATRIX.map(({ route }) => route), ...WITHOUT_TOKEN].toSorted()).toEqual(documented.toSorted());
    const { token, hub } = managed();
    const access = {
      token: new ManagementToken(token),
      users: hub.users,
      sso: undefined,
      sessionsPath: () => undefined,
      onWarning: () => undefined,
    };
    const streams = new EventStreams(new EventLog());
    const served = createRoutes({ ...managed(), callLog: hub.callLog }, streams, new BrowserAccess(access));
    const names = served.map(({ method, path }) => `${method.toUpperCase()} ${path}`);
    expect([...names, "GET /openapi.json"].toSorted()).toEqual(documented.toSorted());
  });

  it.each(MATRIX)("T06 $route without a token answers 401", async ({ route, path, body }) => {
    for (const authorization of ["", "Basic dXNlcjpwYXNz", `Token ${managed().token}`]) {
      const answer = await ask(route, path, { body, headers: { authorization } });
      expect(answer.json).toEqual(problem(401, "UNAUTHENTICATED", "Unauthenticated"));
      expect(answer).toMatchObject({
        status: 401,
        headers: { "www-authenticate": expect.stringMatching(/^Bearer realm="plugboard"/) },
      });
      expect(answer.headers["content-type"]).toBe("application/problem+json");
    }
  });

  it.each(MATRIX)("T06 $route with a wrong token answers 401", async ({ route, path, body }) => {
    for (const wrong of [`pb_${"A".repeat(43)}`, `${managed().token}x`, managed().token.slice(0, -1)]) {
      const headers = { authorization: `Bearer ${wrong}` };
      const answer = await ask(route, path, { body, headers });
      expect(answer.json).toEqual(problem(401, "UNAUTHENTICATED", "Unauthenticated"));
    }
  });

  it.each(MATRIX)("T06 $route with the right token is reached", async ({ route, path, body }) => {
    const { status, json } = await ask(route, path, { body });
    expect([401, 403, 429, 500]).not.toContain(status);
    // The error of an unknown path has no kind; the error of an unknown server has one.
    if (status >= 400) expect(json.kind).toEqual(expect.any(String));
  });

  it.each(["", "/", "/v1", "/v1/", "/v2/status", "/v1/nothing", "/v1/../status", "//v1/status"])(
    "T06 /api%s needs the token too, and is not found",
    async (path) => {
      expect((await http(`${managed().url}/api${path}`, { method: "GET" })).status).toBe(401);
      const headers = { authorization: `Bearer ${managed().token}` };
      const known = await http(`${managed().url}/api${path}`, { method: "GET", headers });
      expect([known.status, JSON.parse(known.body).code]).toEqual([404, "NOT_FOUND"]);
    },
  );

  it.each(["/API/v1/status", "/%61pi/v1/status", "/api%2Fv1/status", "/x/api/v1/status"])(
    "T06 the spelling %s does not bypass the token",
    async (path) => {
      const headers = { authorization: `Bearer ${managed().token}` };
      expect((await http(managed().url + path, { method: "GET", headers })).status).toBe(404);
    },
  );

  it.each(["GET", "HEAD", "POST", "PUT", "PATCH", "DELETE", "OPTIONS"])(
    "T06 %s without a token answers 401",
    async (method) => {
      expect((await http(`${managed().url}/api/v1/servers`, { method })).status).toBe(401);
    },
  );

  it("T04 a token in the query string or in a cookie is not accepted", async () => {
    for (const [path, headers] of [
      [`/status?token=${managed().token}`, {}],
      [`/status?access_token=${managed().token}`, {}],
      ["/status", { cookie: `token=${managed().token}` }],
    ] as const) {
      const answer = await http(`${managed().url}/api/v1${path}`, { method: "GET", headers });
      expect(answer.status).toBe(401);
      expect(answer.body).not.toContain(managed().token);
    }
  });

  it("T03 requests without the token change nothing", async () => {
    const names = (await managed().ask("/servers")).json.map(({ config }: { config: { name: string } }) => config.name);
    expect(names).toEqual(Object.keys(SERVERS));
  });
});

describe("A27 AU-3 roles", () => {
  const tokens = new Map<string, string>();

  beforeAll(async () => {
    for (const role of ROLES) {
      const { token } = await managed().client.tokens.create({ name: role, role });
      tokens.set(role, token);
    }
    const reader = await managed().client.tokens.create({ name: "reader", role: "admin", read_only: true });
    tokens.set("reader", reader.token);
  });

  const rows = MATRIX.flatMap((row) =>
    ROLES.map((role) => ({ ...row, has: role, needs: row.role ?? ("admin" as const) })),
  );

  it.each(rows)(
    "$route, which needs $needs, with the role $has",
    async ({ isForPeople, route, path, body, has, needs }) => {
      const headers = { authorization: `Bearer ${tokens.get(has)}` };
      const { status, json } = await ask(route, path, { body, headers });
      const isRefused = isForPeople === true || ROLES.indexOf(has) < ROLES.indexOf(needs);
      if (isRefused) expect(json).toEqual(problem(403, "FORBIDDEN", "Forbidden"));
      else expect([401, 403, 429, 500]).not.toContain(status);
    },
  );

  it.each(MATRIX)(
    "T06 $route with a token that is read-only, and with a cookie only",
    async ({ route, path, body }) => {
      const [method] = route.split(" ");
      const reader = { authorization: `Bearer ${tokens.get("reader")}` };
      const { status, json } = await ask(route, path, { body, headers: reader });
      if (method === "GET") expect([401, 403, 429, 500]).not.toContain(status);
      else expect(json).toEqual(problem(403, "FORBIDDEN", "Forbidden"));
      const asked = {
        method: method ?? "",
        headers: { cookie: "pb_session=x; __Host-pb_session=x", authorization: "" },
      };
      expect([401, 403]).toContain((await http(`${managed().url}/api/v1${path}`, asked)).status);
    },
  );

  it("a token that is revoked is refused", async () => {
    const { token, id } = await managed().client.tokens.create({ name: "short", role: "admin" });
    const headers = { authorization: `Bearer ${token}` };
    expect((await managed().ask("/status", { headers })).status).toBe(200);
    await managed().client.tokens.revoke(id);
    expect((await managed().ask("/status", { headers })).status).toBe(401);
  });
});

describe("probes", () => {
  it.each(["/livez", "/readyz", "/readyz?verbose", "/healthz"])(
    "T04 %s needs no token and shows nothing but the status",
    async (path) => {
      const { status, body } = await http(managed().url + path, { method: "GET" });
      expect([status, body]).toEqual([200, '{"status":"ok"}']);
    },
  );
});

describe("T05 wrong tokens", () => {
  it("the eleventh wrong token within a minute answers 429 with Retry-After; the right token is still accepted", async () => {
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

  it("T05 the token is in its own file and in no other", async () => {
    const hub = await openManaged({ it: { command: "x", enabled: false } });
    try {
      await hub.ask("/servers/it", { method: "PATCH", body: { description: "new" } });
      await hub.client.secrets.set("a", "b");
      expect(await filesWith(hub.home.dir, hub.token)).toEqual(["data/token"]);
      expect((await stat(join(hub.paths.data, "token"))).mode & 0o777).toBe(0o600);
    } finally {
      expect(await hub.end()).toEqual([]);
    }
  });
});
