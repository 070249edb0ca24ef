// The embedded authorization server over HTTP: a client registers, a person consents, and the tokens work at the group's endpoint.

import { randomBytes } from "node:crypto";
import { afterAll, beforeAll, describe, expect, it, onTestFinished, vi } from "vitest";
import { Grant } from "../../hub/src/auth/grant.ts";
import { Browser } from "../support/oauth/browser.ts";
import {
  consent,
  logIn,
  openIssuerHub,
  OWNER,
  signIn,
  StepClient,
  type IssuerHub,
  type Tokens,
} from "../support/oauth/issuer-hub.ts";
import { modern } from "../support/rpc.ts";

let at: IssuerHub;
const AWAY = ({ origin }: URL) => origin !== at.url;

/** Registered once: an address may register twenty in an hour. */
let clientId: string;

beforeAll(async () => {
  at = await openIssuerHub();
  const first = new StepClient(at.url);
  await first.register();
  clientId = first.id;
});

const registered = () => Object.assign(new StepClient(at.url), { id: clientId });
const logInHere = () => logIn(at, {}, registered());

afterAll(() => at.end());

const use = async (token: string, group = "dev") => {
  const headers = { authorization: `Bearer ${token}` };
  return (await modern(`${at.url}/mcp/${group}`, "tools/list", {}, headers)).status;
};

describe("AU-4 a login at the hub's own authorization server", () => {
  it("describes itself, with what clients need", async () => {
    for (const name of ["oauth-authorization-server", "openid-configuration"]) {
      const response = await fetch(`${at.url}/.well-known/${name}`);
      expect(await response.json()).toMatchObject({
        issuer: at.url,
        authorization_endpoint: `${at.url}/oauth/authorize`,
        token_endpoint: `${at.url}/oauth/token`,
        registration_endpoint: `${at.url}/oauth/register`,
        revocation_endpoint: `${at.url}/oauth/revoke`,
        response_types_supported: ["code"],
        grant_types_supported: expect.arrayContaining(["authorization_code", "refresh_token"]),
        code_challenge_methods_supported: ["S256"],
        token_endpoint_auth_methods_supported: ["none", "client_secret_basic", "client_secret_post"],
        scopes_supported: expect.arrayContaining(["mcp", "mcp:read"]),
        client_id_metadata_document_supported: true,
        authorization_response_iss_parameter_supported: true,
      });
    }
  });

  it("gives a token for the group that the client asked for, and for no other", async () => {
    const { page, tokens } = await logInHere();
    expect(Object.fromEntries(new URL(page.url).searchParams)).toMatchObject({ iss: at.url, state: "af0ifjsldkj" });
    expect(tokens).toMatchObject({ token_type: "Bearer", scope: "mcp" });
    expect(tokens.access_token).toMatch(/^pbo_/);
    expect(tokens.refresh_token).toMatch(/^pbr_/);
    expect(await use(tokens.access_token)).toBe(200);
    expect(await use(tokens.access_token, "tools")).toBe(404);
    expect(await use(tokens.refresh_token)).toBe(401);
  });
});

