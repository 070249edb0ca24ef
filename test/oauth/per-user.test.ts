// A login for each caller at a protected server: the built hub, a real authorization server with two people, and access tokens that
// stand for them.

import { writeFile } from "node:fs/promises";
import { join } from "node:path";
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import type { HubClient } from "../../hub/src/api/client/client.ts";
import { HubClient as Client } from "../../hub/src/api/client/client.ts";
import { clientOf, tokenOf } from "../support/client.ts";
import { makeHome, plugboard, startHub, type RunningHub } from "../support/hub.ts";
import { answerOf, connect, http, modern, post } from "../support/rpc.ts";
import { startAuthorizationServer, type AuthorizationServer } from "../support/oauth/authorization-server.ts";
import { Browser } from "../support/oauth/browser.ts";
import { isCallback } from "../support/oauth/oauth-hub.ts";
import { ProtectedServer } from "../support/oauth/protected-server.ts";
import { legacyWatcher, modernWatcher } from "../support/watchers.ts";

interface Person {
  readonly name: string;
  readonly principal: string;
  readonly headers: Record<string, string>;
  readonly client: HubClient;
}

/** The default is 5: too few for one of these tests. */
const LOGINS_PER_MINUTE = 20;

let issuer: AuthorizationServer;
let server: ProtectedServer;
let hub: RunningHub;
let owner: HubClient;
let [alice, bob]: Person[] = [];

beforeAll(async () => {
  issuer = await startAuthorizationServer();
  server = await ProtectedServer.open([issuer.issuer]);
  issuer.settings.resources.set(server.url, server.allScopes);
  const home = await makeHome({ notes: { url: server.url, auth: { per: "user" } } });
  const limits = { server_logins_per_minute: LOGINS_PER_MINUTE };
  await writeFile(join(home.dir, "config/hub.json"), JSON.stringify({ auth: { mcp: "required", limits } }));
  hub = await startHub(home);
  owner = await clientOf(hub);
  [alice, bob] = await Promise.all(["alice", "bob"].map(person));
});

afterAll(async () => {
  await hub?.stop();
  await hub?.home.remove();
  await server?.close();
  await issuer?.close();
});

async function person(name: string): Promise<Person> {
  const { token } = await owner.tokens.create({ name });
  const client = new Client({ url: hub.url, token });
  return { name, principal: `service:${name}`, headers: { authorization: `Bearer ${token}` }, client };
}

const both = (): [Person, Person] => {
  if (alice === undefined || bob === undefined) throw new Error("Not started");
  return [alice, bob];
};

async function begin({ client }: Pick<Person, "client">) {
  const attempt = await client.logins.begin("notes");
  if (attempt.flow !== "browser") throw new Error("Not for a browser");
  return attempt;
}

/** Logs a person in, with their own account at the authorization server. A program pastes where the browser arrived. */
async function logIn({ name, client }: Person): Promise<void> {
  issuer.settings.account = name;
  const { id, url } = await begin({ client });
  const { url: arrived } = await new Browser().open(url, isCallback);
  expect(await client.logins.finish(id, arrived)).toMatchObject({ state: "completed" });
}

async function call({ headers }: Person, tool = "whoami", args: object = {}) {
  const { body } = await modern(`${hub.url}/mcp`, "tools/call", { name: `notes:${tool}`, arguments: args }, headers);
  return answerOf(body).result;
}

const accountOf = ({ content }: { content: { text: string }[] }) => JSON.parse(content[0]?.text ?? "{}").sub as string;

