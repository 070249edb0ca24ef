// A hub whose administration is for its own machine alone: what people and programs elsewhere still can do, by its public address.

import { readFile, writeFile } from "node:fs/promises";
import { join } from "node:path";
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { ask, makeKey, pageHeaders, tokenOf } from "../support/browser-session.ts";
import { clientOf } from "../support/client.ts";
import { fixture, makeHome, startHub, type Home, type RunningHub } from "../support/hub.ts";
import { Browser } from "../support/oauth/browser.ts";
import { StepClient, type Tokens } from "../support/oauth/issuer-hub.ts";
import { signInAs, startSsoHub, type SsoHub } from "../support/oauth/sso-hub.ts";
import { http, modern, post } from "../support/rpc.ts";

type Place = { readonly url: string };
const INITIALIZE = { jsonrpc: "2.0", id: 1, method: "initialize", params: { protocolVersion: "2025-11-25" } };
const HTML = { accept: "text/html" };

/** Everything that answers, and what it is for. */
const PATHS: readonly { readonly path: string; readonly for: "clients" | "accounts" | "administrators" }[] = [
  { path: "/livez", for: "clients" },
  { path: "/readyz", for: "clients" },
  { path: "/mcp", for: "clients" },
  { path: "/sse", for: "clients" },
  { path: "/.well-known/oauth-protected-resource/mcp", for: "clients" },
  { path: "/.well-known/oauth-authorization-server", for: "clients" },
  { path: "/oauth/authorize?client_id=x", for: "clients" },
  { path: "/oauth/sign-in.js", for: "clients" },
  { path: "/oauth/callback?state=x", for: "clients" },
  { path: "/oauth/done/x", for: "clients" },
  { path: "/connect/it", for: "clients" },
  { path: "/login/callback?state=x", for: "accounts" },
  { path: "/", for: "accounts" },
  { path: "/ui/", for: "accounts" },
  { path: "/ui/connections", for: "accounts" },
  { path: "/api/v1/ui/providers", for: "accounts" },
  { path: "/api/v1/me", for: "accounts" },
  { path: "/metrics", for: "administrators" },
  { path: "/.well-known/plugboard-hub?nonce=0", for: "administrators" },
];

/** What says that an address has nothing, or that a login or state is not known: the edge of the page answered then. */
async function isServed({ url }: Place, path: string): Promise<boolean> {
  const { body } = await http(url + path, { method: "GET", headers: HTML });
  return !body.includes("There is nothing at this address");
}

