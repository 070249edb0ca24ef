// The authorization server and the protected server of these tests, with the official SDK as client instead of the hub: they do
// what the tests rely on.

import { afterEach, describe, expect, it, vi } from "vitest";
import { startAuthorizationServer, type AuthorizationServer } from "../support/oauth/authorization-server.ts";
import { Browser } from "../support/oauth/browser.ts";
import { TRANSIENT, githubError } from "../support/oauth/front.ts";
import type { Issuer } from "../support/oauth/issuer.ts";
import { ProtectedServer } from "../support/oauth/protected-server.ts";
import { sdkLogin, type SdkLogin, type SdkLoginOptions } from "../support/oauth/sdk-login.ts";

const MACHINE = {
  client_id: "machine",
  client_secret: "machine-secret",
  grant_types: ["client_credentials", "urn:ietf:params:oauth:grant-type:device_code", "refresh_token"],
  redirect_uris: [],
  response_types: [],
};

let open: { close(): Promise<void> }[] = [];

afterEach(async () => {
  for (const each of open) await each.close();
  open = [];
});

async function start(options: Parameters<typeof startAuthorizationServer>[0] = {}) {
  const issuer = await startAuthorizationServer(options);
  const server = await ProtectedServer.open([issuer.issuer]);
  issuer.settings.resources.set(server.url, server.allScopes);
  open.push(server, issuer);
  return { issuer, server };
}

async function login(url: string, issuer: Issuer, options: SdkLoginOptions = {}): Promise<SdkLogin> {
  const given = await sdkLogin(url, issuer, options);
  open.unshift(given.client);
  return given;
}

const post = (url: string, form: Record<string, string>) =>
  fetch(url, { method: "POST", body: new URLSearchParams(form) });

function call({ url }: ProtectedServer, token: string, name: string): Promise<Response> {
  const message = { jsonrpc: "2.0", id: 1, method: "tools/call", params: { name, arguments: {} } };
  return fetch(url, {
    method: "POST",
    body: JSON.stringify(message),
    headers: {
      authorization: `Bearer ${token}`,
      accept: "application/json, text/event-stream",
      "content-type": "application/json",
      "mcp-protocol-version": "2025-11-25",
    },
  });
}

const tokens = async (response: Response) => (await response.json()) as Partial<Record<string, string>>;

function refresh({ issuer }: AuthorizationServer, { clientId }: SdkLogin, token: string, resource: string) {
  const form = { grant_type: "refresh_token", refresh_token: token, client_id: clientId, resource };
  return post(`${issuer}/token`, form);
}

