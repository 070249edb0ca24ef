// Streamable HTTP, server side, over real sockets, for the tests of http-server.ts.

import { EventEmitter, once } from "node:events";
import { createServer, type Server, type ServerResponse } from "node:http";
import { setImmediate as turn } from "node:timers/promises";
import { afterEach, beforeEach, expect } from "vitest";
import type { Cancellation } from "../../hub/src/lib/cancellation.ts";
import { META, MODERN_VERSION } from "../../hub/src/protocol/revisions/era.ts";
import { StreamableHttpServer } from "../../hub/src/protocol/serve/http-server.ts";
import { failure, raw, RPC, success, type Raw, type Reply } from "../../hub/src/protocol/rpc/jsonrpc.ts";
import { NodeResponse } from "../../hub/src/http/node-response.ts";
import type { IncomingRequest, Service, Session } from "../../hub/src/protocol/serve/service.ts";
import { listen } from "./sockets.ts";

export const HELLO = { protocolVersion: "2025-06-18", capabilities: {}, clientInfo: { name: "c" } };
export const JSON_HEADERS = { "content-type": "application/json", accept: "application/json, text/event-stream" };
export type Headers = Readonly<Record<string, string>>;

const ENVELOPE = { [META.version]: MODERN_VERSION, [META.clientCapabilities]: {} };

/** A service with the test's methods. Records everything; `until` waits for it. */
export class TestService implements Service {
  readonly exchanges: IncomingRequest[] = [];
  readonly sessions = new Set<Session>();
  readonly notified: string[] = [];
  readonly news = new EventEmitter();
  methods: Record<string, (incoming: IncomingRequest) => Promise<Reply>> = {};

  constructor() {
    this.reset();
  }

  reset(): void {
    this.exchanges.length = 0;
    this.notified.length = 0;
    this.methods = defaultMethods();
  }

  async handle(incoming: IncomingRequest): Promise<Reply> {
    this.exchanges.push(incoming);
    this.news.emit("news");
    const method = this.methods[incoming.request.method];
    return method === undefined ? failure({ code: RPC.methodNotFound, message: "unknown" }) : method(incoming);
  }

  onNotification({ method }: { method: string }, session: Session | undefined): void {
    this.notified.push(`${method} ${session === undefined ? "-" : "session"}`);
  }

  onSession(session: Session): void {
    this.sessions.add(session);
  }

  onSessionEnd(session: Session): void {
    this.sessions.delete(session);
  }

  async incoming(method: string): Promise<IncomingRequest> {
    for (;;) {
      const found = this.exchanges.findLast(({ request }) => request.method === method);
      if (found !== undefined) return found;
      await once(this.news, "news");
    }
  }
}

function defaultMethods(): TestService["methods"] {
  return {
    saw: async ({ era, session, logLevel }) => success({ era, version: session?.version, logLevel }),
    wait: ({ signal }) => aborted(signal).then(() => failure({ code: -31499, message: "cancelled" })),
    talk: async (incoming) => {
      incoming.notify("notifications/progress", raw({ progressToken: 1, progress: 1 }));
      incoming.notify("notifications/message", raw({ level: "info", data: "ü" }));
      return success({ done: true });
    },
    fail: async ({ request }) => failure({ code: Number(request.params?.value["code"]), message: "no" }),
    "tools/call": async () => success({ content: [] }),
    initialize: async ({ session }) => success({ protocolVersion: session?.version }),
  };
}

export function aborted(signal: Cancellation): Promise<void> {
  return new Promise((resolve) => {
    if (signal.aborted) resolve();
    else signal.addEventListener("abort", () => resolve(), { once: true });
  });
}

