// Programs that get tokens of the hub's authorization server by credentials of their own (client_credentials).

import { generateKeyPairSync, randomUUID } from "node:crypto";
import { readFile } from "node:fs/promises";
import { join } from "node:path";
import { SignJWT } from "jose";
import { Client } from "@modelcontextprotocol/sdk/client/index.js";
import { ClientCredentialsProvider, PrivateKeyJwtProvider } from "@modelcontextprotocol/sdk/client/auth-extensions.js";
import { StreamableHTTPClientTransport } from "@modelcontextprotocol/sdk/client/streamableHttp.js";
import { afterAll, beforeAll, describe, expect, it, onTestFinished } from "vitest";
import { openIssuerHub, type IssuerHub } from "../support/oauth/issuer-hub.ts";
import { modern } from "../support/rpc.ts";

let at: IssuerHub;
let management: string;

beforeAll(async () => {
  at = await openIssuerHub({
    groups: {
      tools: { servers: ["everything"] },
      dev: { servers: ["memory"], access: ["service:ci", "service:keyed", "service:sdk"] },
    },
  });
  management = (await readFile(join(at.data, "token"), "utf8")).trim();
});

afterAll(() => at.end());

interface Made {
  readonly id: string;
  readonly client_id: string;
  readonly client_secret: string | null;
  readonly token_url: string;
  readonly message?: string;
}

async function add(input: object): Promise<{ readonly status: number; readonly made: Made }> {
  const response = await fetch(`${at.url}/api/v1/grants`, {
    method: "POST",
    headers: { authorization: `Bearer ${management}`, "content-type": "application/json" },
    body: JSON.stringify(input),
  });
  return { status: response.status, made: (await response.json()) as Made };
}

async function end(id: string): Promise<number> {
  const headers = { authorization: `Bearer ${management}` };
  return (await fetch(`${at.url}/api/v1/grants/${id}`, { method: "DELETE", headers })).status;
}

interface Tokens {
  readonly access_token?: string;
  readonly error?: string;
  readonly expires_in?: number;
}

async function ask(fields: Record<string, string>, headers: Record<string, string> = {}) {
  const body = new URLSearchParams({ grant_type: "client_credentials", ...fields });
  const response = await fetch(`${at.url}/oauth/token`, { method: "POST", body, headers });
  return { status: response.status, response, tokens: (await response.json()) as Tokens };
}

function basic({ client_id: id, client_secret: secret }: Made) {
  return { authorization: `Basic ${Buffer.from(`${id}:${secret}`).toString("base64")}` };
}

async function toolsOf(group: string, token = ""): Promise<number> {
  const authorization = `Bearer ${token}`;
  return (await modern(`${at.url}/groups/${group}/mcp`, "tools/list", {}, { authorization })).status;
}

const PAIRS = {
  ES256: generateKeyPairSync("ec", { namedCurve: "P-256" }),
  RS256: generateKeyPairSync("rsa", { modulusLength: 2048 }),
  EdDSA: generateKeyPairSync("ed25519"),
} as const;

async function assertion(client: string, alg: keyof typeof PAIRS, change: object = {}, lifeS = 60): Promise<string> {
  const key = PAIRS[alg].privateKey;
  return new SignJWT({ iss: client, sub: client, aud: at.url, jti: randomUUID(), ...change })
    .setProtectedHeader({ alg })
    .setExpirationTime(`${lifeS}s`)
    .sign(key);
}

const asserted = (jwt: string) => ({
  client_assertion_type: "urn:ietf:params:oauth:client-assertion-type:jwt-bearer",
  client_assertion: jwt,
});