describe("the servers of the OAuth tests", () => {
  it.each(["2025-11-25", "2026-07-28"])("a client of %s logs in by registration and calls a tool", async (revision) => {
    const { issuer, server } = await start();
    const { client, scope } = await login(server.url, issuer, { revision });
    const { content } = await client.callTool({ name: "whoami", arguments: {} });
    expect(content).toEqual([{ type: "text", text: '{"sub":"alice","scopes":["mcp"]}' }]);
    expect(scope).toBe("mcp");
    expect(server.calls).toEqual(["whoami"]);
    expect(issuer.front.of("register")).toHaveLength(1);
    expect(issuer.front.grants("authorization_code")).toHaveLength(1);
    expect(server.authorized.length).toBeGreaterThan(1);
  });

  it("a client id can be the address of a document", async () => {
    const { issuer, server } = await start();
    const address = "https://client.example/client.json";
    issuer.settings.documents.set(address, {
      client_id: address,
      client_name: "test",
      redirect_uris: ["http://localhost:1/callback"],
      application_type: "native",
      token_endpoint_auth_method: "none",
    });
    const { clientId } = await login(server.url, issuer, { clientMetadataUrl: address });
    expect(clientId).toBe(address);
    expect(issuer.front.of("register")).toEqual([]);
  });

  it("a tool that needs another scope is refused with 403 and the name of the scope", async () => {
    const { issuer, server } = await start();
    const { accessToken } = await login(server.url, issuer);
    const response = await call(server, accessToken, "admin");
    expect(response.status).toBe(403);
    const challenge = response.headers.get("www-authenticate");
    expect(challenge).toContain('error="insufficient_scope"');
    expect(challenge).toContain('scope="mcp:admin"');
    expect(challenge).toContain(`resource_metadata="${server.metadataUrl}"`);
    expect(server.calls).toEqual([]);
  });

  it("two refreshes with one token end the login, unless there is a leeway", async () => {
    const { issuer, server } = await start();
    const first = await login(server.url, issuer);
    const winner = await tokens(await refresh(issuer, first, first.refreshToken, server.url));
    expect(winner).toMatchObject({ access_token: expect.any(String), refresh_token: expect.any(String) });
    expect((await refresh(issuer, first, first.refreshToken, server.url)).status).toBe(400);
    const dead = await refresh(issuer, first, winner["refresh_token"] ?? "", server.url);
    expect(await dead.json()).toMatchObject({ error: "invalid_grant" });
    issuer.storage.graceMs = 60_000;
    const second = await login(server.url, issuer);
    expect((await refresh(issuer, second, second.refreshToken, server.url)).status).toBe(200);
    expect((await refresh(issuer, second, second.refreshToken, server.url)).status).toBe(200);
    expect(issuer.front.refreshes).toHaveLength(5);
  });

  it("tokens can be refused before they expire, and expire", async () => {
    const { issuer, server } = await start();
    const { accessToken } = await login(server.url, issuer);
    expect((await call(server, accessToken, "whoami")).status).toBe(200);
    server.revokeTokens();
    expect((await call(server, accessToken, "whoami")).status).toBe(401);
    issuer.settings.accessSeconds = 1;
    const { accessToken: short } = await login(server.url, issuer);
    await vi.waitUntil(async () => (await call(server, short, "whoami")).status === 401, {
      timeout: 60_000,
      interval: 200,
    });
  });

  it("every fault can be put in front of an endpoint", async () => {
    const { issuer } = await start();
    const ask = () => fetch(`${issuer.issuer}/token`, { method: "POST", signal: AbortSignal.timeout(200) });
    const seen: unknown[] = [];
    for (const fault of [...Object.values(TRANSIENT), { do: "lose" } as const, githubError("bad_refresh_token")]) {
      issuer.front.fail("token", fault, 1);
      const answer = await ask().catch(({ name }: Error) => name);
      seen.push(answer instanceof Response ? answer.status : answer);
    }
    expect(seen).toEqual([503, 200, "TypeError", "TimeoutError", 429, "TypeError", 200]);
    expect((await ask()).status).toBe(400);
  });

  it("a held request waits until it is released", async () => {
    const { issuer } = await start();
    const hold = issuer.front.hold("token", "before");
    const answer = fetch(`${issuer.issuer}/token`, { method: "POST" });
    expect(await hold.reached).toMatchObject({ endpoint: "token", method: "POST" });
    hold.release();
    expect((await answer).status).toBe(400);
  });

  it("machines and devices get tokens", async () => {
    const { issuer, server } = await start({ clients: [MACHINE] });
    const client = { client_id: MACHINE.client_id, client_secret: MACHINE.client_secret };
    const asked = { ...client, grant_type: "client_credentials", resource: server.url, scope: "mcp" };
    expect((await post(`${issuer.issuer}/token`, asked)).status).toBe(200);
    const wrong = await post(`${issuer.issuer}/token`, { ...asked, resource: "http://127.0.0.1/other" });
    expect(await wrong.json()).toMatchObject({ error: "invalid_target" });

    const device = await tokens(
      await post(`${issuer.issuer}/device/auth`, { ...client, scope: "mcp", resource: server.url }),
    );
    const poll = {
      ...client,
      grant_type: "urn:ietf:params:oauth:grant-type:device_code",
      device_code: device["device_code"] ?? "",
      resource: server.url,
    };
    expect(await (await post(`${issuer.issuer}/token`, poll)).json()).toMatchObject({ error: "authorization_pending" });
    const browser = new Browser();
    const confirm = await browser.submit(await browser.open(device["verification_uri_complete"] ?? ""));
    await browser.submit(confirm, { confirm: "yes" });
    expect(await (await post(`${issuer.issuer}/token`, poll)).json()).toMatchObject({ scope: "mcp" });
  });

  it("a refused consent comes back as an error", async () => {
    const { issuer, server } = await start();
    issuer.settings.decision = "deny";
    await expect(login(server.url, issuer)).rejects.toThrow(/access_denied|refused/);
  });
});
