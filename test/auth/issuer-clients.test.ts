// Who may be a client of the embedded authorization server: registration, and documents that clients publish.

import { readFile } from "node:fs/promises";
import { join } from "node:path";
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { Grant } from "../../hub/src/auth/grant.ts";
import { Browser } from "../support/oauth/browser.ts";
import { logIn, openIssuerHub, OWNER, signIn, StepClient, type IssuerHub } from "../support/oauth/issuer-hub.ts";

let at: IssuerHub;

beforeAll(async () => {
  at = await openIssuerHub();
});

afterAll(() => at.end());

type Answer = Readonly<Record<string, unknown>>;

const register = async (metadata: object) => {
  const response = await new StepClient(at.url).register(metadata);
  return { status: response.status, answer: (await response.json()) as Answer };
};

describe("A24 registration", () => {
  it.each([
    ["javascript:alert(1)", "data:text/html,x", "file:///etc/passwd", "blob:https://x.example/1", "vbscript:x"],
    ["http://evil.example/cb", "https://localhost/cb", "https://user:p@x.example/cb", "https://x.example/cb#f"],
    ["/callback", "", "https://x.example/cb\u202egnp.", "http://127.0.0.1.evil.example/cb"],
  ])("refuses the addresses %s, %s, %s", async (...uris) => {
    // One of them is enough.
    const given = uris.filter((uri) => uri !== undefined);
    const { redirectProblem } = await import("../../hub/src/auth/issuer/client-metadata.ts");
    for (const uri of given) expect([uri, redirectProblem(uri)]).toEqual([uri, expect.any(String)]);
    const refused = await register({ redirect_uris: ["https://x.example/cb", given[0]] });
    expect([refused.status, refused.answer["error"]]).toEqual([400, expect.stringMatching(/^invalid_/)]);
  });

  it("takes those of hosted clients, of programs on a computer, and of apps", async () => {
    const redirect_uris = [
      "https://claude.ai/api/mcp/auth_callback",
      "http://localhost:33418/",
      "http://127.0.0.1/oauth/callback",
      "cursor://anysphere.cursor-mcp/oauth/callback",
      "vscode://vscode.mcp/callback",
    ];
    expect(await register({ redirect_uris })).toMatchObject({ status: 201, answer: { redirect_uris } });
    const [row] = await at.hub.audit.query({ action: "client.registered", limit: 1 });
    expect(row).toMatchObject({ detail: "Step Client", address: "127.0.0.1" });
    expect(
      (
        await register({
          redirect_uris: Array(11)
            .fill("https://x.example/cb")
            .map((uri, n) => `${uri}${n}`),
        })
      ).status,
    ).toBe(400);
  });

  it("keeps a name of one line, and nothing that would be fetched or shown", async () => {
    const { answer } = await register({
      client_name: `  <script>alert(1)</script>\u202e\u0000\n${"long ".repeat(2000)}`,
      logo_uri: "https://evil.example/logo.png",
      client_uri: "https://evil.example",
      jwks_uri: "http://127.0.0.1:1/keys",
      sector_identifier_uri: "http://127.0.0.1:1/sectors",
      scope: "hub:admin openid",
      grant_types: ["authorization_code", "client_credentials", "implicit"],
      response_types: ["code", "token"],
    });
    expect(String(answer["client_name"])).toMatch(/^<script>alert\(1\)<\/script> [long ]+$/);
    expect(String(answer["client_name"]).length).toBeLessThanOrEqual(64);
    expect(answer).toMatchObject({ grant_types: ["authorization_code"], response_types: ["code"] });
    for (const name of ["logo_uri", "client_uri", "jwks_uri", "sector_identifier_uri", "scope"]) {
      expect(answer).not.toHaveProperty(name);
    }
  });

  it("A19 gives a secret once, and keeps only its digest", async () => {
    const response = await new StepClient(at.url).register({ token_endpoint_auth_method: "client_secret_basic" });
    const { client_id: id, client_secret: secret } = (await response.json()) as Record<string, string>;
    expect(secret).toEqual(expect.stringMatching(/^\S{32,}$/));
    const files = ["identity.db", "identity.db-wal"].map((name) => readFile(join(at.data, name), "latin1"));
    const kept = (await Promise.all(files)).join("");
    expect([kept.includes(id ?? "?"), kept.includes(secret ?? "?")]).toEqual([true, false]);
    const client = Object.assign(new StepClient(at.url), { id });
    const authorization = (password = "") => ({ authorization: `Basic ${btoa(`${id}:${password}`)}` });
    const ask = async (headers: Record<string, string>) =>
      (await client.token({ grant_type: "refresh_token", refresh_token: "pbr_x" }, headers)).status;
    // 400: the client is known, and the refresh token is not.
    expect([await ask(authorization(secret)), await ask(authorization("wrong")), await ask({})]).toEqual([
      400, 401, 401,
    ]);
  });

  it("AU-7 of a flood, an address gets 20 in an hour, and the answer says when it goes on", async () => {
    const statuses: number[] = [];
    let last: Response | undefined;
    for (let count = 0; count < 500; count++) {
      last = await new StepClient(at.url).register();
      await last.arrayBuffer();
      statuses.push(last.status);
    }
    const taken = statuses.filter((status) => status === 201).length;
    expect(taken).toBeLessThanOrEqual(20);
    expect(statuses.filter((status) => status === 429).length).toBe(500 - taken);
    const waitS = Number(last?.headers.get("retry-after"));
    expect(waitS > 0 && waitS <= 180).toBe(true);
  });
});