describe("A01 A05 A06 A34 an authorization request", () => {
  /** Where a request ends that is refused: at the client, or on a page of the hub. */
  const refusal = async (url: string) => {
    const response = await fetch(url, { redirect: "manual", headers: { accept: "text/html" } });
    const location = response.headers.get("location");
    await response.text();
    if (location === null) return { status: response.status };
    const { search, hash, href } = new URL(location, at.url);
    const answered = new URLSearchParams(hash === "" ? search : hash.slice(1));
    return { at: href.split(/[?#]/)[0], error: answered.get("error"), iss: answered.get("iss") };
  };

  it.each([
    ["no challenge", { code_challenge: undefined, code_challenge_method: undefined }, "invalid_request"],
    ["the method plain", { code_challenge_method: "plain" }, "invalid_request"],
    ["no method", { code_challenge_method: undefined }, "invalid_request"],
    ["another type of response", { response_type: "token" }, "unsupported_response_type"],
    ["an ID token as well", { response_type: "code id_token", nonce: "n" }, "unsupported_response_type"],
    ["a resource of another hub", { resource: "https://other.example/mcp" }, "invalid_target"],
    ["a resource that is no group", { resource: "http://127.0.0.1:1/mcp" }, "invalid_target"],
    ["a request object", { request: "eyJhbGciOiJub25lIn0.e30." }, "request_not_supported"],
  ])("with %s goes back to the client", async (_, changed, error) => {
    const made = registered();
    expect(await refusal(made.authorizeUrl(changed))).toEqual({ at: made.redirectUri, error, iss: at.url });
  });

  it("may name any port of this computer, as programs without a fixed one do", async () => {
    const made = registered();
    const page = await consent(at, made.authorizeUrl({ redirect_uri: "http://127.0.0.1:50123/callback" }));
    expect(page.url).toMatch(/^http:\/\/127\.0\.0\.1:50123\/callback\?code=/);
  });

  it("A34 asks for no group that its person may not use, and for no group that does not exist", async () => {
    const made = registered();
    const limited = new Grant({ ...OWNER, groups: new Set(["tools"]) });
    for (const group of ["dev", "nowhere"]) {
      const page = await signIn(
        at,
        made.authorizeUrl({ resource: `${at.url}/mcp/${group}` }),
        limited,
        new Browser(),
        AWAY,
      );
      expect(new URL(page.url).searchParams.get("error")).toBe("invalid_target");
    }
  });

  it("A01 gives no code without the form of the consent page, sent from that page by that browser", async () => {
    const made = registered();
    const browser = new Browser();
    const page = await signIn(at, made.authorizeUrl(), new Grant(OWNER), browser);
    expect(page.text).toContain("Allow access?");
    expect((await fetch(page.url)).status).toBe(404);
    const forged = await browser.submit(page, { csrf: "forged", decision: "allow", days: "30" });
    expect([forged.status, forged.text.includes("Consent can be given only on the page")]).toEqual([403, true]);
    const foreign = await new Browser().submit(page, { decision: "allow", days: "30" });
    expect(foreign.status).toBe(404);
    const denied = await browser.submit(page, { decision: "deny" }, AWAY);
    expect(new URL(denied.url).searchParams.get("error")).toBe("access_denied");
  });

  it("A01 is consented to each time, also by a browser that has consented before", async () => {
    const made = registered();
    const browser = new Browser();
    const first = await consent(at, made.authorizeUrl(), {}, browser);
    expect(first.url).toContain("code=");
    const second = await browser.open(made.authorizeUrl(), AWAY);
    expect(second.text).toContain("Sign in to Plugboard");
  });
});

describe("A06 an authorization request that cannot be trusted ends on a page of the hub", () => {
  let other: IssuerHub;
  let client: StepClient;

  // Another one: an address may begin sixty in a minute.
  beforeAll(async () => {
    other = await openIssuerHub();
    client = new StepClient(other.url);
    await client.register();
  });

  afterAll(() => other.end());

  const CHANGES: readonly (readonly [string, Readonly<Record<string, string | undefined>>])[] = [
    ["an unknown client", { client_id: "unknown" }],
    ["no client", { client_id: undefined }],
    ["no redirect address", { redirect_uri: undefined }],
  ];

  it.each(CHANGES)("with %s", async (_, changed) => {
    const response = await fetch(client.authorizeUrl(changed), { redirect: "manual" });
    expect([response.status, response.headers.get("location")]).toEqual([400, null]);
  });

  it.each([
    "https://evil.example/callback",
    "http://evil.example/callback",
    "//evil.example/callback",
    "/\\evil.example",
    "https:evil.example",
    "http://127.0.0.1.evil.example/callback",
    "http://localhost.evil.example/callback",
    "http://localhost/callback",
    "http://[::1]:9/callback",
    "https://127.0.0.1:9/callback",
    "http://user@127.0.0.1:9/callback",
    "http://127.0.0.1:9@evil.example/callback",
    "http://127.0.0.1:9/callback/../evil",
    "http://127.0.0.1:9/callback/",
    "http://127.0.0.1:9/callback?next=https://evil.example",
    "http://127.0.0.1:9/callback#x",
    "http://127.0.0.1:9/%63allback",
    "http://127.0.0.1:9/CALLBACK",
    "http://127.0.0.1:9\\@evil.example/callback",
    "http://127.0.0.1:9/callback\t",
    " http://127.0.0.1:9/callback",
    "http://2130706433:9/callback",
    "http://127.1:9/callback",
    "javascript:alert(1)",
    "data:text/html,x",
    "file:///etc/passwd",
    "",
  ])("with the redirect address %j", async (uri) => {
    const response = await fetch(client.authorizeUrl({ redirect_uri: uri }), { redirect: "manual" });
    expect([response.status, response.headers.get("location")]).toEqual([400, null]);
  });
});

describe("A28 guesses", () => {
  it("A28 AU-7 of codes and refresh tokens give nothing, and end after 60 in a minute", async () => {
    const made = new StepClient(at.url);
    await made.register();
    // All at once: a request comes back each second.
    const guesses = Array.from({ length: 150 }, async (_, n) => {
      const guess = randomBytes(32).toString("base64url");
      const response = await (n % 2 === 0 ? made.redeem(guess) : made.refresh(`pbr_${guess}`));
      await response.arrayBuffer();
      return [response.status, response.headers.get("retry-after")];
    });
    const answers = await Promise.all(guesses);
    const limited = answers.filter(([status]) => status === 429);
    expect(answers.filter(([status]) => status === 400).length).toBe(150 - limited.length);
    expect(limited).toContainEqual([429, "1"]);
  });
});

describe("A05 A18 the token endpoint", () => {
  it("takes a code once, with its verifier; a second use ends what the first gave", async () => {
    const { client, code, tokens } = await logInHere();
    expect(await use(tokens.access_token)).toBe(200);
    expect((await client.redeem(code)).status).toBe(400);
    expect(await use(tokens.access_token)).toBe(401);
    expect((await client.refresh(tokens.refresh_token)).status).toBe(400);
  });

  it.each([
    ["a wrong verifier", { code_verifier: "x".repeat(43) }],
    ["no verifier", { code_verifier: "" }],
    ["another redirect address", { redirect_uri: "http://127.0.0.1:10/callback" }],
    ["another resource", { resource: "http://127.0.0.1:1/mcp" }],
  ])("gives nothing for a code with %s", async (_, changed) => {
    const made = registered();
    const code = new URL((await consent(at, made.authorizeUrl())).url).searchParams.get("code") ?? "";
    const response = await made.redeem(code, changed);
    expect([response.status, Object.keys((await response.json()) as object)]).toEqual([
      400,
      expect.not.arrayContaining(["access_token"]),
    ]);
  });

  it("gives nothing to another client", async () => {
    const [made, other] = [registered(), new StepClient(at.url)];
    await other.register();
    const code = new URL((await consent(at, made.authorizeUrl())).url).searchParams.get("code") ?? "";
    expect((await other.redeem(code, { code_verifier: made.verifier })).status).toBe(400);
  });

  it("says that a client is not known, so that it registers again", async () => {
    const made = new StepClient(at.url);
    made.id = "forgotten";
    const response = await made.refresh("pbr_x");
    expect([response.status, await response.json()]).toEqual([
      401,
      expect.objectContaining({ error: "invalid_client" }),
    ]);
  });

  it("renews tokens; a replaced one works again for a minute, and after that ends the whole login", async () => {
    vi.useFakeTimers({ toFake: ["Date"] });
    onTestFinished(() => void vi.useRealTimers());
    const { client, tokens: first } = await logInHere();
    const renew = async (token: string) => (await (await client.refresh(token)).json()) as Tokens;
    const second = await renew(first.refresh_token);
    expect(second.refresh_token).not.toBe(first.refresh_token);
    vi.setSystemTime(Date.now() + 59_000);
    const twin = await renew(first.refresh_token);
    const all = [first.access_token, second.access_token, twin.access_token];
    expect(await Promise.all(all.map((token) => use(token)))).toEqual([200, 200, 200]);
    vi.setSystemTime(Date.now() + 2000);
    expect((await client.refresh(first.refresh_token)).status).toBe(400);
    expect(await Promise.all(all.map((token) => use(token)))).toEqual([401, 401, 401]);
    expect((await client.refresh(twin.refresh_token)).status).toBe(400);
    expect((await client.refresh(second.refresh_token)).status).toBe(400);
    const [row] = await at.hub.audit.query({ limit: 1 });
    expect(row).toMatchObject({
      action: "consent.revoked",
      client: clientId,
      principal: "local",
      address: "127.0.0.1",
    });
  });

  it("ends a token, and the login with it, when the client asks for that", async () => {
    const { client, tokens } = await logInHere();
    const revoke = (token: string) =>
      fetch(`${at.url}/oauth/revoke`, { method: "POST", body: new URLSearchParams({ client_id: client.id, token }) });
    expect((await revoke("pbr_unknown")).status).toBe(200);
    expect((await revoke(tokens.refresh_token)).status).toBe(200);
    expect(await use(tokens.access_token)).toBe(401);
    expect((await client.refresh(tokens.refresh_token)).status).toBe(400);
  });

  it("A18 ends streams within a second when a person ends the access, and refuses the tokens from then on", async () => {
    const { client, tokens } = await logInHere();
    const headers = { authorization: `Bearer ${tokens.access_token}`, accept: "text/event-stream" };
    const stream = await fetch(`${at.url}/sse/dev`, { headers });
    const ended = stream.text().catch(() => "cut off");
    const logins = (await at.hub.issuer?.logins()) ?? [];
    const login = logins.at(-1);
    expect(login).toMatchObject({
      clientName: "Step Client",
      principal: "local",
      groups: ["dev"],
      usedFrom: "127.0.0.1",
    });
    if (login === undefined) return;
    const begun = performance.now();
    await at.hub.issuer?.revoke(login, new Grant(OWNER));
    await ended;
    expect(performance.now() - begun).toBeLessThan(1000);
    expect(await use(tokens.access_token)).toBe(401);
    expect((await client.refresh(tokens.refresh_token)).status).toBe(400);
    const rows = await at.hub.audit.query({ limit: 2 });
    expect(rows.map(({ action, object }) => [action, object])).toEqual([
      ["consent.revoked", "127.0.0.1"],
      ["consent.given", "127.0.0.1"],
    ]);
  });
});
