// A login at a protected server over REST and the hub's pages: the built hub, a real authorization server, a browser without a person.

import { readFile } from "node:fs/promises";
import { join } from "node:path";
import { afterAll, beforeAll, beforeEach, describe, expect, it } from "vitest";
import { HubClient } from "../../hub/src/api/client/client.ts";
import type { LoginAttempt } from "../../hub/src/api/schemas/login.ts";
import { makeHome, startHub, type Home, type RunningHub } from "../support/hub.ts";
import { http } from "../support/rpc.ts";
import { startAuthorizationServer, type AuthorizationServer } from "../support/oauth/authorization-server.ts";
import { Browser } from "../support/oauth/browser.ts";
import { ProtectedServer } from "../support/oauth/protected-server.ts";

let issuer: AuthorizationServer;
let server: ProtectedServer;
let home: Home;
let hub: RunningHub;
let client: HubClient;
let token: string;

beforeAll(async () => {
  issuer = await startAuthorizationServer();
  server = await ProtectedServer.open([issuer.issuer]);
  issuer.settings.resources.set(server.url, server.allScopes);
  home = await makeHome({ notes: { url: server.url } });
  hub = await startHub(home);
  token = (await readFile(join(home.dir, "data/token"), "utf8")).trim();
  client = new HubClient({ url: hub.url, token });
});

afterAll(async () => {
  expect(await hub?.stop()).toBe(0);
  await home?.remove();
  await server?.close();
  await issuer?.close();
});

beforeEach(async () => {
  await client.logins.logout("notes");
  issuer.settings.decision = "accept";
  issuer.front.heal();
});

type BrowserAttempt = Extract<LoginAttempt, { flow: "browser" }>;

async function begin(input?: Parameters<HubClient["logins"]["begin"]>[1]): Promise<BrowserAttempt> {
  const attempt = await client.logins.begin("notes", input);
  if (attempt.flow !== "browser") throw new Error(`Not for a browser: ${attempt.flow}`);
  return attempt;
}

/** The values of a metric by the labels of its lines. */
async function metricOf(name: string): Promise<Record<string, number>> {
  const { body } = await http(`${hub.url}/metrics`, { method: "GET", headers: { authorization: `Bearer ${token}` } });
  const lines = body.split("\n").filter((line) => line.startsWith(`${name}{`));
  return Object.fromEntries(
    lines.map((line) => [line.slice(name.length, line.lastIndexOf(" ")), Number(line.split(" ").at(-1))]),
  );
}

