// The pages of a login over real sockets, with logins that do as the test says: who may open them, what they show, and where they
// send a browser.

import { createHash } from "node:crypto";
import { request as httpRequest, type IncomingHttpHeaders } from "node:http";
import { text } from "node:stream/consumers";
import { afterEach, describe, expect, it } from "vitest";
import { HubError } from "../../errors.ts";
import { Listener } from "../listener.ts";
import { LoginPages, type PageLogins } from "./login-pages.ts";
import type { LoginOffer, LoginResult } from "./login-texts.ts";

const AUTHORIZE = "https://auth.example/authorize?state=SECRET-STATE";
const OFFER: LoginOffer = {
  server: "linear",
  authorizationServer: "auth.example",
  scopes: ["read", "write"],
  redirectUri: "http://localhost:7430/oauth/callback",
};

const open: Listener[] = [];
afterEach(async () => {
  for (const listener of open.splice(0)) await listener.close();
});

interface Setting {
  readonly offer?: Partial<LoginOffer>;
  readonly result?: LoginResult;
  readonly fail?: HubError;
}

/** Pages at which one login, "login-1", waits for SECRET-STATE as soon as it has begun. `asked` is what reached the logins. */
async function start({ offer, result, fail }: Setting = {}) {
  const asked: string[] = [];
  const unexpected: unknown[] = [];
  let waiting: string | undefined;
  let allowed: Buffer | "any" | "none" = "any";
  const check = () => {
    if (fail !== undefined) throw fail;
  };
  const logins: PageLogins = {
    offer: async (server) => {
      asked.push(`offer ${server}`);
      check();
      return { ...OFFER, server, ...offer };
    },
    begin: async (server, browser) => {
      asked.push(`begin ${server}`);
      check();
      allowed = browser;
      waiting = "login-1";
      return { id: waiting, url: AUTHORIZE };
    },
    findByState: (state) =>
      state === "SECRET-STATE" && waiting !== undefined ? { id: waiting, browser: allowed } : undefined,
    elsewhere: (server, link) => (link === undefined ? undefined : `/ui/connections?server=${server}&for=${link}`),
    callback: async (url) => {
      if (url.searchParams.get("state") !== "SECRET-STATE" || waiting === undefined) return undefined;
      asked.push(`callback ${url.search}`);
      const ended = waiting;
      waiting = undefined;
      return ended;
    },
    result: () => {
      check();
      return result ?? { server: "linear", state: "completed", account: "alice@example.com", isRenewable: true };
    },
  };
  const pages = new LoginPages(logins, (error) => unexpected.push(error));
  const listener = await Listener.open({
    host: "127.0.0.1",
    port: 0,
    edges: [(request, response) => pages.edge(request, response)],
  });
  open.push(listener);
  const port = Number(new URL(listener.url).port);
  const ask = (path: string, { method = "GET", headers = {} }: Asked = {}) =>
    send(port, path, { method, headers: { host: `localhost:${port}`, ...headers } });
  /** Begins a login as our page does. Returns the cookie. */
  const begin = async () => {
    const begun = await ask("/connect/linear", { method: "POST", headers: { origin: `http://localhost:${port}` } });
    return { begun, cookie: String(begun.headers["set-cookie"]).split(";")[0] ?? "" };
  };
  /** As a command begins it: no page has seen it. */
  const beginElsewhere = (browser: "any" | "none" = "any") => {
    waiting = "login-1";
    allowed = browser;
  };
  return { port, ask, begin, beginElsewhere, asked, unexpected };
}

interface Asked {
  readonly method?: string;
  readonly headers?: Readonly<Record<string, string>>;
}

async function send(port: number, path: string, asked: Asked): Promise<Answer> {
  return new Promise((resolve, reject) => {
    const sent = httpRequest({ port, host: "127.0.0.1", path, agent: false, ...asked }, (response) => {
      const { statusCode: status = 0, headers } = response;
      text(response).then((body) => resolve({ status, headers, body }), reject);
    });
    sent.on("error", reject).end();
  });
}

interface Answer {
  readonly status: number;
  readonly headers: IncomingHttpHeaders;
  readonly body: string;
}

const CALLBACK = "/oauth/callback?code=THE-CODE&state=SECRET-STATE";