describe("AU-4 a program with a secret", () => {
  it("gets a token for its groups, as the service of its name, and for no other group", async () => {
    const { status, made } = await add({ name: "ci", groups: ["dev"] });
    expect(status).toBe(201);
    expect(made).toMatchObject({ token_url: `${at.url}/oauth/token`, principal: "service:ci", redirect_host: null });
    const { tokens } = await ask({}, basic(made));
    expect(tokens).toMatchObject({ access_token: expect.stringMatching(/^pbo_/), expires_in: 3600 });
    expect(tokens).not.toHaveProperty("refresh_token");
    expect([await toolsOf("dev", tokens.access_token), await toolsOf("tools", tokens.access_token)]).toEqual([
      200, 404,
    ]);
    const { tokens: posted } = await ask({ client_id: made.client_id, client_secret: made.client_secret ?? "" });
    expect(await toolsOf("dev", posted.access_token)).toBe(200);
    const [grant] = (await (
      await fetch(`${at.url}/api/v1/grants`, { headers: { authorization: `Bearer ${management}` } })
    ).json()) as { id: string }[];
    expect(grant).toMatchObject({ id: made.id, client_name: "ci", used_at: expect.any(String) });
  });

  it("can ask for less: one group, or tools that change nothing", async () => {
    const { made } = await add({ name: "sdk", groups: ["dev", "tools"] });
    const { tokens } = await ask({ resource: `${at.url}/groups/dev/mcp`, scope: "mcp:read" }, basic(made));
    expect([await toolsOf("dev", tokens.access_token), await toolsOf("tools", tokens.access_token)]).toEqual([
      200, 404,
    ]);
    const headers = { authorization: `Bearer ${tokens.access_token}` };
    const { body } = await modern(`${at.url}/groups/dev/mcp`, "tools/list", {}, headers);
    expect([body.includes("read_graph"), body.includes("create_entities")]).toEqual([true, false]);
  });

  it.each([
    ["the address of a group that it may not use", { resource: "/groups/tools/mcp" }, 400, "invalid_target"],
    ["an address that is none of the hub", { resource: "https://elsewhere.example/mcp" }, 400, "invalid_target"],
  ])("A34 gets nothing for %s", async (_, fields, status, error) => {
    const { made } = await add({ name: "ci", groups: ["dev"] });
    const { resource } = fields as { resource?: string };
    const asked = resource?.startsWith("/") === true ? { ...fields, resource: `${at.url}${resource}` } : fields;
    const answer = await ask(asked, basic(made));
    expect([answer.status, answer.tokens.error]).toEqual([status, error]);
  });

  it("A34 gets nothing in the management API, whatever it asks for", async () => {
    const { made } = await add({ name: "ci", groups: ["dev"] });
    const { tokens } = await ask({ scope: "mcp hub:admin" }, basic(made));
    expect(tokens).toMatchObject({ scope: "mcp" });
    const headers = { authorization: `Bearer ${tokens.access_token}` };
    expect((await fetch(`${at.url}/api/v1/servers`, { headers })).status).toBe(403);
  });

  it("A18 ends with its access: its tokens within a second, and it gets no others", async () => {
    const { made } = await add({ name: "ci", groups: ["dev"] });
    const { tokens } = await ask({}, basic(made));
    expect(await toolsOf("dev", tokens.access_token)).toBe(200);
    expect(await end(made.id)).toBe(204);
    expect(await toolsOf("dev", tokens.access_token)).toBe(401);
    const { status, tokens: refused } = await ask({}, basic(made));
    expect([status, refused.error]).toEqual([401, "invalid_client"]);
  });

  it("may end a token of its own, and goes on with the next", async () => {
    const { made } = await add({ name: "ci", groups: ["dev"] });
    const { tokens } = await ask({}, basic(made));
    const body = new URLSearchParams({ token: tokens.access_token ?? "" });
    const revoked = await fetch(`${at.url}/oauth/revoke`, { method: "POST", body, headers: basic(made) });
    expect([revoked.status, await toolsOf("dev", tokens.access_token)]).toEqual([200, 401]);
    expect(await toolsOf("dev", (await ask({}, basic(made))).tokens.access_token)).toBe(200);
  });

  it("A19 its secret is in no file", async () => {
    const { made } = await add({ name: "ci", groups: ["dev"] });
    for (const file of ["identity.db", "identity.db-wal"]) {
      const bytes = await readFile(join(at.data, file)).catch(() => Buffer.alloc(0));
      expect(bytes.includes(made.client_secret ?? "?")).toBe(false);
    }
  });

  it("AU-7 A28 is limited to 60 token requests a minute, and the answer says when it goes on", async () => {
    const { made } = await add({ name: "ci", groups: ["dev"] });
    const wrong = basic({ ...made, client_secret: "wrong" });
    // All at once: a token request comes back each second.
    const answers = await Promise.all(Array.from({ length: 120 }, () => ask({}, wrong)));
    const limited = answers.filter(({ status }) => status === 429);
    expect(answers.filter(({ status }) => status === 401).length).toBe(120 - limited.length);
    expect(limited.length).toBeGreaterThan(0);
    expect(limited[0]?.tokens.error).toBe("slow_down");
    expect(limited[0]?.response.headers.get("retry-after")).toBe("1");
    const { made: other } = await add({ name: "ci", groups: ["dev"] });
    expect((await ask({}, basic(other))).status).toBe(200);
  });
});

