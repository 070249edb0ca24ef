// An identity provider that issues whatever token a test wants: keys, metadata and introspection without a login. Served by a
// fetch, or over HTTP.

import { once } from "node:events";
import { createServer } from "node:http";
import type { AddressInfo } from "node:net";
import { exportJWK, generateKeyPair, SignJWT, type CryptoKey, type JSONWebKeySet, type JWTPayload } from "jose";

export interface SigningKey {
  readonly kid: string;
  readonly alg: string;
  readonly privateKey: CryptoKey;
  readonly publicKey: CryptoKey;
}

export interface TokenOptions {
  readonly key?: SigningKey;
  readonly header?: Readonly<Record<string, unknown>>;
}

export class TokenIssuer {
  /** Without a slash at the end. */
  url: string;
  /** Requests by path. */
  readonly requests: string[] = [];
  /** What introspection answers about a token. */
  readonly active = new Map<string, unknown>();
  /** The status of all answers but 200. */
  failure: number | undefined;
  keys: SigningKey[];
  readonly #now: () => number;

  private constructor(url: string, key: SigningKey, now: () => number) {
    this.url = url;
    this.keys = [key];
    this.#now = now;
  }

  static async create(url = "https://idp.example.com", now: () => number = Date.now): Promise<TokenIssuer> {
    return new TokenIssuer(url, await newKey("first"), now);
  }

  get key(): SigningKey {
    const [first] = this.keys;
    if (first === undefined) throw new Error("the issuer has no key");
    return first;
  }

  /** A token that is valid for an hour, unless the claims say otherwise. */
  token(claims: JWTPayload, { key = this.key, header = {} }: TokenOptions = {}): Promise<string> {
    const now = Math.floor(this.#now() / 1000);
    return new SignJWT({ iss: this.url, sub: "alice", scope: "mcp", iat: now, exp: now + 3600, ...claims })
      .setProtectedHeader({ alg: key.alg, kid: key.kid, typ: "at+jwt", ...header })
      .sign(key.privateKey);
  }

  count(path: string): number {
    return this.requests.filter((each) => each === path).length;
  }

  readonly fetch = async (
    address: string | URL,
    init?: { readonly body?: string | URLSearchParams | undefined },
  ): Promise<Response> => {
    const { status, body } = await this.#answer(new URL(address).pathname, (init?.body ?? "").toString());
    return new Response(body, { status });
  };

  /** Over HTTP, at an address of its own. Returns how to close it. */
  async listen(): Promise<() => void> {
    const server = createServer((request, response) => {
      void (async () => {
        let form = "";
        for await (const chunk of request.setEncoding("utf8")) form += String(chunk);
        const { status, body } = await this.#answer(request.url ?? "", form);
        response.writeHead(status, { "content-type": "application/json" }).end(body);
      })();
    }).listen(0, "127.0.0.1");
    await once(server, "listening");
    this.url = `http://127.0.0.1:${(server.address() as AddressInfo).port}`;
    return () => {
      server.close();
      server.closeAllConnections();
    };
  }

  async #answer(path: string, form: string): Promise<{ readonly status: number; readonly body: string }> {
    this.requests.push(path);
    if (this.failure !== undefined) return { status: this.failure, body: "<html>out of order</html>" };
    if (path === "/.well-known/oauth-authorization-server") return json(this.#metadata());
    if (path === "/jwks") return json(await this.#keySet());
    if (path === "/introspect")
      return json(this.active.get(new URLSearchParams(form).get("token") ?? "") ?? { active: false });
    return { status: 404, body: "" };
  }

  #metadata(): object {
    return { issuer: this.url, jwks_uri: `${this.url}/jwks`, introspection_endpoint: `${this.url}/introspect` };
  }

  async #keySet(): Promise<JSONWebKeySet> {
    const keys = this.keys.map(async ({ kid, alg, publicKey }) => ({ ...(await exportJWK(publicKey)), kid, alg }));
    return { keys: await Promise.all(keys) };
  }
}

export async function newKey(kid: string, alg = "ES256"): Promise<SigningKey> {
  return { kid, alg, ...(await generateKeyPair(alg, { extractable: true })) };
}

function json(value: unknown) {
  return { status: 200, body: JSON.stringify(value) };
}
