// Sign-in of browsers and their sessions, over real HTTP against the built hub: who gets in, and what a session opens.

import { once } from "node:events";
import { rm } from "node:fs/promises";
import { createServer, request as httpRequest } from "node:http";
import { join } from "node:path";
import { afterAll, beforeAll, describe, expect, it, onTestFinished } from "vitest";
import { ask, makeKey, pageHeaders, signIn, tokenOf, type SignedIn } from "../support/browser-session.ts";
import { clientOf } from "../support/client.ts";
import { filesWith } from "../support/files.ts";
import { fixture, makeHome, startHub, type RunningHub } from "../support/hub.ts";
import { processesWithMark } from "../support/processes.ts";
import { answerOf, http, post } from "../support/rpc.ts";
import { listen } from "../support/sockets.ts";
import { openStream } from "../support/streams.ts";

let hub: RunningHub;
let browser: SignedIn;

beforeAll(async () => {
  hub = await startHub(await makeHome({ it: fixture("echo"), other: fixture("echo") }));
  browser = await signIn(hub);
});

afterAll(async () => {
  await hub?.stop();
  expect(processesWithMark(hub.home.mark)).toEqual([]);
  await hub?.home.remove();
});

const port = () => new URL(hub.url).port;
const without = (headers: Readonly<Record<string, string>>, ...names: string[]) =>
  Object.fromEntries(Object.entries(headers).filter(([name]) => !names.includes(name)));

/** A hub of its own, for tests that change or restart it. */
async function ownHub(...args: string[]): Promise<RunningHub> {
  const home = await makeHome({});
  const own = await startHub(home, { args });
  onTestFinished(async () => {
    await own.stop();
    await home.remove();
  });
  return own;
}

describe("a link", () => {
  it("is made with the management token, names the hub's address, and ends after ten minutes", async () => {
    const before = Date.now();
    const answer = await ask(hub, "POST /ui/keys", { authorization: `Bearer ${await tokenOf(hub)}` });
    expect(answer.status).toBe(201);
    const { url, expires_at } = JSON.parse(answer.body);
    expect(url).toMatch(new RegExp(`^${hub.url}/ui/#k=[\\w-]{43}$`));
    expect(Date.parse(expires_at) - before).toBeGreaterThanOrEqual(600_000);
    expect(Date.parse(expires_at) - before).toBeLessThan(660_000);
  });

  it("signs in once", async () => {
    const key = await makeKey(hub);
    expect((await ask(hub, "POST /ui/session", pageHeaders(hub), { key })).status).toBe(200);
    const again = await ask(hub, "POST /ui/session", pageHeaders(hub), { key });
    expect([again.status, JSON.parse(again.body)]).toMatchObject([
      401,
      { kind: "Unauthenticated", message: "This link was used before, or is older than ten minutes" },
    ]);
    expect(again.headers["set-cookie"]).toBeUndefined();
  });

  it("of a hub does not sign in to the hub on another port", async () => {
    const other = await ownHub();
    const key = await makeKey(other);
    expect((await ask(hub, "POST /ui/session", pageHeaders(hub), { key })).status).toBe(401);
    expect((await ask(other, "POST /ui/session", pageHeaders(other), { key })).status).toBe(200);
  });

  it("T03 works for the hub's own pages only", async () => {
    const key = await makeKey(hub);
    for (const headers of [
      {},
      without(pageHeaders(hub), "origin"),
      { ...pageHeaders(hub), origin: "http://evil.example" },
      { ...pageHeaders(hub), origin: "http://127.0.0.1:1" },
      { ...pageHeaders(hub), "sec-fetch-site": "same-site" },
      { ...pageHeaders(hub), "sec-fetch-site": "none" },
      { ...pageHeaders(hub), host: `evil.example:${port()}` },
    ])
      expect([headers, (await ask(hub, "POST /ui/session", headers, { key })).status]).toEqual([headers, 403]);
    const form = { ...pageHeaders(hub), "content-type": "application/x-www-form-urlencoded" };
    expect((await http(`${hub.url}/api/v1/ui/session`, { headers: form, body: `key=${key}` })).status).toBe(415);
    expect((await ask(hub, "POST /ui/session", pageHeaders(hub), { key })).status).toBe(200);
  });

  it("T05 wrong keys count as wrong tokens; a right one is accepted all the same", async () => {
    const own = await ownHub();
    const key = await makeKey(own);
    const wrong = async () => (await ask(own, "POST /ui/session", pageHeaders(own), { key: "x" })).status;
    const statuses = [];
    for (let times = 0; times < 11; times++) statuses.push(await wrong());
    expect(statuses).toEqual([...Array<number>(10).fill(401), 429]);
    expect((await ask(own, "GET /status", { authorization: "Bearer wrong" })).status).toBe(429);
    expect((await ask(own, "POST /ui/session", pageHeaders(own), { key })).status).toBe(200);
  });
});