describe("A25 a client whose id is the address of its document", () => {
  const DOCUMENT = {
    client_name: "Documented",
    redirect_uris: ["https://client.example/cb"],
    token_endpoint_auth_method: "none",
  };

  it.each([
    "https://127.0.0.1/client.json",
    "https://[::1]/client.json",
    "https://169.254.169.254/client.json",
    "https://10.0.0.1/client.json",
    "https://localhost/client.json",
  ])("is not fetched from inside the network: %s", async (id) => {
    const client = Object.assign(new StepClient(at.url, "https://client.example/cb"), { id });
    const response = await fetch(client.authorizeUrl(), { redirect: "manual" });
    expect([response.status, response.headers.get("location")]).toEqual([503, null]);
    expect(await response.text()).toContain("cannot be checked now");
  });

  it.each([
    "http://client.example/client.json",
    "https://client.example/client.json?x=1",
    "https://client.example/client.json#x",
    "https://user@client.example/client.json",
    "https://client.example/a/../client.json",
  ])("has an address without anything that could mislead: not %s", async (id) => {
    const client = Object.assign(new StepClient(at.url, "https://client.example/cb"), { id });
    expect((await fetch(client.authorizeUrl(), { redirect: "manual" })).status).toBe(400);
  });

  describe("with a document", () => {
    const ID = "https://client.example/client.json";
    let documents: Map<string, () => Response>;
    let other: IssuerHub;

    beforeAll(async () => {
      documents = new Map();
      other = await openIssuerHub({
        server: { client_documents: ["client.example"] },
        fetchDocument: async (url) => documents.get(url)?.() ?? Promise.reject(new Error(`Not to be fetched: ${url}`)),
      });
    });

    afterAll(() => other.end());

    const clientOf = (id: string) => Object.assign(new StepClient(other.url, "https://client.example/cb"), { id });
    const refused = async (id: string, document: object | Response) => {
      documents.set(id, () => (document instanceof Response ? document : Response.json(document)));
      const response = await fetch(clientOf(id).authorizeUrl(), { redirect: "manual" });
      return [response.status, response.headers.get("location")];
    };

    it("logs in with the addresses of its document, which the person sees", async () => {
      documents.set(ID, () => Response.json({ ...DOCUMENT, client_id: ID }));
      const page = await signIn(other, clientOf(ID).authorizeUrl(), new Grant(OWNER), new Browser());
      expect(page.text).toContain("client.example");
      const { tokens } = await logIn(other, {}, clientOf(ID));
      expect(tokens.access_token).toMatch(/^pbo_/);
      const added = clientOf(ID).authorizeUrl({ redirect_uri: "https://client.example/added-later" });
      expect((await fetch(added, { redirect: "manual" })).status).toBe(400);
    });

    it("may list a method without a secret among others, as ChatGPT does", async () => {
      const id = "https://client.example/chat.json";
      const methods = {
        token_endpoint_auth_method: "private_key_jwt",
        token_endpoint_auth_methods_supported: ["private_key_jwt", "none"],
      };
      documents.set(id, () =>
        Response.json({ ...DOCUMENT, ...methods, client_id: id, jwks_uri: "https://client.example/keys" }),
      );
      const { tokens } = await logIn(other, {}, clientOf(id));
      expect(tokens.access_token).toMatch(/^pbo_/);
    });

    it.each([
      ["is of another client", { ...DOCUMENT, client_id: "https://other.example/client.json" }],
      ["has a secret", { ...DOCUMENT, client_secret: "x", client_id: "https://client.example/1" }],
      ["has no addresses", { client_id: "https://client.example/1" }],
      ["is elsewhere", new Response(null, { status: 302, headers: { location: "https://client.example/2" } })],
      ["is no object", new Response("[]")],
      ["is 5 MB", { ...DOCUMENT, client_id: "https://client.example/1", client_uri: "x".repeat(5 << 20) }],
    ])("is refused if its document %s", async (_, document) => {
      expect(await refused(`https://client.example/1`, document)).toEqual([400, null]);
    });

    it("is of a host that the settings name", async () => {
      expect(await refused("https://elsewhere.example/client.json", DOCUMENT)).toEqual([400, null]);
    });
  });
});
