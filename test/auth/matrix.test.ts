// Who gets in where: every endpoint that is no route of the API, with every kind of credentials. The routes of the API have a
// matrix of their own: test/api/token.test.ts.

import { once } from "node:events";
import { request } from "node:http";
import { mkdir, writeFile } from "node:fs/promises";
import { join } from "node:path";
import { WebSocket } from "ws";
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { signIn as openBrowser, type SignedIn } from "../support/browser-session.ts";
import { clientOf, tokenOf } from "../support/client.ts";
import { npmServer } from "../support/fake-registry.ts";
import { fixture, makeHome, startHub, type RunningHub } from "../support/hub.ts";
import { TokenIssuer } from "../support/oauth/token-issuer.ts";
import { http, modern, post } from "../support/rpc.ts";
import { signIn } from "../support/users.ts";

type Headers = Readonly<Record<string, string>>;
type Door = (url: string, headers: Headers) => Promise<number>;

const INITIALIZE = { jsonrpc: "2.0", id: 1, method: "initialize", params: { protocolVersion: "2025-11-25" } };

/** The status with which a stream begins. */
const stream =
  (path: string): Door =>
  async (url, headers) => {
    const all = { ...headers, accept: "text/event-stream" };
    const outgoing = request(url + path, { headers: all, agent: false }).end();
    const [response] = await once(outgoing, "response");
    response.destroy();
    return response.statusCode;
  };

/** 101, or the status of the refusal. */
const webSocket =
  (path: string): Door =>
  (url, headers) =>
    new Promise((resolve, reject) => {
      const socket = new WebSocket(url.replace("http", "ws") + path, { headers });
      socket.on("open", () => (socket.close(), resolve(101)));
      socket.on("unexpected-response", (outgoing, { statusCode = 0 }) => (outgoing.destroy(), resolve(statusCode)));
      socket.on("error", reject);
    });

const get =
  (path: string): Door =>
  async (url, headers) =>
    (await http(url + path, { method: "GET", headers })).status;

/** In pieces, which Node's server reads. */
const chunked =
  (path: string): Door =>
  async (url, headers) =>
    (await post(url + path, INITIALIZE, { ...headers, "transfer-encoding": "chunked" })).status;

const doorsOf = (group: string): Readonly<Record<string, Door>> => ({
  [`/mcp/${group} of the legacy era`]: async (url, headers) =>
    (await post(`${url}/mcp/${group}`, INITIALIZE, headers)).status,
  [`/mcp/${group} of the modern era`]: async (url, headers) =>
    (await modern(`${url}/mcp/${group}`, "tools/list", {}, headers)).status,
  [`/mcp/${group} in chunks`]: chunked(`/mcp/${group}`),
  [`/groups/${group}/mcp`]: async (url, headers) =>
    (await post(`${url}/groups/${group}/mcp`, INITIALIZE, headers)).status,
  [`/groups/${group}/openapi.json`]: get(`/groups/${group}/openapi.json`),
  [`/groups/${group}/tools/absent`]: async (url, headers) =>
    (await http(`${url}/groups/${group}/tools/absent`, { method: "POST", headers, body: "x" })).status,
  [`/sse/${group}`]: stream(`/sse/${group}`),
  [`/mcp/${group} over WebSocket`]: webSocket(`/mcp/${group}`),
});

type Need =
  | { readonly group: "a" | "b"; readonly isApi?: boolean }
  | { readonly role: "operator" | "admin"; readonly changes: boolean }
  | "all groups"
  | "nothing";

interface Row {
  readonly name: string;
  readonly needs: Need;
  readonly door: Door;
}

const ROWS: readonly Row[] = [
  ...(["a", "b"] as const).flatMap((group) =>
    Object.entries(doorsOf(group)).map(([name, door]): Row => ({ name, door, needs: { group } })),
  ),
  ...(["a", "b"] as const).map((group): Row => {
    const path = `/api/v1/groups/${group}/mcp`;
    const door: Door = async (url, headers) => (await post(url + path, INITIALIZE, headers)).status;
    return { name: path, needs: { group, isApi: true }, door };
  }),
  {
    name: "/api/v1/servers/echo/mcp",
    needs: { role: "admin", changes: false },
    door: async (url, headers) => (await post(`${url}/api/v1/servers/echo/mcp`, INITIALIZE, headers)).status,
  },
  {
    name: "/mcp/@admin",
    needs: { role: "admin", changes: true },
    door: async (url, headers) => (await post(`${url}/mcp/@admin`, INITIALIZE, headers)).status,
  },
  { name: "/registry/v0.1/servers", needs: "all groups", door: get("/registry/v0.1/servers") },
  {
    name: "/registry/v0.1/servers/{name}/versions/{version}",
    needs: "all groups",
    door: get("/registry/v0.1/servers/io.example%2Fa/versions/latest"),
  },
  { name: "/metrics", needs: { role: "operator", changes: false }, door: get("/metrics") },
  { name: "/api/v1/events", needs: { role: "operator", changes: false }, door: stream("/api/v1/events") },
  { name: "/ui/", needs: "nothing", door: get("/ui/") },
  { name: "/livez", needs: "nothing", door: get("/livez") },
  { name: "/readyz", needs: "nothing", door: get("/readyz") },
  { name: "the page of a login", needs: "nothing", door: get("/oauth/callback") },
];

