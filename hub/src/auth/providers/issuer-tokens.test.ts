// Tokens of identity providers: which are accepted, for what, for how long, and how much is asked of the provider.

import { createHash } from "node:crypto";
import {
  exportJWK,
  exportSPKI,
  SignJWT,
  UnsecuredJWT,
  calculateJwkThumbprint,
  generateKeyPair,
  type JWTPayload,
} from "jose";
import { afterEach, beforeEach, describe, expect, it, vi } from "vitest";
import { HubError } from "../../errors.ts";
import { credentialIn, type IdentifiedRequest } from "../credential.ts";
import { Grant } from "../grant.ts";
import { ALGORITHMS, type IssuerSettings } from "./issuer-settings.ts";
import { IssuerTokens } from "./issuer-tokens.ts";
import { InvalidToken } from "./refusals.ts";
import type { SignIn } from "../users.ts";
import { resourceAddresses } from "../../hub/resources.ts";
import { newKey, TokenIssuer, type TokenOptions } from "../../../../test/support/oauth/token-issuer.ts";

const BASE = "https://hub.example.com";
const DEV = `${BASE}/mcp/dev`;
const DEFAULTS: Omit<IssuerSettings, "issuer"> = {
  audience: [],
  jwksUri: undefined,
  algorithms: ALGORITHMS,
  principal: "sub",
  roles: undefined,
  teams: undefined,
  groups: undefined,
  scopes: { map: new Map(), fallback: [] },
  requiredClaims: new Map(),
  recheckMs: undefined,
  introspection: undefined,
};
const INTROSPECTION = { endpoint: undefined, clientId: "hub", clientSecret: async () => "s3cret" };

let issuer: TokenIssuer;
let signIns: SignIn[];
let opened: IssuerTokens[];

beforeEach(async () => {
  // Only what the code under test waits for: jose needs the rest.
  vi.useFakeTimers({ toFake: ["Date", "setTimeout", "clearTimeout"] });
  issuer = await TokenIssuer.create();
  signIns = [];
  opened = [];
});

afterEach(() => {
  for (const each of opened) each.close();
  vi.useRealTimers();
});

const users = {
  signedIn: async (who: SignIn) => {
    signIns.push(who);
    const { email, emailVerified = false, name, role = "user", teams = [] } = who;
    const id = `${who.issuer} ${who.subject}`;
    const times = { createdAt: 0, seenAt: 0 };
    const person = {
      id,
      principal: `user:${id}`,
      issuer: who.issuer,
      subject: who.subject,
      disabled: false,
      givenRole: undefined,
    };
    return { ...person, ...times, email, emailVerified, name, role, teams: new Set(teams) };
  },
  grant: (user, init) =>
    new Grant({ ...init, principal: user.principal, role: init.role ?? user.role, teams: user.teams }),
} satisfies ConstructorParameters<typeof IssuerTokens>[0]["users"];

function open(settings: Partial<IssuerSettings> = {}, ...others: TokenIssuer[]) {
  const all = [issuer, ...others];
  const tokens = new IssuerTokens({
    issuers: all.map(({ url }) => ({ ...DEFAULTS, issuer: url, ...settings })),
    users,
    addresses: resourceAddresses(BASE),
    fetchFor: (address) => all.find(({ url }) => address.startsWith(url))?.fetch ?? issuer.fetch,
  });
  opened.push(tokens);
  return tokens;
}

const addresses = resourceAddresses(BASE);

async function check(tokens: IssuerTokens, token: string, path = "/mcp/dev", headers: Record<string, string> = {}) {
  const request: IdentifiedRequest = {
    headers: { authorization: `Bearer ${token}`, ...headers },
    method: "POST",
    url: path,
  };
  const credential = credentialIn(request.headers.authorization);
  if (credential === undefined) throw new Error("not a credential");
  return tokens.check(credential, request, addresses.for(path));
}

/** Finds it without asking anyone. */
function find(tokens: IssuerTokens, token: string, path = "/mcp/dev") {
  const credential = credentialIn(`Bearer ${token}`);
  return credential && tokens.find(credential, addresses.for(path));
}

async function refusalOf(promise: Promise<unknown>): Promise<string> {
  const outcome = await promise.then(
    (grant) => (grant === undefined ? "unknown" : "accepted"),
    (thrown: unknown) => thrown,
  );
  if (outcome instanceof InvalidToken) return outcome.message;
  if (outcome instanceof HubError) return outcome.kind;
  if (typeof outcome === "string") return outcome;
  throw outcome;
}

