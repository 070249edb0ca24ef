// A protected MCP server: the official SDK over Streamable HTTP, in both eras, behind its own bearer check. Tokens are JWTs of
// the authorization servers that it names, made for its address. It records everything that reaches it.

import { once } from "node:events";
import { createServer, type IncomingHttpHeaders, type IncomingMessage, type ServerResponse } from "node:http";
import type { AddressInfo } from "node:net";
import { Readable } from "node:stream";
import { pipeline } from "node:stream/promises";
import {
  bearerAuthChallengeResponse,
  createMcpHandler,
  McpServer,
  OAuthError,
  OAuthErrorCode,
  verifyBearerToken,
  type AuthInfo,
} from "@modelcontextprotocol/server";
import { createRemoteJWKSet, jwtVerify, type JWTPayload } from "jose";
import { z } from "zod";
import { checkDpopProof } from "./dpop-check.ts";
import { bodyOf } from "./front.ts";

/** A request to the MCP endpoint or to a metadata address. */
export interface Received {
  readonly method: string;
  readonly path: string;
  readonly headers: IncomingHttpHeaders;
  readonly body: string;
  status?: number;
}

/** May be changed while it runs. */
export interface ProtectedSettings {
  /** Issuers, in the order of its metadata. */
  issuers: readonly string[];
  /** Scopes that every request needs. */
  scopes: readonly string[];
  /** Further scopes that single tools need. */
  readonly toolScopes: Readonly<Record<string, string>>;
  /** Where the keys of an issuer are. */
  keysOf: (issuer: string) => string;
  /** What the header of an access token says. */
  tokenType: "at+jwt" | "JWT";
  /** Whether tokens have to be bound to a key. */
  dpop: boolean;
  /** Whether the challenge says where the metadata is. */
  pointsToMetadata: boolean;
  /** Changes the metadata document, or answers in another way. */
  metadata: (document: Record<string, unknown>) => unknown;
}

/** Of a request to the MCP endpoint. */
type Stage = "received" | "accepted";

interface Hold {
  readonly reached: Promise<void>;
  release(): void;
}

export class ProtectedServer {
  readonly received: Received[] = [];
  /** The tools that ran, in order. */
  readonly calls: string[] = [];
  readonly settings: ProtectedSettings;
  readonly #path: string;
  readonly #server = createServer((request, response) => void this.#handle(request, response));
  /** By account: one learns nothing about another. */
  readonly #mcp = new Map<string, ReturnType<typeof createMcpHandler>>();
  readonly #keys = new Map<string, ReturnType<typeof createRemoteJWKSet>>();
  readonly #verified = new Map<string, JWTPayload>();
  /** Tokens that are refused although they have not expired. */
  readonly #revoked = new Set<string>();
  #hold: ((stage: Stage, body: string) => Promise<void> | undefined) | undefined;

  private constructor(path: string, settings: ProtectedSettings) {
    this.#path = path;
    this.settings = settings;
  }