describe("AU-4 a program with a key", () => {
  const pemOf = (alg: keyof typeof PAIRS) => PAIRS[alg].publicKey.export({ type: "spki", format: "pem" }).toString();
  const jwkOf = (alg: keyof typeof PAIRS) => JSON.stringify(PAIRS[alg].publicKey.export({ format: "jwk" }));

  it.each([
    ["ES256", pemOf("ES256")],
    ["RS256", pemOf("RS256")],
    ["EdDSA", pemOf("EdDSA")],
    ["ES256", jwkOf("ES256")],
  ] as const)("proves with %s who it is, and has no secret", async (alg, publicKey) => {
    const { made } = await add({ name: "keyed", groups: ["dev"], public_key: publicKey });
    expect(made.client_secret).toBeNull();
    const { tokens } = await ask(asserted(await assertion(made.client_id, alg)));
    expect(await toolsOf("dev", tokens.access_token)).toBe(200);
  });

  it("A04 A22 is refused with an assertion that is used again, too long, for others, or of another key", async () => {
    const { made } = await add({ name: "keyed", groups: ["dev"], public_key: pemOf("ES256") });
    const id = made.client_id;
    const once = await assertion(id, "ES256");
    expect((await ask(asserted(once))).status).toBe(200);
    const none = `${Buffer.from('{"alg":"none"}').toString("base64url")}.${once.split(".")[1]}.`;
    const refused = [
      once,
      none,
      await assertion(id, "ES256", {}, 3600),
      await assertion(id, "ES256", {}, -60),
      await assertion(id, "ES256", { aud: "https://elsewhere.example" }),
      await assertion(id, "ES256", { iss: "program-other" }),
      await assertion(id, "RS256"),
    ];
    for (const jwt of refused) {
      const { status, tokens } = await ask(asserted(jwt));
      expect([status, tokens.error]).toEqual([401, "invalid_client"]);
    }
    expect((await ask({ client_id: id })).status).toBe(401);
  });

  it.each([
    ["no key", "key", "no public key"],
    ["a private key", PAIRS.ES256.privateKey.export({ type: "pkcs8", format: "pem" }).toString(), "private key"],
    ["a private JWK", JSON.stringify(PAIRS.ES256.privateKey.export({ format: "jwk" })), "private key"],
    [
      "a weak key",
      generateKeyPairSync("rsa", { modulusLength: 1024 }).publicKey.export({ type: "spki", format: "pem" }).toString(),
      "2048 bits",
    ],
  ])("is not added with %s", async (_, publicKey, message) => {
    const { status, made } = await add({ name: "keyed", groups: ["dev"], public_key: publicKey });
    expect([status, made.message]).toEqual([400, expect.stringContaining(message)]);
  });
});