describe("AU-4 a JWT of a configured issuer", () => {
  it("is checked once, and then found without any request until it expires", async () => {
    const tokens = open();
    const token = await issuer.token({ aud: DEV, azp: "claude", email: "a@example.com", email_verified: true });
    expect(find(tokens, token)).toBeUndefined();
    const grant = await check(tokens, token);
    expect(grant).toMatchObject({
      kind: "jwt",
      principal: `user:${issuer.url} alice`,
      client: "claude",
      readOnly: false,
    });
    expect(find(tokens, token)).toBe(grant);
    expect(signIns).toHaveLength(1);
    expect(issuer.count("/jwks")).toBe(1);
    const ended: string[] = [];
    grant?.onceEnded((why) => ended.push(why));
    await vi.advanceTimersByTimeAsync(3_599_000);
    expect(ended).toEqual([]);
    await vi.advanceTimersByTimeAsync(1000);
    expect(ended).toEqual(["expired"]);
    expect(find(tokens, token)).toBeUndefined();
    expect(await refusalOf(check(tokens, token))).toBe("The token has expired");
  });

  it.each<[string, JWTPayload["aud"], string, string]>([
    ["the group's address", DEV, "/mcp/dev", "accepted"],
    ["another address of the group", `${BASE}/groups/dev/mcp`, "/mcp/dev", "accepted"],
    ["an address of the group for SSE", `${BASE}/sse/dev`, "/messages/dev?sessionId=1", "accepted"],
    ["the default group's address", `${BASE}/mcp`, "/mcp/default", "accepted"],
    ["other case, port and slash", "HTTPS://Hub.Example.Com:443/mcp/dev/", "/mcp/dev", "accepted"],
    ["one of several", ["https://other.example", DEV], "/mcp/dev", "accepted"],
    ["the admin endpoint", `${BASE}/mcp/@admin`, "/mcp/@admin", "accepted"],
    ["the management API", `${BASE}/api/v1`, "/api/v1/servers", "accepted"],
    ["another group", `${BASE}/mcp/ops`, "/mcp/dev", "The token is for another resource"],
    ["a group, at the admin endpoint", DEV, "/mcp/@admin", "The token is for another resource"],
    ["a group, at the API", DEV, "/api/v1/groups/dev/mcp", "The token is for another resource"],
    ["the beginning of an address", `${BASE}/mcp/de`, "/mcp/dev", "The token is for another resource"],
    ["the hub as a whole", BASE, "/mcp", "The token is for another resource"],
    ["another case of the path", `${BASE}/MCP/dev`, "/mcp/dev", "The token is for another resource"],
    ["dots", `${BASE}/mcp/ops/../dev`, "/mcp/dev", "The token is for another resource"],
    ["a query", `${DEV}?a=b`, "/mcp/dev", "The token is for another resource"],
    ["another host", "https://hub.example.com.evil.example/mcp/dev", "/mcp/dev", "The token is for another resource"],
    [
      "another host with credentials",
      "https://hub.example.com@evil.example/mcp/dev",
      "/mcp/dev",
      "The token is for another resource",
    ],
    ["plain http", "http://hub.example.com/mcp/dev", "/mcp/dev", "The token is for another resource"],
    ["an empty list", [], "/mcp/dev", "The token has no audience"],
    ["nothing", undefined, "/mcp/dev", "The token has no audience"],
  ])("A10 whose audience is %s", async (_, aud, path, expected) => {
    const token = await issuer.token({ ...(aud === undefined ? {} : { aud }), scope: "hub:admin" });
    expect(await refusalOf(check(open(), token, path))).toBe(expected);
  });

  it("A10 for a listed audience opens the groups that its claims name", async () => {
    const tokens = open({
      audience: ["api://plugboard"],
      groups: { claim: "groups", map: new Map([["g-1", ["dev"]]]) },
    });
    const grant = await check(tokens, await issuer.token({ aud: "api://plugboard", groups: ["g-1", "g-2"] }));
    expect(grant?.groups).toEqual(new Set(["dev"]));
  });

  it("is checked again after the time that the config says, and what it holds open ends if its key is gone", async () => {
    const tokens = open({ recheckMs: 5_400_000 });
    const exp = Math.floor(Date.now() / 1000) + 10_800;
    const grant = await check(tokens, await issuer.token({ aud: DEV, exp }));
    const ended: string[] = [];
    grant?.onceEnded((why) => ended.push(why));
    issuer.keys = [await newKey("second")];
    await vi.advanceTimersByTimeAsync(5_399_000);
    expect(ended).toEqual([]);
    await vi.advanceTimersByTimeAsync(1000);
    await expect.poll(() => ended).toEqual(["revoked"]);
  });
});