describe("AU-5 a server with a login for each caller", () => {
  it("A21 asks each of them for a login of their own, and uses no other", async () => {
    const [a, b] = both();
    await logIn(a);
    await expect.poll(async () => (await owner.servers.get("notes")).status).toBe("running");
    expect(accountOf(await call(a))).toBe("alice");
    const sent = server.authorized.length;
    const ran = server.calls.length;
    const refused = await call(b);
    expect(refused).toMatchObject({
      isError: true,
      _meta: {
        "io.plugboard/error": {
          kind: "LoginRequired",
          login_url: expect.stringContaining(`${hub.url}/connect/notes?for=`),
          hint: `plugboard auth notes --as ${b.principal}`,
        },
      },
    });
    expect(server.authorized).toHaveLength(sent);
    expect(server.calls).toHaveLength(ran);
    await logIn(b);
    expect([accountOf(await call(b)), accountOf(await call(a))]).toEqual(["bob", "alice"]);
  });

  it("A21 offers the login to the client of the person who lacks it", async () => {
    const [a, b] = both();
    await b.client.logins.logout("notes");
    const capabilities = { "io.modelcontextprotocol/clientCapabilities": { elicitation: { url: {} } } };
    const params = { name: "notes:whoami", arguments: {}, _meta: capabilities };
    const result = async ({ headers }: Person) =>
      answerOf((await modern(`${hub.url}/mcp`, "tools/call", params, headers)).body).result;
    expect(JSON.stringify((await result(b)).inputRequests)).toContain(`${hub.url}/connect/notes`);
    expect(accountOf(await result(a))).toBe("alice");
  });

  it("A21 a session, a subscription and an attempt to log in of one person are unknown to another", async () => {
    const [a, b] = both();
    const session = await connect(`${hub.url}/mcp`, "2025-11-25", undefined, {}, a.headers["authorization"]);
    const list = { jsonrpc: "2.0", id: 1, method: "tools/list" };
    expect((await post(`${hub.url}/mcp`, list, { ...session.headers, ...a.headers })).status).toBe(200);
    expect((await post(`${hub.url}/mcp`, list, { ...session.headers, ...b.headers })).status).toBe(404);
    const { id } = await a.client.logins.begin("notes");
    const denied = { kind: "LoginNotFound" };
    await expect(b.client.logins.getAttempt(id)).rejects.toMatchObject(denied);
    await expect(b.client.logins.finish(id, "http://localhost/oauth/callback?state=x")).rejects.toMatchObject(denied);
    await expect(b.client.logins.cancel(id)).rejects.toMatchObject(denied);
    expect(await a.client.logins.getAttempt(id)).toMatchObject({ state: "pending", principal: a.principal });
    await a.client.logins.cancel(id);
  });

  it.each([
    ["legacy clients", legacyWatcher],
    ["modern clients", modernWatcher],
  ])("A21 a subscription of %s lives on the caller's own login, and ends with it", async (_, open) => {
    const [a, b] = both();
    for (const each of [a, b]) await logIn(each);
    const watchers = await Promise.all(
      [a, b].map(({ headers }) => open(`${hub.url}/mcp`, headers["authorization"]?.replace("Bearer ", ""))),
    );
    const [hers, his] = watchers;
    try {
      for (const watcher of watchers) expect(await watcher.watch("inbox:all")).toEqual(["inbox:all"]);
      server.touch("alice", "inbox:all");
      expect(await hers?.nth(1)).toBe("inbox:all");
      await b.client.logins.logout("notes");
      server.touch("bob", "inbox:all");
      server.touch("alice", "inbox:all");
      expect(await hers?.nth(2)).toBe("inbox:all");
      expect(his?.heard).toEqual([]);
      // After the next login there is one update for what may have been missed.
      await logIn(b);
      expect(await his?.nth(1)).toBe("inbox:all");
      server.touch("bob", "inbox:all");
      expect(await his?.nth(2)).toBe("inbox:all");
      expect(hers?.heard).toHaveLength(2);
    } finally {
      for (const watcher of watchers) await watcher.close();
    }
  });

  it("A14 a link of one person is refused to another, which is recorded, and their attempt goes on", async () => {
    const [a, b] = both();
    await b.client.logins.logout("notes");
    const link = new URL((await call(b))._meta["io.plugboard/error"].login_url).searchParams.get("for") ?? "";
    const { id } = await begin(b);
    await expect(a.client.logins.begin("notes", { link })).rejects.toMatchObject({ kind: "Forbidden" });
    expect(await b.client.logins.getAttempt(id)).toMatchObject({ state: "pending" });
    const { rows } = await owner.audit.search({ what: "auth.refused" });
    expect(rows).toContainEqual(expect.objectContaining({ principal: a.principal, object: "notes" }));
    expect(await b.client.logins.begin("notes", { link })).toMatchObject({ principal: b.principal, state: "pending" });
    const page = await new Browser().open(`${hub.url}/connect/notes?for=${link}`, isCallback);
    expect(new URL(page.url).pathname).toBe("/ui/connections");
  });

  it("A12 nobody is made to log in for another person: a browser cannot finish the attempt of a program", async () => {
    const [, b] = both();
    issuer.settings.account = "victim";
    const { id, url } = await begin(b);
    const page = await new Browser().open(url);
    expect(page.status).toBe(403);
    expect(await b.client.logins.getAttempt(id)).toMatchObject({ state: "pending" });
    expect(await call(b)).toMatchObject({ isError: true });
  });

  it("A21 people see and end their own logins, and the owner all of them", async () => {
    const [a, b] = both();
    await logIn(b);
    const whose = async ({ logins }: HubClient) =>
      (await logins.list()).flatMap(({ state, principal }) => (state === "connected" ? [principal] : []));
    expect(await whose(a.client)).toEqual([a.principal]);
    expect(await whose(owner)).toEqual([a.principal, b.principal]);
    expect((await owner.servers.get("notes")).logins).toMatchObject([
      { principal: "local", state: "needs_login" },
      { principal: a.principal },
      { principal: b.principal },
    ]);
    await expect(a.client.logins.begin("notes", { as: b.principal })).rejects.toMatchObject({ kind: "Forbidden" });
    await expect(a.client.logins.logout("notes", { as: b.principal })).rejects.toMatchObject({ kind: "Forbidden" });
    await expect(a.client.connections.get({ for: b.principal })).rejects.toMatchObject({ kind: "Forbidden" });
    const authorization = `Bearer ${await tokenOf(hub.home)}`;
    const metrics = await http(`${hub.url}/metrics`, { method: "GET", headers: { authorization } });
    expect(metrics.body).toContain(`hub_login_state{server="notes",principal="${b.principal}"} 1`);
    const listed = await plugboard(hub.home, ["auth"]);
    expect(listed.stdout).toMatch(/SERVER +WHOSE +STATE +ACCOUNT/);
    expect(listed.stdout).toMatch(/notes +service:alice +connected/);
    await plugboard(hub.home, ["auth", "logout", "notes", "--as", b.principal]);
    expect(await whose(owner)).toEqual([a.principal]);
    expect(await call(b)).toMatchObject({ isError: true });
    expect(accountOf(await call(a))).toBe("alice");
  });

  it("A21 a login that all callers share is not for single people to end", async () => {
    const [a] = both();
    await owner.servers.create({ name: "shared", enabled: true, url: server.url });
    await expect(a.client.logins.logout("shared")).rejects.toMatchObject({ kind: "Forbidden" });
    await expect(owner.logins.begin("shared", { as: a.principal })).rejects.toMatchObject({ kind: "InvalidArgument" });
    await owner.servers.delete("shared");
  });

  it("A02 no credential of the caller reaches the server", async () => {
    const [a] = both();
    const smuggled = { cookie: "pb_session=x", "x-api-key": "key", dpop: "proof", "proxy-authorization": "Basic x" };
    const before = server.received.length;
    await call({ ...a, headers: { ...a.headers, ...smuggled } });
    const sent = JSON.stringify(server.received.slice(before).map(({ headers }) => headers));
    expect(server.received.length).toBeGreaterThan(before);
    for (const secret of [a.headers["authorization"] ?? "", ...Object.values(smuggled)])
      expect(sent).not.toContain(secret);
  });
});

// The last one: it leaves logins open.
it("AU-7 A28 a person begins only so many logins in a minute; the owner and others are not limited by that", async () => {
  const carla = await person("carla");
  let begun = 0;
  const beginAll = async () => {
    for (; begun < 10 * LOGINS_PER_MINUTE; begun++) await begin(carla);
  };
  await expect(beginAll()).rejects.toMatchObject({ kind: "RateLimited" });
  expect(begun).toBeGreaterThanOrEqual(LOGINS_PER_MINUTE);
  const [a] = both();
  for (const { client } of [{ client: owner }, a]) await client.logins.cancel((await begin({ client })).id);
});
