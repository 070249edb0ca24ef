// The chat server over Streamable HTTP for both protocol eras: modern requests are stateless, older clients have sessions.

import { getRequestListener } from "@hono/node-server";
import { createMcpHandler, isLegacyRequest, readRequestBody, type McpHttpHandler } from "@modelcontextprotocol/server";
import { createServer, type Server } from "node:http";
import type { AddressInfo } from "node:net";
import type { App } from "../app.ts";
import { ChatError } from "../errors.ts";
import { Subscriptions } from "../live/subscriptions.ts";
import { limitBacklog } from "./bounded-stream.ts";
import { Guard } from "./guard.ts";
import { toProtocolError } from "./errors.ts";
import { startListen, type ListenOptions } from "./listen-request.ts";
import { ChatServers } from "./server.ts";
import { errorResponse, Sessions } from "./sessions.ts";

export interface HttpOptions {
  readonly host: string;
  readonly port: number;
  readonly token: string | undefined;
  /** Timeout for receiving a request. */
  readonly connectionMs?: number;
}

const PATH = "/mcp";
const CONNECTION_MS = 30_000;
const CHECK_MS = 1000;
const MAX_SOCKETS = 2048;
/** Backlog of a client that does not read; beyond it, the stream is closed. */
const MAX_WAITING = 1000;

export class HttpEndpoint {
  readonly #server: Server;
  readonly #modern: McpHttpHandler;
  readonly #sessions: Sessions;
  readonly #subscriptions: Subscriptions;
  readonly #toError: ListenOptions["toError"];
  readonly #stopListChanges: () => void;
  readonly #host: string;

  private constructor(app: App, { host, token, connectionMs = CONNECTION_MS }: HttpOptions) {
    const guard = new Guard({ host, token });
    const servers = new ChatServers(app);
    const onError = (error: unknown): void =>
      app.log(`warning: ${error instanceof Error ? error.message : String(error)}`);
    this.#host = host;
    this.#sessions = new Sessions(app, servers);
    this.#modern = createMcpHandler(() => servers.create(), { legacy: "reject" });
    this.#toError = (thrown) => toProtocolError(thrown, app.reader.presenter, app.log);
    this.#stopListChanges = app.listChanges.listen((kind) =>
      this.#modern.bus.publish({ kind: `${kind}_list_changed` }),
    );
    this.#subscriptions = new Subscriptions({
      reader: app.reader,
      feed: app.feed,
      onError,
      notify: ({ uri, _meta }) => this.#modern.bus.publish({ kind: "resource_updated", uri, params: { _meta } }),
    });
    const answer = getRequestListener((request: Request) => this.#handle(request), { overrideGlobalObjects: false });
    this.#server = createServer(
      { connectionsCheckingInterval: Math.min(CHECK_MS, connectionMs) },
      (request, response) => {
        const refused = guard.check(request.headers);
        if (refused === undefined) return void answer(request, response).catch(onError);
        const { status, code, message, headers } = refused;
        const body = JSON.stringify({ jsonrpc: "2.0", error: { code: -32_001, message, data: { code } }, id: null });
        response.writeHead(status, { ...headers, "content-type": "application/json", connection: "close" }).end(body);
      },
    );
    Object.assign(this.#server, {
      headersTimeout: connectionMs,
      requestTimeout: connectionMs,
      maxConnections: MAX_SOCKETS,
    });
  }

  static async open(app: App, options: HttpOptions): Promise<HttpEndpoint> {
    const endpoint = new HttpEndpoint(app, options);
    await new Promise<void>((resolve, reject) => {
      endpoint.#server.once("error", (error) => reject(listenError(error, options)));
      endpoint.#server.listen(options.port, options.host, resolve);
    });
    return endpoint;
  }

  get url(): string {
    // eslint-disable-next-line typescript/no-unsafe-type-assertion -- a TCP listener always has an AddressInfo
    const { port } = this.#server.address() as AddressInfo;
    return `http://${this.#host.includes(":") ? `[${this.#host}]` : this.#host}:${port}${PATH}`;
  }

  /** Stops accepting connections. Requests in progress must have been answered before. */
  async close(): Promise<void> {
    const closed = new Promise<void>((resolve) => this.#server.close(() => resolve()));
    this.#subscriptions.close();
    this.#stopListChanges();
    await Promise.all([this.#modern.close(), this.#sessions.close()]);
    this.#server.closeIdleConnections();
    // Open streams would keep the server from closing.
    setTimeout(() => this.#server.closeAllConnections(), 500).unref();
    await closed;
  }

  async #handle(request: Request): Promise<Response> {
    const { pathname } = new URL(request.url);
    if (pathname === "/healthz") return Response.json({ status: "ok" });
    if (pathname !== PATH) return errorResponse(404, `Not found. MCP is at ${PATH}`);
    if (request.method !== "POST") {
      return request.headers.has("mcp-session-id")
        ? this.#sessions.handle(request, undefined)
        : errorResponse(405, "Method not allowed", { headers: { allow: "POST" } });
    }
    const body = await readRequestBody(request);
    if (body.tooLarge) return errorResponse(413, "The request is too large", { code: -32_000 });
    let parsedBody: unknown;
    try {
      parsedBody = JSON.parse(body.text);
    } catch {
      return errorResponse(400, "Parse error: the request body is not valid JSON", { code: -32_700 });
    }
    if (await isLegacyRequest(request, parsedBody)) return this.#sessions.handle(request, parsedBody);
    const listen = startListen(parsedBody, { subscriptions: this.#subscriptions, toError: this.#toError });
    if (listen === undefined) return this.#modern.fetch(request, { parsedBody });
    if (listen.status === "refused") return Response.json(listen.answer);
    const response = await this.#modern.fetch(request, { parsedBody: listen.message });
    return limitBacklog(response, { limit: MAX_WAITING, onEnd: () => listen.end() });
  }
}

function listenError(error: Error, { host, port }: HttpOptions): ChatError {
  const reason = "code" in error && error.code === "EADDRINUSE" ? "is in use" : `cannot be opened: ${error.message}`;
  return new ChatError(
    "INVALID_PARAMETER",
    `Port ${port} of ${host} ${reason}`,
    { field: "port", hint: "Use another --port, or 0 for any" },
    error,
  );
}