describe("A22 a JWT that is not right is refused", () => {
  const now = () => Math.floor(Date.now() / 1000);
  type Case = [string, (key: TokenIssuer["key"]) => Promise<string> | string, string | RegExp];
  const made = (claims: JWTPayload, options?: TokenOptions) => () => issuer.token({ aud: DEV, ...claims }, options);

  it.each<Case>([
    [
      "alg none",
      () => `${new UnsecuredJWT({ iss: issuer.url, sub: "a", aud: DEV }).encode()}c2ln`,
      /algorithm|valid JWT/,
    ],
    [
      "HS256 with the public key",
      async ({ publicKey, kid }) =>
        new SignJWT({ iss: issuer.url, sub: "alice", aud: DEV, exp: now() + 60 })
          .setProtectedHeader({ alg: "HS256", kid })
          .sign(new TextEncoder().encode(await exportSPKI(publicKey))),
      "The token is signed with another algorithm",
    ],
    ["another key with the same kid", async () => made({}, { key: await newKey("first") })(), "The signature is wrong"],
    ["an unknown kid", async () => made({}, { key: await newKey("unknown") })(), /does not have/],
    [
      "its own key in the header",
      async () => {
        const key = await newKey("first");
        const header = {
          jwk: await exportJWK(key.publicKey),
          jku: "https://evil.example/jwks",
          x5u: "https://evil.example",
        };
        return made({}, { key, header })();
      },
      "The signature is wrong",
    ],
    ["an expired one", () => made({ exp: now() - 1 })(), "The token has expired"],
    [
      "exp as text",
      () => made({ exp: "9999999999" as unknown as number })(),
      "The claim exp of the token is missing or wrong",
    ],
    ["no exp", () => made({ exp: undefined as unknown as number })(), "The claim exp of the token is missing or wrong"],
    ["no sub", () => made({ sub: undefined as unknown as string })(), "The claim sub of the token is missing or wrong"],
    ["an empty sub", () => made({ sub: "" })(), "The claim sub of the token does not name anyone"],
    ["nbf in the future", () => made({ nbf: now() + 120 })(), "The claim nbf of the token is missing or wrong"],
    ["an ID token with nonce", () => made({ nonce: "n" })(), "The token is not an access token"],
    ["an ID token with at_hash", () => made({ at_hash: "h" })(), "The token is not an access token"],
    [
      "an ID token of Keycloak",
      () => made({ typ: "ID" }, { header: { typ: "JWT" } })(),
      "The token is not an access token",
    ],
    ["a proof of DPoP", () => made({}, { header: { typ: "dpop+jwt" } })(), "The token is not an access token"],
    ["an assertion", () => made({}, { header: { typ: "oauth-id-jag+jwt" } })(), "The token is not an access token"],
    ["a logout token", () => made({}, { header: { typ: "logout+jwt" } })(), "The token is not an access token"],
    ["a giant", () => made({ padding: "x".repeat(1 << 20) })(), "unknown"],
    ["one with an unknown binding", () => made({ cnf: { "x5t#S256": "t" } })(), /bound to its client/],
    [
      "broken base64",
      ({ kid }) => `${Buffer.from(`{"alg":"ES256","kid":"${kid}"}`).toString("base64url")}.e30.x`,
      "unknown",
    ],
    ["one of an unknown issuer", () => made({ iss: "https://evil.example" })(), "unknown"],
    ["an issuer with another slash", () => made({ iss: `${issuer.url}/` })(), "unknown"],
  ])("%s", async (_, make, expected) => {
    const token = await make(issuer.key);
    const tokens = open();
    expect(await refusalOf(check(tokens, token))).toMatch(expected);
    expect(signIns).toEqual([]);
    expect(find(tokens, token)).toBeUndefined();
  });

  it("signed by another configured issuer under its own kid", async () => {
    const other = await TokenIssuer.create("https://other.example.com");
    const tokens = open({}, other);
    const forged = await other.token({ aud: DEV, iss: issuer.url }, { header: { kid: "first" } });
    expect(await refusalOf(check(tokens, forged))).toBe("The signature is wrong");
    expect(await refusalOf(check(tokens, await other.token({ aud: DEV })))).toBe("accepted");
  });

  it("an ID token for a listed audience, which is its client", async () => {
    const tokens = open({ audience: ["plugboard"] });
    const header = { typ: "JWT" };
    const claims = { aud: "plugboard", azp: "plugboard" };
    const idToken = await issuer.token({ ...claims, scope: undefined }, { header });
    expect(await refusalOf(check(tokens, idToken))).toBe("The token is not an access token");
    expect(await refusalOf(check(tokens, await issuer.token(claims, { header })))).toBe("accepted");
  });

  it("10,000 unknown keys cause one request for keys every 30 s", async () => {
    const tokens = open();
    await check(tokens, await issuer.token({ aud: DEV }));
    expect(issuer.count("/jwks")).toBe(1);
    const key = await newKey("unknown");
    const payload = (await issuer.token({ aud: DEV }, { key })).split(".").slice(1).join(".");
    const flood = async (from: number) => {
      for (let number = from; number < from + 5000; number++) {
        const header = Buffer.from(`{"alg":"ES256","kid":"k${number}"}`).toString("base64url");
        await check(tokens, `${header}.${payload}`).catch(() => undefined);
      }
    };
    await flood(0);
    expect(issuer.count("/jwks")).toBe(1);
    await vi.advanceTimersByTimeAsync(30_000);
    await flood(5000);
    expect(issuer.count("/jwks")).toBe(2);
  });
});