  static async open(
    issuers: readonly string[],
    { path = "/mcp", ...settings }: Partial<ProtectedSettings> & { readonly path?: string } = {},
  ): Promise<ProtectedServer> {
    const server = new ProtectedServer(path, {
      issuers,
      scopes: ["mcp"],
      toolScopes: { admin: "mcp:admin" },
      keysOf: (issuer) => `${issuer}/jwks`,
      tokenType: "at+jwt",
      dpop: false,
      pointsToMetadata: true,
      metadata: (document) => document,
      ...settings,
    });
    server.#server.listen(0, "127.0.0.1");
    await once(server.#server, "listening");
    return server;
  }

  get origin(): string {
    return `http://127.0.0.1:${(this.#server.address() as AddressInfo).port}`;
  }

  get url(): string {
    return `${this.origin}${this.#path}`;
  }

  get metadataUrl(): string {
    return `${this.origin}/.well-known/oauth-protected-resource${this.#path}`;
  }

  /** All scopes that it knows. */
  get allScopes(): readonly string[] {
    return [...this.settings.scopes, ...Object.values(this.settings.toolScopes)];
  }

  /** Requests to the MCP endpoint that carried a credential. */
  get authorized(): Received[] {
    return this.received.filter(({ path, headers }) => path === this.#path && headers.authorization !== undefined);
  }

  /** Refuses every token that it has accepted so far. */
  revokeTokens(): void {
    for (const token of this.#verified.keys()) this.#revoked.add(token);
    this.#verified.clear();
  }

  /** Holds requests that contain this text, before or after their token is checked. */
  hold(text: string, stage: Stage): Hold {
    let onReached: () => void = () => undefined;
    const reached = new Promise<void>((resolve) => (onReached = resolve));
    let release: () => void = () => undefined;
    const released = new Promise<void>((resolve) => (release = resolve));
    this.#hold = (at, body) => {
      if (at !== stage || !body.includes(text)) return undefined;
      onReached();
      return released;
    };
    return { reached, release };
  }

  /** A resource changes, for one account. */
  touch(account: string, uri: string): void {
    this.#mcpOf(account).notify.resourceUpdated(uri);
  }

  async close(): Promise<void> {
    for (const mcp of this.#mcp.values()) await mcp.close();
    const closed = once(this.#server, "close");
    this.#server.close();
    this.#server.closeAllConnections();
    await closed;
  }

  async #handle(incoming: IncomingMessage, outgoing: ServerResponse): Promise<void> {
    const body = (await bodyOf(incoming)).toString();
    const { pathname } = new URL(incoming.url ?? "/", this.origin);
    const received: Received = { method: incoming.method ?? "", path: pathname, headers: incoming.headers, body };
    this.received.push(received);
    const response = await this.#answer(received, outgoing);
    received.status = response.status;
    outgoing.writeHead(response.status, Object.fromEntries(response.headers)).flushHeaders();
    if (response.body === null) return void outgoing.end();
    // A client may disconnect before the end.
    await pipeline(Readable.fromWeb(response.body as never), outgoing).catch(() => undefined);
  }

  async #answer(received: Received, outgoing: ServerResponse): Promise<Response> {
    const { method, path, headers, body } = received;
    if (`${this.origin}${path}` === this.metadataUrl) return this.#describe();
    if (path !== this.#path) return new Response("not found", { status: 404 });
    try {
      await this.#hold?.("received", body);
      const authInfo = await this.#authorize(received);
      await this.#hold?.("accepted", body);
      const gone = new AbortController();
      outgoing.on("close", () => gone.abort());
      const request = new Request(this.url, {
        method,
        headers: Object.entries(headers).map(([name, value]): [string, string] => [name, String(value)]),
        signal: gone.signal,
        ...(body === "" ? {} : { body }),
      });
      return await this.#mcpOf(String(authInfo.extra?.["sub"])).fetch(request, { authInfo });
    } catch (error) {
      return this.#challenge(error);
    }
  }

  #describe(): Response {
    const document = this.settings.metadata({
      resource: this.url,
      authorization_servers: this.settings.issuers,
      scopes_supported: this.allScopes,
      ...(this.settings.dpop ? { dpop_bound_access_tokens_required: true } : {}),
    });
    return document instanceof Response ? document : Response.json(document);
  }

  async #authorize({ method, headers, body }: Received): Promise<AuthInfo> {
    const { dpop, scopes } = this.settings;
    const verifier = { verifyAccessToken: (token: string) => this.#verify(token) };
    const bearer = headers.authorization?.replace(/^DPoP /i, dpop ? "Bearer " : "DPoP ");
    const info = await verifyBearerToken(bearer, {
      verifier,
      requiredScopes: [...scopes],
      expectedResource: new URL(this.url),
    });
    if (dpop) {
      const problem = await checkDpopProof({
        method,
        url: this.url,
        headers,
        payload: await this.#payload(info.token),
      });
      if (problem !== undefined) throw new OAuthError(OAuthErrorCode.InvalidToken, problem);
    }
    const missing = toolsCalledIn(body).flatMap((tool) => this.settings.toolScopes[tool] ?? []);
    if (missing.some((scope) => !info.scopes.includes(scope))) throw new MissingScope(missing);
    return info;
  }

  async #verify(token: string): Promise<AuthInfo> {
    const { sub, exp = 0, scope, client_id: clientId } = await this.#payload(token);
    return {
      token,
      clientId: String(clientId),
      scopes: typeof scope === "string" ? scope.split(" ") : [],
      expiresAt: exp,
      resource: new URL(this.url),
      extra: { sub },
    };
  }

  async #payload(token: string): Promise<JWTPayload> {
    const known = this.#verified.get(token);
    if (known !== undefined) return known;
    if (this.#revoked.has(token)) throw new OAuthError(OAuthErrorCode.InvalidToken, "revoked");
    const { issuers, tokenType, keysOf } = this.settings;
    for (const issuer of issuers) {
      const keys = this.#keys.get(issuer) ?? createRemoteJWKSet(new URL(keysOf(issuer)));
      this.#keys.set(issuer, keys);
      const verified = await jwtVerify(token, keys, { issuer, audience: this.url, typ: tokenType }).catch(
        () => undefined,
      );
      if (verified === undefined) continue;
      this.#verified.set(token, verified.payload);
      return verified.payload;
    }
    throw new OAuthError(OAuthErrorCode.InvalidToken, "not a valid token of a known issuer");
  }

  #challenge(error: unknown): Response {
    const { scopes, dpop, pointsToMetadata } = this.settings;
    const required = error instanceof MissingScope ? error.scopes : scopes;
    const response = bearerAuthChallengeResponse(error, {
      requiredScopes: [...required],
      ...(pointsToMetadata ? { resourceMetadataUrl: this.metadataUrl } : {}),
    });
    const header = response.headers.get("www-authenticate");
    if (!dpop || header === null) return response;
    const headers = new Headers(response.headers);
    headers.set("www-authenticate", header.replace(/^Bearer/, "DPoP"));
    return new Response(response.body, { status: response.status, headers });
  }