interface Caller {
  readonly groups: readonly string[];
  readonly role: "none" | "user" | "operator" | "admin";
  readonly readOnly?: boolean;
  /** The token is limited to these groups. */
  readonly isLimited?: boolean;
}

/** What each of them may do. */
const CALLERS = {
  nobody: { groups: [], role: "none" },
  "a wrong token": { groups: [], role: "none" },
  "a cookie only": { groups: [], role: "none" },
  "a token for group a": { groups: ["a"], role: "user", isLimited: true },
  "a token for group b": { groups: ["b"], role: "user", isLimited: true },
  "a read-only token": { groups: ["a", "b"], role: "admin", readOnly: true },
  "a user": { groups: ["a"], role: "user" },
  "a user's JWT": { groups: ["a"], role: "user" },
  "an operator": { groups: ["b"], role: "operator" },
  "an admin": { groups: ["a", "b"], role: "admin" },
  "the management token": { groups: ["a", "b"], role: "admin" },
} as const satisfies Record<string, Caller>;
type CallerName = keyof typeof CALLERS;

const RANK = ["none", "user", "operator", "admin"];

/** The status of a refusal; undefined: let in. */
function refusal(needs: Need, { groups, role, readOnly = false, isLimited = false }: Caller): number | undefined {
  if (needs === "nothing") return undefined;
  if (role === "none") return 401;
  if (needs === "all groups") return isLimited ? 403 : undefined;
  if ("group" in needs) return groups.includes(needs.group) ? undefined : 404;
  if (readOnly && needs.changes) return 403;
  return RANK.indexOf(role) < RANK.indexOf(needs.role) ? 403 : undefined;
}

/** Undefined: let in. */
function refusedWith(status: number, { role }: Caller): number | undefined {
  // Many wrong tokens are answered by 429, and a cookie that is not sent by a page of the hub by 403.
  if (role === "none" && (status === 429 || status === 403)) return 401;
  return [401, 403, 404].includes(status) ? status : undefined;
}

const ISSUED = "https://hub.example.com";

describe.each(["required", "open"] as const)("A27 T06 the matrix of a hub whose endpoints are %s", (mcp) => {
  let hub: RunningHub;
  let issuer: TokenIssuer;
  let closeIssuer: () => void;
  let browser: SignedIn;
  const headers = new Map<CallerName, Headers>();

  beforeAll(async () => {
    issuer = await TokenIssuer.create();
    closeIssuer = await issuer.listen();
    const groups = {
      a: { servers: ["echo"], access: ["team:a", "service:a", "service:reader"] },
      b: { servers: ["echo"], access: ["service:b", "service:op"] },
    };
    const home = await makeHome({ echo: fixture("echo") }, groups);
    const trusted = { issuer: issuer.url, audience: [ISSUED], algorithms: ["ES256"] };
    const teams = { a: ["user@example.com"] };
    const settings = { auth: { mcp, teams, issuers: [trusted] }, registry_mirror: "mirror" };
    await writeFile(join(home.dir, "config/hub.json"), JSON.stringify(settings));
    await mkdir(join(home.dir, "config/mirror"));
    await writeFile(join(home.dir, "config/mirror/a.json"), JSON.stringify(npmServer("io.example/a")));
    hub = await startHub(home);
    const client = await clientOf(hub);
    await signIn(home, { email: "user@example.com" });
    browser = await openBrowser(hub);
    const token = async (name: string, input: object = {}) =>
      ({ authorization: `Bearer ${(await client.tokens.create({ name, ...input })).token}` }) as const;
    headers.set("nobody", {});
    const { authorization } = await token("gone");
    headers.set("a wrong token", { authorization: authorization.replace(/.$/, (last) => (last === "x" ? "y" : "x")) });
    headers.set("a cookie only", { cookie: browser.headers.cookie });
    headers.set("a token for group a", await token("a", { groups: ["a"] }));
    headers.set("a token for group b", await token("b", { groups: ["b"] }));
    headers.set("a read-only token", await token("reader", { role: "admin", read_only: true }));
    headers.set("a user", await token("laptop", { for: "user@example.com" }));
    const claims = { aud: ISSUED, email: "user@example.com", email_verified: true };
    headers.set("a user's JWT", { authorization: `Bearer ${await issuer.token(claims)}` });
    headers.set("an operator", await token("op", { role: "operator" }));
    headers.set("an admin", await token("root", { role: "admin" }));
    headers.set("the management token", { authorization: `Bearer ${await tokenOf(hub.home)}` });
  });

  afterAll(async () => {
    await hub.stop();
    await hub.home.remove();
    closeIssuer();
  });

  it.each(ROWS)("$name", async ({ door, needs }) => {
    const outcomes: [string, number | undefined][] = [];
    const expected: typeof outcomes = [];
    for (const [name, caller] of Object.entries(CALLERS) as [CallerName, Caller][]) {
      const status = await door(hub.url, headers.get(name) ?? {});
      outcomes.push([name, refusedWith(status, caller)]);
      const isMcp = needs === "all groups" || (needs !== "nothing" && "group" in needs && needs.isApi !== true);
      const isLetIn = mcp === "open" && isMcp && (name === "nobody" || name === "a cookie only");
      expected.push([name, isLetIn ? undefined : refusal(needs, caller)]);
    }
    expect(outcomes).toEqual(expected);
  });
});