describe("AU-4 an issuer that does not answer", () => {
  it("makes its own tokens unusable for now, and no others", async () => {
    const other = await TokenIssuer.create("https://other.example.com");
    const tokens = open({}, other);
    issuer.failure = 503;
    const error: unknown = await check(tokens, await issuer.token({ aud: DEV })).catch((thrown: unknown) => thrown);
    expect(error).toMatchObject({ kind: "IssuerUnavailable", retryAfterMs: 30_000 });
    expect(await refusalOf(check(tokens, await other.token({ aud: DEV })))).toBe("accepted");
    issuer.failure = undefined;
    expect(await refusalOf(check(tokens, await issuer.token({ aud: DEV })))).toBe("IssuerUnavailable");
    await vi.advanceTimersByTimeAsync(30_000);
    expect(await refusalOf(check(tokens, await issuer.token({ aud: DEV })))).toBe("accepted");
  });

  it("is not needed for a day, once its keys are known", async () => {
    const tokens = open();
    await check(tokens, await issuer.token({ aud: DEV }));
    issuer.failure = 500;
    await vi.advanceTimersByTimeAsync(23 * 3_600_000);
    expect(await refusalOf(check(tokens, await issuer.token({ aud: DEV })))).toBe("accepted");
    await vi.advanceTimersByTimeAsync(3_600_000);
    expect(await refusalOf(check(tokens, await issuer.token({ aud: DEV })))).toBe("IssuerUnavailable");
  });

  it("may have changed its keys: that is noticed at once", async () => {
    const tokens = open();
    await check(tokens, await issuer.token({ aud: DEV }));
    issuer.keys = [await newKey("second")];
    await vi.advanceTimersByTimeAsync(31_000);
    expect(await refusalOf(check(tokens, await issuer.token({ aud: DEV })))).toBe("accepted");
  });
});

