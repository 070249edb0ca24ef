// The chat server over Streamable HTTP: one listener for all clients. What a client sees is that of its backend (http-backend.ts): all
// of what chat.json shows, or, with an access token of the hub, what that may see.

import { getRequestListener } from "@hono/node-server";
import { readRequestBody } from "@modelcontextprotocol/server";
import { createServer, type IncomingMessage, type Server, type ServerResponse } from "node:http";
import type { AddressInfo } from "node:net";
import type { App } from "../app.ts";
import { ChatError } from "../errors.ts";
import { Guard, type Refusal } from "./guard.ts";
import { HttpBackend } from "./http-backend.ts";
import { errorResponse } from "./sessions.ts";
import { TokenBackends } from "./token-backends.ts";

export interface HttpOptions {
  readonly host: string;
  readonly port: number;
  readonly token: string | undefined;
  /** The hub's identity.db, whose access tokens are accepted. Undefined: none are. */
  readonly identity?: string | undefined;
  /** Timeout for receiving a request. */
  readonly connectionMs?: number;
}

const PATH = "/mcp";
const CONNECTION_MS = 30_000;
const CHECK_MS = 1000;
const MAX_SOCKETS = 2048;

export class HttpEndpoint {
  readonly #server: Server;
  readonly #whole: HttpBackend;
  readonly #limited: TokenBackends;
  readonly #host: string;

  private constructor(app: App, { host, token, identity, connectionMs = CONNECTION_MS }: HttpOptions) {
    const needsToken = () => app.reader.policy.access !== undefined;
    const guard = new Guard({ host, token, needsToken });
    const onError = (error: unknown): void =>
      app.log(`warning: ${error instanceof Error ? error.message : String(error)}`);
    this.#host = host;
    this.#whole = new HttpBackend(app, onError);
    this.#limited = new TokenBackends(app, { identity, onError });
    const answer = async (request: IncomingMessage, response: ServerResponse): Promise<void> => {
      const admitted = guard.check(request.headers);
      const found =
        admitted.as === "token"
          ? await this.#limited.find(admitted.token, guard)
          : { ...admitted, backend: this.#whole };
      if (found.as === "refused") return refuse(response, found.refusal);
      const { backend } = found;
      const handle = (incoming: Request) => handleWith(backend, incoming);
      await getRequestListener(handle, { overrideGlobalObjects: false })(request, response);
    };
    this.#server = createServer(
      { connectionsCheckingInterval: Math.min(CHECK_MS, connectionMs) },
      (request, response) => {
        void answer(request, response).catch((error: unknown) => {
          onError(error);
          response.destroy();
        });
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
    await Promise.all([this.#whole.close(), this.#limited.close()]);
    this.#server.closeIdleConnections();
    // Open streams would keep the server from closing.
    setTimeout(() => this.#server.closeAllConnections(), 500).unref();
    await closed;
  }
}

async function handleWith(backend: HttpBackend, request: Request): Promise<Response> {
  const { pathname } = new URL(request.url);
  if (pathname === "/healthz") return Response.json({ status: "ok" });
  if (pathname !== PATH) return errorResponse(404, `Not found. MCP is at ${PATH}`);
  if (request.method !== "POST") {
    return request.headers.has("mcp-session-id")
      ? backend.handleSession(request)
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
  return backend.handle(request, parsedBody);
}

function refuse(response: ServerResponse, { status, code, message, headers }: Refusal): void {
  const body = JSON.stringify({ jsonrpc: "2.0", error: { code: -32_001, message, data: { code } }, id: null });
  response.writeHead(status, { ...headers, "content-type": "application/json", connection: "close" }).end(body);
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