/** A server on a real socket for each test. Checks after each test that no session is left. */
export function useHttpServer() {
  const service = new TestService();
  const responses: ServerResponse[] = [];
  let endpoint: StreamableHttpServer;
  let server: Server;
  let url: string;

  beforeEach(async () => {
    service.reset();
    responses.length = 0;
    endpoint = new StreamableHttpServer(service);
    server = createServer((request, response) => {
      responses.push(response);
      endpoint.handle(request, new NodeResponse(response));
    });
    url = `http://127.0.0.1:${await listen(server)}/mcp`;
  });
  afterEach(async () => {
    endpoint.close();
    server.closeAllConnections();
    await new Promise((resolve) => server.close(resolve));
    expect(service.sessions.size, "sessions left open").toBe(0);
  });

  const post = (message: unknown, headers: Headers = {}, signal?: AbortSignal): Promise<Response> => {
    const body = typeof message === "string" || message instanceof Uint8Array ? message : JSON.stringify(message);
    const own = { ...JSON_HEADERS, ...headers };
    return fetch(url, { method: "POST", headers: own, body, ...(signal ? { signal } : {}) });
  };

  return {
    url: () => url,
    server: () => server,
    endpoint: () => endpoint,
    service,
    /** The responses of the test, in order. */
    responses,
    post,
    get: (headers: Headers, signal?: AbortSignal) =>
      fetch(url, { headers: { accept: "text/event-stream", ...headers }, ...(signal ? { signal } : {}) }),
    /** The header of a new legacy session. */
    openSession: async (protocolVersion = HELLO.protocolVersion): Promise<{ "mcp-session-id": string }> => {
      const response = await post(rpc(0, "initialize", { ...HELLO, protocolVersion }));
      await response.text();
      return { "mcp-session-id": response.headers.get("mcp-session-id") ?? "" };
    },
    modern: (
      method: string,
      params: Readonly<Record<string, unknown>> = {},
      headers: Headers = {},
      signal?: AbortSignal,
    ) => {
      const name = params["name"];
      const own = {
        "mcp-protocol-version": MODERN_VERSION,
        "mcp-method": method,
        ...(typeof name === "string" ? { "mcp-name": name } : {}),
      };
      return post(rpc(1, method, { ...params, _meta: ENVELOPE }), { ...own, ...headers }, signal);
    },
    /** Sends 64 KB at a time until the newest response is cut off. Returns how often, at most a thousand times. */
    flood: async (say: (message: Raw) => void): Promise<number> => {
      const message = raw({ data: "x".repeat(64 << 10) });
      const response = responses.at(-1);
      for (let sent = 0; sent < 1000; sent++) {
        if (response?.destroyed === true) return sent;
        say(message);
        await turn();
      }
      return 1000;
    },
  };
}

export const rpc = (id: unknown, method: string, params?: unknown) => ({ jsonrpc: "2.0", id, method, params });

/** The status and, if there is a body, its result or the code and id of its error. */
export async function outcome(
  response: Promise<Response>,
): Promise<{ status: number; code?: number; id?: unknown; result?: unknown }> {
  const { status, body } = await response.then(async (given) => ({ status: given.status, body: await given.text() }));
  if (body === "") return { status };
  const { error, id, result } = JSON.parse(body);
  return { status, id, ...(error === undefined ? { result } : { code: error.code }) };
}

/** The text of a stream as it arrives. */
export function reader(response: Response) {
  const decoder = new TextDecoder();
  const chunks = response.body?.getReader();
  let text = "";
  return {
    until: async (part: string) => {
      while (!text.includes(part)) {
        const next = await chunks?.read();
        if (next === undefined || next.done) throw new Error(`the stream ended without ${part}: ${text}`);
        text += decoder.decode(next.value, { stream: true });
      }
      return text;
    },
    rest: async () => {
      for (let next = await chunks?.read(); next !== undefined && !next.done; next = await chunks?.read()) {
        text += decoder.decode(next.value, { stream: true });
      }
      return text;
    },
  };
}

/** The messages of an event stream. */
export const messagesOf = (text: string) =>
  text
    .split("\n")
    .filter((line) => line.startsWith("data: {"))
    .map((line) => JSON.parse(line.slice("data: ".length)));
