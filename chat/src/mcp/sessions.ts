// HTTP sessions of clients before 2026-07-28, each with its own SDK server and subscriptions.

import { WebStandardStreamableHTTPServerTransport, type JSONRPCMessage } from "@modelcontextprotocol/server";
import { randomUUID } from "node:crypto";
import type { App } from "../app.ts";
import { Subscriptions } from "../live/subscriptions.ts";
import { withLegacyCode } from "./errors.ts";
import { notifyListChanges, type ChatServers } from "./server.ts";

interface Session {
  readonly transport: WebStandardStreamableHTTPServerTransport;
  readonly subscriptions: Subscriptions;
  usedAt: number;
}

const MAX_SESSIONS = 1000;
/** Idle sessions are ended after this time. */
const IDLE_MS = 3_600_000;
const SWEEP_MS = 60_000;

export class Sessions {
  readonly #app: App;
  readonly #servers: ChatServers;
  /** Least recently used first. */
  readonly #sessions = new Map<string, Session>();
  readonly #timer: NodeJS.Timeout;

  constructor(app: App, servers: ChatServers) {
    this.#app = app;
    this.#servers = servers;
    this.#timer = setInterval(() => this.#closeIdle(), SWEEP_MS);
  }

  async handle(request: Request, parsedBody: unknown): Promise<Response> {
    const id = request.headers.get("mcp-session-id");
    const session = id === null ? await this.#begin() : this.#sessions.get(id);
    if (session === undefined) return errorResponse(404, "Session not found");
    if (id !== null) this.#touch(id, session);
    const response = await session.transport.handleRequest(request, parsedBody === undefined ? {} : { parsedBody });
    // A request other than initialize creates no session: discard the transport.
    if (session.transport.sessionId === undefined) await session.transport.close();
    return response;
  }

  async close(): Promise<void> {
    clearInterval(this.#timer);
    await Promise.all([...this.#sessions.values()].map(({ transport }) => transport.close()));
  }

  async #begin(): Promise<Session> {
    const { reader, feed, log } = this.#app;
    const onError = (error: unknown): void => log(`warning: ${error instanceof Error ? error.message : String(error)}`);
    const transport = new LegacyTransport({
      sessionIdGenerator: randomUUID,
      onsessioninitialized: (id) => {
        this.#sessions.set(id, session);
        const [oldest] = this.#sessions;
        if (this.#sessions.size > MAX_SESSIONS && oldest !== undefined) void oldest[1].transport.close().catch(onError);
      },
    });
    const subscriptions = new Subscriptions({
      reader,
      feed,
      onError,
      notify: (update) =>
        void server.notification({ method: "notifications/resources/updated", params: { ...update } }).catch(onError),
    });
    const server = this.#servers.create(subscriptions);
    const stopListChanges = notifyListChanges(this.#app, server, onError);
    const session: Session = { transport, subscriptions, usedAt: performance.now() };
    // eslint-disable-next-line unicorn/prefer-add-event-listener -- the SDK's server is not an event target
    server.onclose = () => {
      subscriptions.close();
      stopListChanges();
      if (transport.sessionId !== undefined) this.#sessions.delete(transport.sessionId);
    };
    // eslint-disable-next-line unicorn/prefer-add-event-listener -- likewise
    server.onerror = onError;
    await server.connect(transport);
    return session;
  }

  #touch(id: string, session: Session): void {
    session.usedAt = performance.now();
    this.#sessions.delete(id);
    this.#sessions.set(id, session);
  }

  #closeIdle(): void {
    for (const { transport, usedAt } of this.#sessions.values()) {
      if (performance.now() - usedAt < IDLE_MS) break;
      void transport.close().catch(() => undefined); // removed either way
    }
  }
}

class LegacyTransport extends WebStandardStreamableHTTPServerTransport {
  override send(
    message: JSONRPCMessage,
    options?: Parameters<WebStandardStreamableHTTPServerTransport["send"]>[1],
  ): Promise<void> {
    return super.send(withLegacyCode(message), options);
  }
}

export function errorResponse(
  status: number,
  message: string,
  { code = -32_001, data, headers = {} }: RefusalOptions = {},
): Response {
  const error = { code, message, ...(data === undefined ? {} : { data }) };
  return Response.json({ jsonrpc: "2.0", error, id: null }, { status, headers: { ...headers } });
}

interface RefusalOptions {
  readonly code?: number;
  readonly data?: unknown;
  readonly headers?: Readonly<Record<string, string>>;
}