describe("AU-1 a login over REST", () => {
  it("begins, is finished by the browser, and connects the server", async () => {
    expect(await client.servers.get("notes")).toMatchObject({
      status: "unauthenticated",
      error: { kind: "LoginRequired", hint: "plugboard auth notes", login_url: `${hub.url}/connect/notes` },
    });
    const attempt = await begin();
    expect(attempt).toEqual({
      id: expect.stringMatching(/^[\w-]{36}$/),
      server: "notes",
      principal: "local",
      flow: "browser",
      state: "pending",
      error: null,
      issuer: issuer.issuer,
      authorization_server: new URL(issuer.issuer).host,
      scopes: expect.arrayContaining(["mcp"]),
      url: expect.stringContaining(`${issuer.issuer}/auth?`),
      redirect_uri: `http://localhost:${new URL(hub.url).port}/oauth/callback`,
      expires_at: expect.any(String),
    });
    expect((await client.servers.get("notes")).login?.state).toBe("pending");
    const page = await new Browser().open(attempt.url);
    expect(new URL(page.url).pathname).toBe(`/oauth/done/${attempt.id}`);
    expect(page.text).toContain("notes is connected");
    expect(await client.logins.getAttempt(attempt.id)).toMatchObject({ state: "completed", error: null });
    await expect.poll(async () => (await client.servers.get("notes")).status).toBe("running");
    const { login } = await client.servers.get("notes");
    expect(login).toMatchObject({ state: "connected", by: "person", issuer: issuer.issuer, renewable: true });
    expect(await client.logins.list()).toEqual([login]);
    expect(await metricOf("hub_login_state")).toEqual({ '{server="notes"}': 1 });
    expect((await metricOf("hub_login_expires_seconds"))['{server="notes"}']).toBeGreaterThan(3000);
  });

  it("a refresh gets new tokens, which is counted", async () => {
    const { url } = await begin();
    await new Browser().open(url);
    const before = (await client.logins.list())[0];
    const count = (await metricOf("hub_login_renewals_total"))['{server="notes",outcome="renewed"}'] ?? 0;
    const after = await client.logins.refresh("notes");
    expect(Date.parse(after.renewed_at ?? "")).toBeGreaterThan(Date.parse(before?.renewed_at ?? ""));
    expect((await metricOf("hub_login_renewals_total"))['{server="notes",outcome="renewed"}']).toBe(count + 1);
  });

  it("a person whose browser is elsewhere pastes the address at which it arrived", async () => {
    const { id, url, redirect_uri } = await begin();
    const { url: address } = await new Browser().open(url, ({ pathname }) => pathname === "/oauth/callback");
    expect(address.startsWith(redirect_uri)).toBe(true);
    await expect(client.logins.finish(id, redirect_uri)).rejects.toMatchObject({
      kind: "InvalidArgument",
      field: "url",
    });
    const other = new URL(address);
    other.searchParams.set("state", "guess");
    await expect(client.logins.finish(id, other.href)).rejects.toMatchObject({ kind: "InvalidArgument", field: "url" });
    expect(await client.logins.finish(id, ` ${new URL(address).search} `)).toMatchObject({ state: "completed" });
  });

  it("an attempt can be cancelled, and is not finished afterwards", async () => {
    const { id, url } = await begin();
    await client.logins.cancel(id);
    expect(await client.logins.getAttempt(id)).toMatchObject({ state: "failed", error: { kind: "LoginFailed" } });
    const page = await new Browser().open(url);
    expect([page.status, page.text.includes("This login is not known any more")]).toEqual([400, true]);
    expect(issuer.front.grants("authorization_code").some(({ answer }) => answer === undefined)).toBe(false);
  });

  it("a person who refuses ends the attempt, and the page says so", async () => {
    issuer.settings.decision = "deny";
    const { id, url } = await begin();
    const page = await new Browser().open(url);
    expect(page.text).toContain("The login failed");
    expect(await client.logins.getAttempt(id)).toMatchObject({ state: "failed", error: { kind: "LoginFailed" } });
  });

  it("a logout revokes the tokens and disconnects the server", async () => {
    await new Browser().open((await begin()).url);
    const revocations = issuer.front.of("revoke").length;
    expect(await client.logins.logout("notes")).toEqual({ server: "notes", found: true, revoked: true });
    expect(issuer.front.of("revoke").length).toBeGreaterThan(revocations);
    expect(await client.logins.list()).toMatchObject([{ server: "notes", state: "none" }]);
  });

  it("deleting a server logs it out, and keeps nothing", async () => {
    await client.servers.create({ name: "brief", url: server.url });
    const attempt = await client.logins.begin("brief");
    await new Browser().open("url" in attempt ? attempt.url : "");
    const revocations = issuer.front.of("revoke").length;
    await client.servers.delete("brief");
    expect(issuer.front.of("revoke").length).toBeGreaterThan(revocations);
    expect((await client.logins.list()).map((login) => login.server)).toEqual(["notes"]);
  });

  it("events say what happens, without tokens", async () => {
    const seen: string[] = [];
    const stop = new AbortController();
    const reading = (async () => {
      for await (const { event, data } of client.events({ topics: ["logins"], signal: stop.signal })) {
        seen.push(event);
        expect(JSON.stringify(data)).not.toMatch(/access|refresh_token|code_verifier/);
        if (event === "login.revoked") break;
      }
    })();
    await expect.poll(() => client.status()).toMatchObject({ event_streams: 1 });
    await new Browser().open((await begin()).url);
    await client.logins.logout("notes");
    await reading;
    stop.abort();
    expect(seen).toEqual(["login.started", "login.completed", "login.revoked"]);
  });
});

describe("AU-1 a login on the hub's pages", () => {
  it("names server, host and scopes, leads to the authorization server and back", async () => {
    const browser = new Browser();
    const registrations = issuer.front.of("register").length;
    const offer = await browser.open(`${hub.url}/connect/notes`);
    expect(offer.text).toContain("<h1>Connect notes</h1>");
    expect(offer.text).toContain(new URL(issuer.issuer).host);
    expect(offer.text).toContain("<code>mcp</code>");
    // Nothing is registered for people who only look.
    expect(issuer.front.of("register")).toHaveLength(registrations);
    const done = await browser.submit(offer);
    expect(done.text).toContain("notes is connected");
    expect(new URL(done.url).pathname).toMatch(/^\/oauth\/done\//);
  });

  it("A11 is not finished by another browser, and then by the right one", async () => {
    const browser = new Browser();
    const offer = await browser.open(`${hub.url}/connect/notes`);
    const { url: callback } = await browser.submit(offer, {}, ({ pathname }) => pathname === "/oauth/callback");
    expect((await new Browser().open(callback)).status).toBe(403);
    expect((await browser.open(callback)).text).toContain("notes is connected");
  });

  it("A04 an address that was used is not known any more", async () => {
    const { url } = await begin();
    const browser = new Browser();
    const { url: callback } = await browser.open(url, ({ pathname }) => pathname === "/oauth/callback");
    const exchanges = issuer.front.grants("authorization_code").length;
    expect((await browser.open(callback)).status).toBe(200);
    expect((await browser.open(callback)).status).toBe(400);
    expect(issuer.front.grants("authorization_code")).toHaveLength(exchanges + 1);
  });

  it("an unknown server and an unknown login have pages of their own", async () => {
    const browser = new Browser();
    const unknown = await browser.open(`${hub.url}/connect/nothing`);
    expect([unknown.status, unknown.text.includes("nothing")]).toEqual([404, true]);
    expect((await browser.open(`${hub.url}/oauth/done/nothing`)).status).toBe(404);
  });
});