describe("AU-6 AU-5 listen.admin with an identity provider", () => {
  let sso: SsoHub;
  let open: Place;

  beforeAll(async () => {
    sso = await startSsoHub({
      servers: { it: fixture("echo") },
      groups: { staff: { servers: ["it"] }, closed: { servers: ["it"], access: [] } },
      auth: { mcp: "required", admins: ["root@example.com"], server: { enabled: true } },
      isAdminLocal: true,
    });
    open = sso;
    // An address counts, also in auth.admins, only if the provider has verified it.
    sso.provider.settings.claims = { email_verified: true };
  });

  afterAll(() => sso?.close());

  const statusOf = async (route: string, headers: Readonly<Record<string, string>>, at = open) =>
    (await ask(at, route, headers)).status;

  it.each(PATHS)("AU-6 $path is for $for", async ({ path, for: whom }) => {
    expect(await isServed(sso.hub, path)).toBe(true);
    expect(await isServed(open, path)).toBe(whom !== "administrators");
  });

  it("AU-6 has no API for programs at the public address, whatever their token", async () => {
    const client = await clientOf(sso.hub);
    const { token } = await client.tokens.create({ name: "root", role: "admin" });
    for (const each of [token, await tokenOf(sso.hub)]) {
      const headers = { authorization: `Bearer ${each}` };
      for (const route of ["GET /me", "GET /status", "GET /ui/providers", "POST /ui/keys"]) {
        expect([route, await statusOf(route, headers)]).toEqual([route, 404]);
      }
      expect((await post(`${open.url}/mcp/@admin`, INITIALIZE, headers)).status).toBe(404);
      expect((await modern(`${open.url}/mcp`, "tools/list", {}, headers)).status).toBe(200);
      expect(await statusOf("GET /me", headers, sso.hub)).toBe(200);
    }
  });

  it("AU-5 people sign in at the public address, and there everyone has the role user", async () => {
    for (const account of ["alice", "root"]) {
      const { headers, answer } = await signInAs({ hub: open, provider: sso.provider }, account);
      expect(answer).toMatchObject({ role: "user", user: `${account}@example.com` });
      const session = await ask(open, "GET /ui/session", headers);
      expect(JSON.parse(session.body)).toMatchObject({ role: "user" });
      expect(JSON.parse((await ask(open, "GET /me", headers)).body)).toMatchObject({ role: "user" });
      expect(await statusOf("GET /connections", headers)).toBe(200);
      for (const route of ["GET /status", "GET /secrets", "GET /users", "POST /servers/it/stop", "GET /events"]) {
        expect([route, await statusOf(route, headers)]).toEqual([route, 403]);
      }
      const mcp = (name: string) => post(`${open.url}/api/v1/${name}/mcp`, INITIALIZE, headers);
      expect((await mcp("groups/staff")).status).toBe(200);
      expect((await mcp("groups/closed")).status).toBe(404);
      expect((await mcp("servers/it")).status).toBe(403);
      expect(await statusOf("DELETE /ui/session", headers)).toBe(200);
      expect(await statusOf("GET /me", headers)).toBe(401);
    }
    const users = await (await clientOf(sso.hub)).users.list();
    expect(new Map(users.map(({ email, role }) => [email, role]))).toEqual(
      new Map([
        ["alice@example.com", "user"],
        ["root@example.com", "admin"],
      ]),
    );
  });

  it("AU-4 a person elsewhere signs in, lets a client use a group, and its token works", async () => {
    const { headers } = await signInAs({ hub: open, provider: sso.provider }, "alice");
    const client = new StepClient(open.url);
    expect((await client.register()).status).toBe(201);
    const browser = new Browser();
    const page = await browser.open(client.authorizeUrl({ resource: `${open.url}/groups/staff/mcp` }));
    expect(page.text).toContain("sign in to the web interface");
    const code = /plugboard approve ([A-Z0-9]{4}-[A-Z0-9]{4})/.exec(page.text)?.[1] ?? "";
    // What the script of the page does with the session of the web interface.
    expect(await statusOf(`POST /oauth/requests/${code}/approve`, headers)).toBe(200);
    const asked = await browser.open(page.url);
    expect(asked.text).toContain("alice@example.com");
    const answer = await browser.submit(asked, { decision: "allow", days: "30" }, ({ origin }) => origin !== open.url);
    const redeemed = await client.redeem(new URL(answer.url).searchParams.get("code") ?? "");
    const { access_token: token } = (await redeemed.json()) as Tokens;
    const authorization = `Bearer ${token}`;
    expect((await modern(`${open.url}/groups/staff/mcp`, "tools/list", {}, { authorization })).status).toBe(200);
  });

  it("AU-6 the owner signs in on the own machine only", async () => {
    const key = await makeKey(sso.hub);
    const refused = await ask(open, "POST /ui/session", pageHeaders(open), { key });
    expect([refused.status, refused.headers["set-cookie"]]).toEqual([401, undefined]);
    const answer = await ask(sso.hub, "POST /ui/session", pageHeaders(sso.hub), { key });
    expect(answer.status).toBe(200);
    const cookie = answer.headers["set-cookie"]?.[0]?.split(";", 1)[0] ?? "";
    const session = { cookie, "x-plugboard-key": String(JSON.parse(answer.body).page_key) };
    expect(await statusOf("GET /status", { ...pageHeaders(sso.hub), ...session }, sso.hub)).toBe(200);
    // Also under the name that the cookie has at the other port.
    const moved = cookie.replace(new URL(sso.hub.url).port, new URL(open.url).port);
    expect(await statusOf("GET /me", { ...pageHeaders(open), ...session, cookie: moved })).toBe(401);
  });

  it("AU-1 sends people to log in where they can sign in, and leaves shared logins to administrators", async () => {
    const at = (query: string) => http(`${open.url}/connect/it${query}`, { method: "GET", headers: HTML });
    expect((await at("?for=abc")).headers["location"]).toBe(`${open.url}/ui/connections?server=it&for=abc`);
    const shared = await at("");
    expect([shared.status, shared.body]).toEqual([403, expect.stringContaining(`${sso.hub.url}/ui/access`)]);
  });
});

describe("AU-6 listen.admin without an identity provider", () => {
  let home: Home;
  let hub: RunningHub;
  let open: Place;

  beforeAll(async () => {
    home = await makeHome({ it: fixture("echo") });
    const settings = { listen: { admin: "loopback" }, auth: { mcp: "required", server: { enabled: true } } };
    await writeFile(join(home.dir, "config/hub.json"), JSON.stringify(settings));
    hub = await startHub(home);
    const record = JSON.parse(await readFile(join(home.dir, "state/hub.json"), "utf8"));
    open = { url: `http://127.0.0.1:${record.listen.port}` };
  });

  afterAll(async () => {
    await hub?.stop();
    await home?.remove();
  });

  it.each(PATHS)("AU-6 $path is for $for", async ({ path, for: whom }) => {
    // It is answered where there are providers.
    expect(await isServed(hub, path)).toBe(!path.startsWith("/login/"));
    expect(await isServed(open, path)).toBe(whom === "clients");
  });

  it("AU-4 the page of a client that wants access leads to no address that does not answer", async () => {
    const client = new StepClient(open.url);
    await client.register();
    const { text } = await new Browser().open(client.authorizeUrl({ resource: undefined }));
    expect(text).toContain("plugboard approve ");
    expect(text).not.toContain("/ui/");
  });
});
