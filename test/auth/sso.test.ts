// Sign-in of people by an identity provider, over real HTTP against the built hub and a real provider: who gets in, as whom, and how
// it fails for others.

import { once } from "node:events";
import { request } from "node:http";
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { ask, makeKey, pageHeaders } from "../support/browser-session.ts";
import { fixture } from "../support/hub.ts";
import { Browser } from "../support/oauth/browser.ts";
import {
  approve,
  begin,
  comeBack,
  enter,
  keyIn,
  PROVIDER,
  SIGN_INS_PER_MINUTE,
  signInAs,
  startSsoHub,
  withUsers,
  type SsoHub,
} from "../support/oauth/sso-hub.ts";
import { http, post } from "../support/rpc.ts";

let sso: SsoHub;

beforeAll(async () => {
  sso = await startSsoHub({
    servers: { it: fixture("echo") },
    groups: { open: { servers: ["it"] }, closed: { servers: ["it"], access: ["team:eng"] } },
    auth: { admins: ["root@example.com"] },
    sso: { roles: { claim: "groups", map: { ops: "operator" } }, required_claims: { email_verified: true } },
  });
  sso.provider.settings.claims = { email_verified: true, name: "Alice" };
});

afterAll(() => sso?.close());

const statusOf = async (route: string, headers: Readonly<Record<string, string>>) =>
  (await ask(sso.hub, route, headers)).status;

/** Resolves when the stream of events is open, with the end of it. */
async function openEvents(headers: Readonly<Record<string, string>>): Promise<{ readonly ended: Promise<unknown> }> {
  const outgoing = request(`${sso.hub.url}/api/v1/events`, { headers, agent: false });
  outgoing.end();
  const [response] = await once(outgoing, "response");
  expect(response.statusCode).toBe(200);
  response.resume();
  return { ended: new Promise((resolve) => response.on("error", () => undefined).once("close", resolve)) };
}

describe("AU-5 sign-in by an identity provider", () => {
  it("is offered to everyone, by its name alone", async () => {
    const { status, body } = await ask(sso.hub, "GET /ui/providers", {});
    expect([status, JSON.parse(body)]).toEqual([200, [{ name: PROVIDER }]]);
  });

  it("makes a user, who has the least role", async () => {
    const { answer, headers, setCookie } = await signInAs(sso, "alice");
    expect(answer).toMatchObject({ user: "alice@example.com", role: "user" });
    expect(setCookie).toMatch(/^pb_session_\d+=[\w-]{43}; HttpOnly; SameSite=Strict; Path=\/api; Max-Age=604800$/);
    const { body } = await ask(sso.hub, "GET /ui/session", headers);
    expect(JSON.parse(body)).toMatchObject({ user: "alice@example.com", role: "user" });
    expect(await statusOf("GET /servers", headers)).toBe(403);
    expect(await statusOf("POST /servers/it/stop", headers)).toBe(403);
  });

  it("opens to a user the groups whose access list says so, and no server", async () => {
    const { headers } = await signInAs(sso, "alice");
    const hello = { jsonrpc: "2.0", id: 1, method: "initialize", params: { protocolVersion: "2025-11-25" } };
    const statuses = await Promise.all(
      ["groups/open", "groups/closed", "groups/nowhere", "servers/it"].map(
        async (path) => (await post(`${sso.hub.url}/api/v1/${path}/mcp`, hello, headers)).status,
      ),
    );
    expect(statuses).toEqual([200, 404, 404, 403]);
    // A session is for the web interface only.
    const { cookie = "" } = headers;
    expect((await http(`${sso.hub.url}/api/v1/status`, { method: "GET", headers: { cookie } })).status).toBe(401);
  });

  it("gives the role that the provider says, and what auth.admins says before it", async () => {
    sso.provider.settings.claims = { email_verified: true, groups: ["staff", "ops"] };
    const operator = await signInAs(sso, "olga");
    expect(operator.answer).toMatchObject({ role: "operator" });
    expect(await statusOf("GET /servers", operator.headers)).toBe(200);
    expect(await statusOf("GET /secrets", operator.headers)).toBe(403);
    const admin = await signInAs(sso, "root");
    expect(admin.answer).toMatchObject({ role: "admin" });
    expect(await statusOf("GET /secrets", admin.headers)).toBe(200);
    // A session makes no links: they would outlive it.
    expect(await statusOf("POST /ui/keys", admin.headers)).toBe(403);
  });

  it("refuses a person without the claims that are required, and makes no user", async () => {
    sso.provider.settings.claims = { email_verified: false };
    sso.provider.settings.account = "mallory";
    const begun = await begin(sso.hub);
    const back = await comeBack(await approve(begun), begun.cookie);
    expect(back.status).toBe(403);
    expect(back.headers["location"]).toBeUndefined();
    expect(back.body).toContain("may not use this hub");
    sso.provider.settings.claims = { email_verified: true };
  });

  it("says why the provider refused, and works the next time", async () => {
    sso.provider.settings.decision = "deny";
    const begun = await begin(sso.hub);
    const back = await comeBack(await approve(begun), begun.cookie);
    expect([back.status, back.body.includes("The login was declined")]).toEqual([409, true]);
    sso.provider.settings.decision = "accept";
    expect((await signInAs(sso, "alice")).answer).toMatchObject({ user: "alice@example.com" });
  });

  it("comes back to the page that was wanted", async () => {
    expect((await signInAs(sso, "alice", { returnTo: "/ui/calls?tool=echo" })).answer).toMatchObject({
      return_to: "/ui/calls?tool=echo",
    });
    expect((await signInAs(sso, "alice", { returnTo: "//evil.example" })).answer).not.toHaveProperty("return_to");
  });
});