  #mcpOf(account: string): ReturnType<typeof createMcpHandler> {
    const mcp = this.#mcp.get(account) ?? createMcpHandler(() => this.#createServer());
    this.#mcp.set(account, mcp);
    return mcp;
  }

  #createServer(): McpServer {
    const capabilities = { resources: { subscribe: true } };
    const server = new McpServer({ name: "protected", version: "1" }, { capabilities });
    server.registerResource("inbox", "inbox:all", {}, () => ({ contents: [{ uri: "inbox:all", text: "empty" }] }));
    const text = (value: string) => ({ content: [{ type: "text" as const, text: value }] });
    server.registerTool("whoami", { inputSchema: z.object({}) }, (_, { http }) => {
      this.calls.push("whoami");
      return text(JSON.stringify({ sub: http?.authInfo?.extra?.["sub"], scopes: http?.authInfo?.scopes }));
    });
    server.registerTool("echo", { inputSchema: z.object({ text: z.string() }) }, ({ text: said }) => {
      this.calls.push("echo");
      return text(said);
    });
    server.registerTool("admin", { inputSchema: z.object({}) }, () => {
      this.calls.push("admin");
      return text("done");
    });
    return server;
  }
}

class MissingScope extends OAuthError {
  readonly scopes: readonly string[];

  constructor(scopes: readonly string[]) {
    super(OAuthErrorCode.InsufficientScope, `This tool needs ${scopes.join(" ")}.`);
    this.scopes = scopes;
  }
}

function toolsCalledIn(body: string): string[] {
  if (!body.includes('"tools/call"')) return [];
  const message = JSON.parse(body) as { method?: string; params?: { name?: string } };
  return message.method === "tools/call" && message.params?.name !== undefined ? [message.params.name] : [];
}