describe("a session", () => {
  it("is a cookie that no script can read and no other site gets, and a key for the page", () => {
    const [pair = "", ...attributes] = browser.setCookie.split("; ");
    expect(pair).toMatch(new RegExp(`^pb_session_${port()}=[\\w-]{43}$`));
    expect(attributes).toEqual(["HttpOnly", "SameSite=Strict", "Path=/api", "Max-Age=2592000"]);
    expect(browser.headers["x-plugboard-key"]).toMatch(/^[\w-]{43}$/);
    const days = (Date.parse(browser.expiresAt) - Date.now()) / 86_400_000;
    expect(days).toBeGreaterThan(29.9);
    expect(days).toBeLessThanOrEqual(30);
  });

  it("opens the API, with the client `ui` in the call log whatever the request says", async () => {
    expect((await ask(hub, "GET /status", browser.headers)).status).toBe(200);
    const headers = { ...browser.headers, "plugboard-client": "another" };
    const body = { arguments: { text: "from the browser" } };
    expect((await ask(hub, "POST /servers/it/tools/echo/call", headers, body)).status).toBe(200);
    const { items } = JSON.parse((await ask(hub, "GET /calls?client=ui&tool=echo", browser.headers)).body);
    expect(items).toMatchObject([{ server_name: "it", tool_name: "echo" }]);
  });

  it("T04 one half alone is none", async () => {
    const { headers } = browser;
    for (const wrong of [
      without(headers, "x-plugboard-key"),
      without(headers, "cookie"),
      { ...headers, "x-plugboard-key": `${headers["x-plugboard-key"].slice(0, -1)}_` },
      { ...headers, cookie: headers.cookie.replace("pb_session_", "pb_session_1") },
      { ...headers, "x-plugboard-key": headers.cookie.split("=")[1] ?? "" },
    ]) {
      const answer = await ask(hub, "GET /status", wrong);
      expect([answer.status, JSON.parse(answer.body).kind]).toEqual([401, "Unauthenticated"]);
    }
    const another = await signIn(hub);
    const mixed = { ...headers, "x-plugboard-key": another.headers["x-plugboard-key"] };
    expect((await ask(hub, "GET /status", mixed)).status).toBe(401);
  });

  it("T05 wrong halves count as wrong tokens; the right ones are accepted all the same", async () => {
    const own = await ownHub();
    const { headers } = await signIn(own);
    const statuses = [];
    for (let times = 0; times < 11; times++)
      statuses.push((await ask(own, "GET /status", { ...headers, "x-plugboard-key": "x" })).status);
    expect(statuses).toEqual([...Array<number>(10).fill(401), 429]);
    expect((await ask(own, "GET /status", headers)).status).toBe(200);
  });

  it("another cookie of the same name, set by another program of the host, does not sign it out", async () => {
    const headers = { ...browser.headers, cookie: `pb_session_${port()}=planted; ${browser.headers.cookie}; x=y` };
    expect((await ask(hub, "GET /status", headers)).status).toBe(200);
  });

  it.each(["POST", "PUT", "PATCH", "DELETE"])("T03 %s needs an Origin", async (method) => {
    const headers = without(browser.headers, "origin");
    const { status } = await ask(hub, `${method} /servers/it`, headers, method === "DELETE" ? undefined : {});
    expect(status).toBe(403);
    expect((await ask(hub, "GET /servers/it", headers)).status).toBe(200);
  });

  it("T01 T02 T03 a request of another page or host is refused", async () => {
    for (const more of [
      { "sec-fetch-site": "same-site" },
      { "sec-fetch-site": "cross-site" },
      { "sec-fetch-site": "none" },
      { origin: "http://127.0.0.1:1" },
      { origin: "null" },
      { host: `evil.example:${port()}` },
    ]) {
      const headers = { ...browser.headers, ...more };
      expect([more, (await ask(hub, "POST /servers/it/stop", headers)).status]).toEqual([more, 403]);
    }
    const { status } = JSON.parse((await ask(hub, "GET /servers/it", browser.headers)).body);
    expect(status).toBe("running");
  });

  it("T03 what a program on another port gets of it cannot be used", async () => {
    // A browser sends the cookie of a host to every port of it.
    const received: string[] = [];
    const program = createServer((request, response) => {
      received.push(request.headers.cookie ?? "");
      response.end();
    });
    onTestFinished(() => void program.close());
    const at = `http://127.0.0.1:${await listen(program)}`;
    await http(at, { method: "GET", headers: { cookie: browser.headers.cookie } });
    const [cookie = ""] = received;
    expect(cookie).toBe(browser.headers.cookie);
    // The program itself, and a page of it in the browser: a request without CORS, with and without the header.
    for (const headers of [
      { cookie },
      { cookie, origin: hub.url },
      { cookie, "sec-fetch-site": "same-site", "sec-fetch-mode": "no-cors" },
      { cookie, "sec-fetch-site": "same-site", origin: at, "x-plugboard-key": "guess" },
    ]) {
      for (const route of ["GET /secrets", "POST /servers/it/stop"])
        expect([401, 403]).toContain((await ask(hub, route, headers)).status);
    }
  });

  it("T06 makes no links, and opens nothing outside of /api", async () => {
    const refused = await ask(hub, "POST /ui/keys", browser.headers);
    expect([refused.status, JSON.parse(refused.body).code]).toEqual([403, "FORBIDDEN"]);
    const hello = { jsonrpc: "2.0", id: 1, method: "initialize", params: {} };
    expect((await post(`${hub.url}/mcp/@admin`, hello, browser.headers)).status).toBe(401);
    expect((await http(`${hub.url}/metrics`, { method: "GET", headers: browser.headers })).status).toBe(401);
  });

  it("MG-4 says which event came last, so that no later change is missed", async () => {
    const own = await ownHub();
    const { headers } = await signIn(own);
    const { last_event_id } = JSON.parse((await ask(own, "GET /ui/session", headers)).body);
    await (await clientOf(own)).groups.create("late", { servers: [] });
    const stream = await openStream(`${own.url}/api/v1/events?topics=config`, {
      headers: { ...headers, "last-event-id": last_event_id },
    });
    onTestFinished(() => stream.close());
    const missed = await stream.messages.find((message) => JSON.stringify(message).includes("late"));
    expect(missed).toBeDefined();
  });

  it("can be seen, listed and ended", async () => {
    const own = await ownHub();
    const [one, two] = [await signIn(own, { "user-agent": "One" }), await signIn(own, { "user-agent": "Two" })];
    const seen = JSON.parse((await ask(own, "GET /ui/session", one.headers)).body);
    const id = expect.stringMatching(/^\d+$/);
    expect(seen).toEqual({
      created_at: expect.any(String),
      expires_at: one.expiresAt,
      user_agent: "One",
      role: "admin",
      last_event_id: id,
    });
    const listed = JSON.parse((await ask(own, "GET /ui/sessions", two.headers)).body);
    expect(listed).toMatchObject([
      { user_agent: "One", current: false },
      { user_agent: "Two", current: true, last_seen_at: expect.any(String) },
    ]);
    const out = await ask(own, "DELETE /ui/session", one.headers);
    expect(out.status).toBe(200);
    expect(out.headers["set-cookie"]?.[0]).toMatch(/^pb_session_\d+=; .*Max-Age=0$/);
    expect((await ask(own, "GET /status", one.headers)).status).toBe(401);
    expect((await ask(own, "GET /status", two.headers)).status).toBe(200);
    const token = { authorization: `Bearer ${await tokenOf(own)}` };
    expect((await ask(own, "GET /ui/session", token)).status).toBe(400);
    expect((await ask(own, "DELETE /ui/sessions", token)).status).toBe(204);
    expect((await ask(own, "GET /status", two.headers)).status).toBe(401);
  });

  it("ends with its open streams", async () => {
    const own = await ownHub();
    const { headers } = await signIn(own);
    const outgoing = httpRequest(`${own.url}/api/v1/events`, { headers });
    const [events] = await once(outgoing.end(), "response");
    expect(events.statusCode).toBe(200);
    const closed = new Promise((resolve) =>
      events
        .on("error", () => undefined)
        .on("close", resolve)
        .resume(),
    );
    await ask(own, "DELETE /ui/session", headers);
    await closed;
  });

  it("is replaced at the next sign-in of the same browser", async () => {
    const own = await ownHub();
    const one = await signIn(own);
    const two = await signIn(own, { cookie: one.headers.cookie });
    expect(two.headers.cookie).not.toBe(one.headers.cookie);
    expect((await ask(own, "GET /status", one.headers)).status).toBe(401);
    expect(JSON.parse((await ask(own, "GET /ui/sessions", two.headers)).body)).toHaveLength(1);
  });

  it("is under the prefix of a proxy, if the proxy names it", async () => {
    const { setCookie } = await signIn(hub, { "x-forwarded-prefix": "/x/y" });
    expect(setCookie).toContain("; Path=/x/y/api; ");
    const planted = await signIn(hub, { "x-forwarded-prefix": "/x; Domain=evil.example" });
    expect(planted.setCookie).toContain("; Path=/api; ");
  });
});