describe("A11 A12 a sign-in belongs to the browser that began it", () => {
  it("A11 another browser cannot finish it, and the one that began still can, once", async () => {
    const begun = await begin(sso.hub);
    const callback = await approve(begun);
    for (const cookie of ["", (await begin(sso.hub)).cookie]) {
      const { status, headers } = await comeBack(callback, cookie);
      expect([status, headers["location"]]).toEqual([403, undefined]);
    }
    const back = await comeBack(callback, begun.cookie);
    expect(back.status).toBe(303);
    expect(back.headers["location"]).toMatch(/^\.\.\/ui\/#k=[\w-]{43}$/);
    expect((await comeBack(callback, begun.cookie)).status).toBe(404);
    const exchanged = sso.provider.front.passed.filter(({ endpoint, form }) => {
      const code = new URL(callback).searchParams.get("code");
      return endpoint === "token" && form.get("code") === code;
    });
    expect(exchanged).toHaveLength(1);
  });

  it("A12 the link of someone who has signed in signs no other browser in", async () => {
    const begun = await begin(sso.hub);
    const key = keyIn(await comeBack(await approve(begun), begun.cookie));
    const victim = await ask(sso.hub, "POST /ui/session", pageHeaders(sso.hub), { key });
    expect(victim.status).toBe(401);
    // It is still good for its own browser, once.
    await enter(sso.hub, key, begun.cookie);
    const again = await ask(sso.hub, "POST /ui/session", { ...pageHeaders(sso.hub), cookie: begun.cookie }, { key });
    expect(again.status).toBe(401);
  });

  it("A11 a session from before the sign-in has ended after it", async () => {
    const key = await makeKey(sso.hub);
    const before = await enter(sso.hub, key, "");
    expect(await statusOf("GET /ui/session", before.headers)).toBe(200);
    const { headers } = await signInAs(sso, "alice", { before: before.headers["cookie"] ?? "" });
    expect(await statusOf("GET /ui/session", before.headers)).toBe(401);
    expect(headers["cookie"]).not.toBe(before.headers["cookie"]);
  });

  it("A12 only a page of the hub begins one", async () => {
    const { origin, ...without } = pageHeaders(sso.hub);
    const body = { provider: PROVIDER };
    expect((await ask(sso.hub, "POST /ui/sign-ins", without, body)).status).toBe(403);
    const foreign = { ...without, origin: "http://evil.example" };
    expect((await ask(sso.hub, "POST /ui/sign-ins", foreign, body)).status).toBe(403);
    const other = { origin, "sec-fetch-site": "same-site" };
    expect((await ask(sso.hub, "POST /ui/sign-ins", other, body)).status).toBe(403);
    const unknown = await ask(sso.hub, "POST /ui/sign-ins", pageHeaders(sso.hub), { provider: "other" });
    expect(unknown.status).toBe(404);
  });

  it("A13 the callback answers only to names of this machine, and changes nothing without its state", async () => {
    const begun = await begin(sso.hub);
    const callback = await approve(begun);
    const { port } = new URL(sso.hub.url);
    for (const host of ["evil.example", `evil.example:${port}`, "127.0.0.1.evil.example", "localhost.evil.example"]) {
      expect((await http(callback, { method: "GET", headers: { host, cookie: begun.cookie } })).status).toBe(403);
    }
    for (const query of ["", "?code=x", "?state=x&code=x", `?state=${"x".repeat(43)}`]) {
      expect((await comeBack(`${sso.hub.url}/login/callback${query}`, begun.cookie)).status).toBe(404);
    }
    const wrong = new URL(callback);
    wrong.searchParams.set("iss", "https://evil.example");
    expect((await http(callback, { method: "HEAD", headers: { cookie: begun.cookie } })).status).toBe(400);
    expect((await comeBack(callback, begun.cookie)).status).toBe(303);
  });
});

describe("AU-5 the end of a session", () => {
  it("comes with the user's: what is open ends at once, and the user cannot sign in again", async () => {
    sso.provider.settings.claims = { email_verified: true, groups: ["ops"] };
    const { headers } = await signInAs(sso, "dora");
    const stream = await openEvents(headers);
    await withUsers(sso, (users) => users.setDisabled("dora@example.com", true));
    await stream.ended;
    expect(await statusOf("GET /ui/session", headers)).toBe(401);
    sso.provider.settings.account = "dora";
    const begun = await begin(sso.hub);
    const back = await comeBack(await approve(begun), begun.cookie);
    expect(back.status).toBe(403);
  });

  it("comes with another role: the next session has it", async () => {
    const { headers } = await signInAs(sso, "olga");
    const stream = await openEvents(headers);
    await withUsers(sso, (users) => users.setRole("olga@example.com", "user"));
    await stream.ended;
    expect(await statusOf("GET /ui/session", headers)).toBe(401);
    expect((await signInAs(sso, "olga")).answer).toMatchObject({ role: "user" });
  });

  it("survives a restart of the hub until then", async () => {
    const { headers } = await signInAs(sso, "alice");
    await sso.restart();
    const { status, body } = await ask(sso.hub, "GET /ui/session", headers);
    expect([status, JSON.parse(body).user]).toEqual([200, "alice@example.com"]);
  });

  it("a user lists and ends only sessions of their own; an administrator, everyone's", async () => {
    const [alice, again, ben] = [
      await signInAs(sso, "alice"),
      await signInAs(sso, "alice"),
      await signInAs(sso, "ben"),
    ];
    const root = await signInAs(sso, "root");
    const listed = async (headers: Readonly<Record<string, string>>) =>
      JSON.parse((await ask(sso.hub, "GET /ui/sessions", headers)).body) as {
        id: string;
        user: string;
        current: boolean;
      }[];
    const own = await listed(alice.headers);
    expect(new Set(own.map(({ user }) => user))).toEqual(new Set(["alice@example.com"]));
    expect(new Set((await listed(root.headers)).map(({ user }) => user))).toContain("ben@example.com");
    const [current] = (await listed(ben.headers)).filter((each) => each.current);
    expect(await statusOf(`DELETE /ui/sessions/${current?.id}`, alice.headers)).toBe(404);
    expect(await statusOf("DELETE /ui/sessions", alice.headers)).toBe(204);
    expect(await statusOf("GET /ui/session", again.headers)).toBe(401);
    expect(await statusOf("GET /ui/session", ben.headers)).toBe(200);
    expect(await statusOf(`DELETE /ui/sessions/${current?.id}`, root.headers)).toBe(204);
    expect(await statusOf("GET /ui/session", ben.headers)).toBe(401);
  });

  it("comes when the person logs out at the provider", async () => {
    const at = new Browser();
    const { headers } = await signInAs(sso, "carl", { at });
    const { headers: other } = await signInAs(sso, "alice");
    const page = await at.open(`${sso.provider.issuer}/session/end`);
    await at.submit(page, { logout: "yes" });
    expect(await statusOf("GET /ui/session", headers)).toBe(401);
    expect(await statusOf("GET /ui/session", other)).toBe(200);
  });

  it.each([
    ["nothing", ""],
    ["something else", "logout_token=x"],
    ["an unsigned token", `logout_token=${["e30", "e30", ""].join(".")}`],
  ])("a back-channel message with %s ends nothing", async (_, body) => {
    const { headers } = await signInAs(sso, "alice");
    const url = `${sso.hub.url}/login/backchannel/${encodeURIComponent(PROVIDER)}`;
    const answer = await http(url, {
      method: "POST",
      headers: { "content-type": "application/x-www-form-urlencoded", "content-length": String(body.length) },
      body,
    });
    expect(answer.status).toBe(400);
    expect(await statusOf("GET /ui/session", headers)).toBe(200);
  });
});

// The last one: it leaves no sign-in for others.
it("AU-7 A28 sign-ins that are begun are limited for each address, and the answer says when they go on", async () => {
  const beginOne = () => ask(sso.hub, "POST /ui/sign-ins", pageHeaders(sso.hub), { provider: PROVIDER });
  const statuses: number[] = [];
  let answer = await beginOne();
  for (; answer.status === 201 && statuses.length <= SIGN_INS_PER_MINUTE; answer = await beginOne()) {
    statuses.push(answer.status);
  }
  expect(answer).toMatchObject({ status: 429, headers: { "retry-after": expect.stringMatching(/^[12]$/) } });
  expect(statuses.length).toBeGreaterThan(0);
});