describe("A14 a link for one person", () => {
  it("leads to where that person is signed in, and begins nothing by itself", async () => {
    const { ask, asked, port } = await start();
    const { status, headers } = await ask("/connect/linear?for=abc");
    expect([status, headers.location]).toEqual([303, "/ui/connections?server=linear&for=abc"]);
    const posted = await ask("/connect/linear?for=abc", {
      method: "POST",
      headers: { origin: `http://localhost:${port}` },
    });
    expect(posted.status).toBe(405);
    expect(asked).toEqual([]);
  });

  it("A12 an attempt of a program is finished by no browser, and stays pending", async () => {
    const { ask, asked, beginElsewhere } = await start();
    beginElsewhere("none");
    expect((await ask(CALLBACK)).status).toBe(403);
    expect(asked).toEqual([]);
  });
});

describe("AU-1 the pages of a login", () => {
  it("the offer names the server, the host of the authorization server and the scopes, and begins nothing", async () => {
    const { ask, asked } = await start();
    const { status, body } = await ask("/connect/linear");
    expect(status).toBe(200);
    for (const shown of ["<h1>Connect linear</h1>", "<strong>auth.example</strong>", "<code>read</code>"]) {
      expect(body).toContain(shown);
    }
    expect(body).toContain('<form method="post">');
    expect(asked).toEqual(["offer linear"]);
  });

  it("the button leads to the authorization server, and the way back to the result", async () => {
    const { ask, begin, asked } = await start();
    const { begun, cookie } = await begin();
    expect([begun.status, begun.headers.location]).toEqual([303, AUTHORIZE]);
    const back = await ask(CALLBACK, { headers: { cookie } });
    expect([back.status, back.headers.location, back.body]).toEqual([303, "/oauth/done/login-1", ""]);
    expect(asked.slice(1)).toEqual(["callback ?code=THE-CODE&state=SECRET-STATE"]);
    const done = await ask("/oauth/done/login-1");
    expect(done.status).toBe(200);
    expect(done.body).toContain("linear is connected as alice@example.com.");
    expect(done.body).not.toContain("refresh token");
  });

  it.each<[string, LoginResult, string]>([
    ["not finished", { server: "x", state: "pending" }, "Not finished yet"],
    [
      "without a refresh token",
      { server: "x", state: "completed", isRenewable: false },
      "You will have to repeat this login",
    ],
    [
      "failed",
      { server: "x", state: "failed", error: new HubError("LoginFailed", "Refused", { detail: "access_denied" }) },
      "Refused: access_denied",
    ],
  ])("the result of a login that is %s", async (_, result, shown) => {
    const { ask } = await start({ result });
    const { status, body } = await ask("/oauth/done/login-1");
    expect(status).toBe(200);
    expect(body).toContain(shown);
  });

  it("a page at another host than that of the callback is shown at the callback's: cookies belong to a host", async () => {
    const { ask, port } = await start();
    for (const host of [`127.0.0.1:${port}`, `[::1]:${port}`]) {
      const { status, headers } = await ask("/connect/linear", { headers: { host } });
      expect([status, headers.location]).toEqual([303, `http://localhost:${port}/connect/linear`]);
    }
    const atAddress = await start({ offer: { redirectUri: "http://127.0.0.1:1/oauth/callback" } });
    const headers = { host: `127.0.0.1:${atAddress.port}` };
    expect((await atAddress.ask("/connect/linear", { headers })).status).toBe(200);
  });

  it("an error is a page with its message and what helps", async () => {
    const fail = new HubError("ClientIdRequired", "auth.example registers no clients", {
      hint: "plugboard auth x --client-id ID",
    });
    const { ask, port } = await start({ fail });
    const begun = await ask("/connect/x", { method: "POST", headers: { origin: `http://localhost:${port}` } });
    for (const { status, body } of [await ask("/connect/x"), begun]) {
      expect(status).toBe(409);
      expect(body).toContain("auth.example registers no clients");
      expect(body).toContain("<code>plugboard auth x --client-id ID</code>");
    }
  });

  it("A20 the text of an unexpected error is not shown, but logged", async () => {
    const { ask, unexpected } = await start({ fail: new Error("token=abc") as HubError });
    const { status, body } = await ask("/connect/x");
    expect(status).toBe(500);
    expect(body).not.toContain("token=abc");
    expect(unexpected).toHaveLength(1);
  });

  it.each([
    ["PUT", "/connect/x", "GET, HEAD, POST"],
    ["POST", "/oauth/callback?state=SECRET-STATE", "GET"],
    ["HEAD", "/oauth/callback?state=SECRET-STATE", "GET"],
    ["DELETE", "/oauth/done/x", "GET, HEAD"],
  ])("%s %s is not allowed, and has no effect", async (method, path, allow) => {
    const { ask, asked, beginElsewhere } = await start();
    beginElsewhere();
    const { status, headers } = await ask(path, { method });
    expect([status, headers.allow]).toEqual([405, allow]);
    expect(asked).toEqual([]);
  });

  it.each(["/connect", "/connect/", "/connect/a/b", "/oauth", "/oauth/callback/", "/oauth/done/", "/oauth/done/a/b"])(
    "%s is not one of them",
    async (path) => {
      const { ask, asked } = await start();
      expect((await ask(path)).status).toBe(404);
      expect(asked).toEqual([]);
    },
  );
});