describe("a restart of the hub", () => {
  it("signs no one out, also after a kill; a new management token does", async () => {
    const home = await makeHome({});
    onTestFinished(() => home.remove());
    const first = await startHub(home);
    const args = ["--port", new URL(first.url).port];
    const { headers } = await signIn(first);
    await first.kill();
    const second = await startHub(home, { args });
    expect((await ask(second, "GET /status", headers)).status).toBe(200);
    await second.stop();
    await rm(join(home.dir, "data", "token"));
    const third = await startHub(home, { args });
    onTestFinished(async () => void (await third.stop()));
    expect((await ask(third, "GET /status", headers)).status).toBe(401);
  });

  it("T05 no file has a key, a cookie or a page key", async () => {
    const key = await makeKey(hub);
    const secrets = [key, browser.headers["x-plugboard-key"], browser.headers.cookie.split("=")[1] ?? ""];
    expect(await filesWith(hub.home.dir, ...secrets)).toEqual([]);
  });
});

describe("MCP under /api", () => {
  const hello = {
    jsonrpc: "2.0",
    id: 1,
    method: "initialize",
    params: { protocolVersion: "2025-11-25", capabilities: {}, clientInfo: { name: "other", version: "1" } },
  };

  /** A session at an endpoint, with the credentials of the browser or others. */
  async function open(path: string, credentials: Readonly<Record<string, string>> = browser.headers) {
    const url = `${hub.url}/api/v1${path}`;
    const answer = await post(url, hello, credentials);
    const headers = { ...credentials, "mcp-session-id": String(answer.headers["mcp-session-id"]) };
    const request = async (method: string, params: unknown = {}) =>
      answerOf((await post(url, { jsonrpc: "2.0", id: 2, method, params }, headers)).body);
    return { status: answer.status, headers, request };
  }

  it("one server has its own names, a group those of its clients", async () => {
    const names = async (path: string) => {
      const { request } = await open(path);
      return (await request("tools/list")).result.tools.map(({ name }: { name: string }) => name);
    };
    expect(await names("/servers/it/mcp")).toContain("echo");
    expect(await names("/groups/default/mcp")).toEqual(expect.arrayContaining(["it__echo", "other__echo"]));
  });

  it("the management token opens them too; calls of a browser have the client `ui`", async () => {
    for (const credentials of [browser.headers, { authorization: `Bearer ${await tokenOf(hub)}` }]) {
      const { request } = await open("/servers/other/mcp", credentials);
      const { result } = await request("tools/call", { name: "echo", arguments: { text: "hi" } });
      expect(result.content).toMatchObject([{ text: "hi" }]);
    }
    const { items } = JSON.parse((await ask(hub, "GET /calls?server=other", browser.headers)).body);
    expect(items).toMatchObject([
      { tool_name: "echo", client: "other", group_name: "@api" },
      { tool_name: "echo", client: "ui", group_name: "@api" },
    ]);
  });

  it("T04 T06 they need credentials, and their sessions are not those of /mcp", async () => {
    for (const path of ["/servers/it/mcp", "/groups/default/mcp"])
      for (const method of ["POST", "GET", "DELETE"])
        expect((await http(`${hub.url}/api/v1${path}`, { method })).status).toBe(401);
    const { headers } = await open("/groups/default/mcp");
    const ping = { jsonrpc: "2.0", id: 3, method: "ping" };
    const session = { "mcp-session-id": headers["mcp-session-id"] };
    expect((await post(`${hub.url}/mcp`, ping, session)).status).toBe(404);
    expect((await post(`${hub.url}/api/v1/servers/it/mcp`, ping, headers)).status).toBe(404);
  });

  it("an unknown server or group is a problem", async () => {
    for (const [path, kind] of [
      ["/servers/ot/mcp", "ServerNotFound"],
      ["/groups/defalt/mcp", "GroupNotFound"],
    ]) {
      const answer = await post(`${hub.url}/api/v1${path}`, hello, browser.headers);
      expect([answer.status, JSON.parse(answer.body)]).toMatchObject([404, { kind }]);
    }
  });
});

describe("--no-ui", () => {
  it("has no pages and no sessions", async () => {
    const own = await ownHub("--no-ui");
    const authorization = `Bearer ${await tokenOf(own)}`;
    for (const route of ["POST /ui/keys", "GET /ui/session", "GET /ui/sessions", "DELETE /ui/sessions"])
      expect([route, (await ask(own, route, { authorization })).status]).toEqual([route, 404]);
    expect((await ask(own, "POST /ui/session", pageHeaders(own), { key: "x" })).status).toBe(401);
    expect((await http(`${own.url}/ui/`, { method: "GET" })).status).toBe(404);
    const home = await http(own.url, { method: "GET", headers: { accept: "text/html" } });
    expect([home.status, home.body.includes("started without its web interface")]).toEqual([200, true]);
    expect(own.stdout()).not.toContain("/ui/");
    expect(JSON.parse((await ask(own, "GET /openapi.json", { authorization })).body).paths).not.toHaveProperty([
      "/api/v1/ui/session",
    ]);
  });
});