describe("A23 a token that only its issuer can read", () => {
  const ACTIVE = { active: true, sub: "alice", aud: DEV, client_id: "cli", scope: "mcp:read" };

  it("is asked about, and the answer counts for a minute", async () => {
    const tokens = open({ introspection: INTROSPECTION });
    issuer.active.set("opaque", ACTIVE);
    const grant = await check(tokens, "opaque");
    expect(grant).toMatchObject({ client: "cli", readOnly: true });
    expect(find(tokens, "opaque")).toBe(grant);
    expect(issuer.count("/introspect")).toBe(1);
    issuer.active.delete("opaque");
    const ended: string[] = [];
    grant?.onceEnded((why) => ended.push(why));
    await vi.advanceTimersByTimeAsync(60_000);
    expect(ended).toEqual(["revoked"]);
    expect(await refusalOf(check(tokens, "opaque"))).toBe("unknown");
  });

  it.each<[string, unknown, string]>([
    ["active as text", { ...ACTIVE, active: "true" }, "unknown"],
    ["not active", { active: false }, "unknown"],
    ["nothing", {}, "unknown"],
    ["a list", [ACTIVE], "IssuerUnavailable"],
    ["for another audience", { ...ACTIVE, aud: "https://other.example" }, "The token is for another resource"],
    ["without an audience", { ...ACTIVE, aud: undefined }, "The token has no audience"],
    ["expired", { ...ACTIVE, exp: 1 }, "The token has expired"],
    ["exp as text", { ...ACTIVE, exp: "9999999999" }, "The token has expired"],
    ["of another issuer", { ...ACTIVE, iss: "https://other.example" }, "unknown"],
    ["without a scope of the hub", { ...ACTIVE, scope: "openid" }, "InsufficientScope"],
  ])("is refused if the answer is: %s", async (_, answer, expected) => {
    issuer.active.set("opaque", answer);
    expect(await refusalOf(check(open({ introspection: INTROSPECTION }), "opaque"))).toBe(expected);
  });

  it.each([500, 401, 404])("is not let in if the answer has the status %i", async (status) => {
    const tokens = open({ introspection: INTROSPECTION });
    issuer.active.set("opaque", ACTIVE);
    issuer.failure = status;
    expect(await refusalOf(check(tokens, "opaque"))).toBe("IssuerUnavailable");
  });

  it("that is not active is not asked about again at once", async () => {
    const tokens = open({ introspection: INTROSPECTION });
    for (let times = 0; times < 5; times++) expect(await refusalOf(check(tokens, "opaque"))).toBe("unknown");
    expect(issuer.count("/introspect")).toBe(1);
    issuer.active.set("opaque", ACTIVE);
    await vi.advanceTimersByTimeAsync(5000);
    expect(await refusalOf(check(tokens, "opaque"))).toBe("accepted");
  });

  it("is never a JWT or a token of the hub", async () => {
    const tokens = open({ introspection: INTROSPECTION });
    await refusalOf(check(tokens, await issuer.token({ aud: DEV })));
    for (const own of ["pb_wrong", "pbt_wrong"]) expect(await refusalOf(check(tokens, own))).toBe("unknown");
    expect(issuer.count("/introspect")).toBe(0);
  });
});

describe("AU-4 a token that is bound to a key of its client", () => {
  const key = generateKeyPair("ES256", { extractable: true });

  async function bound(tokens: IssuerTokens, changes: JWTPayload = {}, scheme = "DPoP") {
    const { privateKey, publicKey } = await key;
    const jwk = await exportJWK(publicKey);
    const token = await issuer.token({ aud: DEV, cnf: { jkt: await calculateJwkThumbprint(jwk) } });
    const ath = createHash("sha256").update(token).digest("base64url");
    const iat = Math.floor(Date.now() / 1000);
    const proof = await new SignJWT({ htm: "POST", htu: DEV, ath, iat, jti: "1", ...changes })
      .setProtectedHeader({ alg: "ES256", typ: "dpop+jwt", jwk })
      .sign(privateKey);
    const use = (dpop: string | undefined = proof) =>
      refusalOf(check(tokens, token, "/mcp/dev?x=1", { authorization: `${scheme} ${token}`, ...(dpop && { dpop }) }));
    return { token, use };
  }

  it("needs a new proof for each request", async () => {
    const tokens = open();
    const { use, token } = await bound(tokens);
    expect(await use()).toBe("accepted");
    expect(await use()).toMatch(/used before/);
    expect(await use("")).toMatch(/no proof/);
    expect(find(tokens, token)).toBeUndefined();
  });

  it.each<[string, JWTPayload]>([
    ["another method", { htm: "GET" }],
    ["another address", { htu: `${BASE}/mcp/ops` }],
    ["another host", { htu: "https://evil.example/mcp/dev" }],
    ["another token", { ath: "x" }],
    ["long ago", { iat: 1 }],
    ["no id", { jti: "" }],
  ])("is refused with a proof of %s", async (_, changes) => {
    expect(await (await bound(open(), changes)).use()).toMatch(/^The request has .*bound to a key/);
  });

  it("is refused as a bearer token, and one that is not bound with the scheme DPoP", async () => {
    const tokens = open();
    expect(await (await bound(tokens, {}, "Bearer")).use()).toMatch(/needs the scheme DPoP/);
    const plain = await issuer.token({ aud: DEV });
    expect(await refusalOf(check(tokens, plain, "/mcp/dev", { authorization: `DPoP ${plain}` }))).toMatch(/not bound/);
  });
});