describe("AU-4 the official client as a program", () => {
  async function connect(authProvider: ClientCredentialsProvider | PrivateKeyJwtProvider) {
    const client = new Client({ name: "ci", version: "1" });
    onTestFinished(() => client.close());
    const transport = new StreamableHTTPClientTransport(new URL(`${at.url}/groups/dev/mcp`), { authProvider });
    await client.connect(transport);
    return (await client.listTools()).tools.length;
  }

  it("logs in with a secret", async () => {
    const { made } = await add({ name: "sdk", groups: ["dev"] });
    const { client_id: clientId, client_secret: clientSecret } = made;
    const count = await connect(new ClientCredentialsProvider({ clientId, clientSecret: clientSecret ?? "" }));
    expect(count).toBeGreaterThan(0);
  });

  it("logs in with a key", async () => {
    const { made } = await add({
      name: "sdk",
      groups: ["dev"],
      public_key: PAIRS.ES256.publicKey.export({ type: "spki", format: "pem" }).toString(),
    });
    const privateKey = PAIRS.ES256.privateKey.export({ type: "pkcs8", format: "pem" }).toString();
    const provider = new PrivateKeyJwtProvider({ clientId: made.client_id, privateKey, algorithm: "ES256" });
    expect(await connect(provider)).toBeGreaterThan(0);
  });
});

describe("A24 A27 nobody else becomes a program", () => {
  it.each([
    ["by registering with such an id", { client_id: "program-x" }],
    ["by registering for client credentials", { grant_types: ["client_credentials"], redirect_uris: [] }],
    ["by registering with a key", { token_endpoint_auth_method: "private_key_jwt", jwks: { keys: [] } }],
  ])("%s", async (_, metadata) => {
    const response = await fetch(`${at.url}/oauth/register`, {
      method: "POST",
      headers: { "content-type": "application/json" },
      body: JSON.stringify({ redirect_uris: ["http://127.0.0.1:9/callback"], client_name: "x", ...metadata }),
    });
    const made = (await response.json()) as { client_id?: string; client_secret?: string; grant_types?: string[] };
    if (response.status === 400) return;
    expect(made.client_id).not.toMatch(/^program-/);
    expect(made.grant_types).not.toContain("client_credentials");
    const { status } = await ask({ client_id: made.client_id ?? "", client_secret: made.client_secret ?? "" });
    expect(status).toBeGreaterThanOrEqual(400);
  });

  it("by a token: only administrators add programs", async () => {
    const { token } = await at.hub.accessTokens.make(
      { name: "op", principal: "service:op", role: "operator", groups: "*", readOnly: false, expiresAt: undefined },
      "local",
    );
    const response = await fetch(`${at.url}/api/v1/grants`, {
      method: "POST",
      headers: { authorization: `Bearer ${token}`, "content-type": "application/json" },
      body: JSON.stringify({ name: "x", groups: ["dev"] }),
    });
    expect(response.status).toBe(403);
  });

  it.each([
    ["a group that does not exist", { name: "x", groups: ["absent"] }, 404],
    ["a group that is not open to it", { name: "stranger", groups: ["dev"] }, 400],
    ["no group", { name: "x", groups: [] }, 400],
    ["a name that cannot be one", { name: "\u202Ex", groups: ["tools"] }, 400],
  ])("for %s", async (_, input, status) => {
    expect((await add(input)).status).toBe(status);
  });

  it("the metadata does not offer keys to clients that log people in", async () => {
    const metadata = await (await fetch(`${at.url}/.well-known/oauth-authorization-server`)).json();
    expect(metadata).toMatchObject({
      grant_types_supported: expect.arrayContaining(["authorization_code", "refresh_token", "client_credentials"]),
      token_endpoint_auth_methods_supported: ["none", "client_secret_basic", "client_secret_post"],
    });
  });
});