describe("what no page may do", () => {
  it.each(["/connect/linear", "/oauth/callback?state=x", "/oauth/done/login-1"])(
    "%s is neither cached nor framed, runs no script and sends no referrer to others",
    async (path) => {
      const { ask } = await start();
      const { headers, body } = await ask(path);
      const style = /<style>([^]*)<\/style>/.exec(body)?.[1] ?? "";
      const hash = createHash("sha256").update(style).digest("base64");
      const policy = String(headers["content-security-policy"]);
      expect(policy).toBe(`default-src 'none'; style-src 'sha256-${hash}'; frame-ancestors 'none'; base-uri 'none'`);
      expect(headers["cache-control"]).toBe("no-store");
      expect(headers["referrer-policy"]).toMatch(/^(?:no-referrer|same-origin)$/);
      expect(headers["x-frame-options"]).toBe("DENY");
    },
  );

  it("T22 text of others is shown as text", async () => {
    const evil = `<script>alert("1")</script>'"&\`\u202e`;
    const scopes = [evil];
    const { ask } = await start({ offer: { server: evil, scopes, authorizationServer: evil, account: evil } });
    const { body } = await ask("/connect/x");
    expect(body).not.toContain("<script");
    expect(body).not.toContain("\u202e");
    expect(body).toContain("&#60;script&#62;alert(&#34;1&#34;)&#60;/script&#62;&#39;&#34;&#38;&#96;\\u202e");
    const error = new HubError("LoginFailed", evil, { detail: evil, hint: evil });
    const failed = await start({ result: { server: evil, state: "failed", error } });
    const shown = (await failed.ask("/oauth/done/x")).body;
    expect(shown).not.toContain("<script");
    expect(shown).toContain(`href="/connect/${encodeURIComponent(evil).replaceAll("'", "&#39;")}"`);
  });

  it.each(["?state=x", "?state=", "", "?code=<b>&state=<b>", "?error=<b>&error_description=<b>", "?state=x&state=y"])(
    "A04 A12 the callback %s is not known, and nothing of it is shown",
    async (query) => {
      const { ask, asked, beginElsewhere } = await start();
      beginElsewhere();
      const { status, body } = await ask(`/oauth/callback${query}`);
      expect(status).toBe(400);
      expect(body).toContain("This login is not known any more");
      expect(body).not.toMatch(/<b>|&#60;b/);
      expect(asked).toEqual([]);
    },
  );

  it("A04 a callback counts once", async () => {
    const { ask, beginElsewhere } = await start();
    beginElsewhere();
    expect((await ask(CALLBACK)).status).toBe(303);
    expect((await ask(CALLBACK)).status).toBe(400);
  });

  it("A11 a login that began in one browser is not finished in another, and stays open for the first", async () => {
    const { ask, begin, asked } = await start();
    const { cookie } = await begin();
    const [name = ""] = cookie.split("=");
    for (const headers of [{}, { cookie: `${name}=guess` }, { cookie: "other=1" }]) {
      const { status, body } = await ask(CALLBACK, { headers });
      expect(status).toBe(403);
      expect(body).toContain("another browser");
    }
    expect(asked).toEqual(["begin linear"]);
    expect((await ask(CALLBACK, { headers: { cookie: `other=1; ${cookie}` } })).status).toBe(303);
  });

  it("A11 the cookie is new for each login, for the callback alone, and out of reach of scripts", async () => {
    const { begin } = await start();
    const [first, second] = [await begin(), await begin()];
    expect(first.cookie).not.toBe(second.cookie);
    expect(String(first.begun.headers["set-cookie"])).toMatch(
      /^plugboard_login_login-1=[\w-]{43}; Path=\/oauth\/callback; Max-Age=600; HttpOnly; SameSite=Lax$/,
    );
  });

  it.each<[string, Record<string, string>]>([
    ["no origin", {}],
    ["another origin", { origin: "https://evil.example" }],
    ["no origin that has a name", { origin: "null" }],
    ["another port of this host", { origin: "http://localhost:1" }],
    ["another site, as the browser says", { "sec-fetch-site": "cross-site" }],
  ])("A12 T03 a POST with %s begins nothing", async (_, headers) => {
    const { ask, asked } = await start();
    const fetched = { "sec-fetch-mode": "navigate", "sec-fetch-dest": "document" };
    expect((await ask("/connect/linear", { method: "POST", headers: { ...fetched, ...headers } })).status).toBe(403);
    expect(asked).toEqual([]);
  });

  it.each([
    "evil.example",
    "evil.example:7430",
    "localhost.evil.example",
    "127.0.0.1.nip.io",
    "localhost@evil",
    "0.0.0.0",
  ])("A13 with the Host %s nothing is answered", async (host) => {
    const { ask, asked, beginElsewhere } = await start();
    beginElsewhere();
    for (const path of ["/connect/linear", CALLBACK, "/oauth/done/login-1"]) {
      expect((await ask(path, { headers: { host } })).status).toBe(403);
    }
    expect(asked).toEqual([]);
  });

  it.each(["/connect/linear", "/oauth/callback?state=x", "/oauth/done/login-1"])(
    "A13 T22 %s can be linked to from other sites, but not embedded or fetched",
    async (path) => {
      const { ask } = await start();
      const from = (mode: string, dest: string) => ({
        headers: { "sec-fetch-site": "cross-site", "sec-fetch-mode": mode, "sec-fetch-dest": dest },
      });
      expect([200, 400]).toContain((await ask(path, from("navigate", "document"))).status);
      for (const [mode, dest] of [
        ["navigate", "iframe"],
        ["no-cors", "image"],
        ["cors", "empty"],
        ["no-cors", "script"],
      ] as const) {
        expect((await ask(path, from(mode, dest))).status).toBe(403);
      }
    },
  );
});

describe("A06 no address makes the hub redirect elsewhere", () => {
  const TARGETS = [
    "//evil.example",
    "/\\evil.example",
    "\\\\evil.example",
    "https:evil.example",
    "https://evil.example",
    "https://localhost@evil.example",
    "https://localhost.evil.example",
    "https://127.0.0.1.evil.example",
    "http://localhost:80@evil.example",
    "/%2f%2fevil.example",
    "%2f%2fevil.example",
    "/..//evil.example",
    "javascript:alert(1)",
    "data:text/html,x",
    "\thttps://evil.example",
  ];
  const PARAMETERS = ["return_to", "redirect_uri", "next", "url"];
  const VARIANTS = TARGETS.flatMap((target) => PARAMETERS.map((name) => `${name}=${encodeURIComponent(target)}`));

  it("has 60 variants", () => expect(VARIANTS).toHaveLength(60));

  it.each(VARIANTS)("%s", async (parameter) => {
    const { ask, begin } = await start();
    const { cookie } = await begin();
    const answers = [
      await ask(`/connect/linear?${parameter}`),
      await ask(`/connect/linear?${parameter}`, { headers: { host: "127.0.0.1" } }),
      await ask(`${CALLBACK}&${parameter}`, { headers: { cookie } }),
      await ask(`/oauth/done/login-1?${parameter}`),
    ];
    const locations = answers.map(({ headers }) => headers.location);
    expect(locations).toEqual([undefined, "http://localhost/connect/linear", "/oauth/done/login-1", undefined]);
  });

  it.each([
    "//evil.example",
    "%2f%2fevil.example",
    "..%2f..",
    "%5cevil.example",
    "%00",
    "%",
    "a%0d%0aSet-Cookie:%20x=1",
  ])("the name of a server is no part of an address: %s", async (name) => {
    const { ask } = await start();
    const { headers } = await ask(`/connect/${name}`, { headers: { host: "127.0.0.1" } });
    const { location } = headers;
    if (location !== undefined) expect(location).toMatch(/^http:\/\/localhost\/connect\/[\w%.-]+$/);
    expect(headers["set-cookie"]).toBeUndefined();
  });
});
