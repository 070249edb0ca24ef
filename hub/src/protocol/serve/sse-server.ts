// MCP over HTTP+SSE (2024-11-05), server side: a client's GET opens its session and carries all messages to it; its own messages
// are POSTed to the endpoint that the stream names first. The session ends with the stream.

import { randomUUID } from "node:crypto";
import type { IncomingMessage } from "node:http";
import { isArray } from "../rpc/batch.ts";
import { ClientConnection } from "./connection.ts";
import { EventStream, type HttpResponse } from "./http-response.ts";
import { accepts, MAX_DEPTH, readPost, refuse } from "./http-request.ts";
import { onOneLine } from "../../lib/json/json.ts";
import { readMessage, RPC } from "../rpc/jsonrpc.ts";
import type { Requester, Service } from "./service.ts";

interface Client {
  readonly connection: ClientConnection;
  readonly stream: EventStream;
  readonly owner: string | undefined;
}

const MAX_SESSIONS = 1000;

export class SseServer {
  readonly #service: Service;
  readonly #clients = new Map<string, Client>();

  constructor(service: Service) {
    this.#service = service;
  }

  get sessionCount(): number {
    return this.#clients.size;
  }

  /** Opens a client's stream. `endpoint` is the path for its messages; the session id is added to it. */
  open(request: IncomingMessage, response: HttpResponse, endpoint: string, requester?: Requester): void {
    if (request.method !== "GET") return notAllowed(request, response, "GET");
    if (!accepts(request, "text/event-stream")) {
      return refuse(response, 406, RPC.invalidRequest, "A GET needs the header Accept: text/event-stream");
    }
    if (this.#clients.size >= MAX_SESSIONS) {
      return refuse(response, 503, RPC.invalidRequest, `Too many sessions (${MAX_SESSIONS})`);
    }
    const id = randomUUID();
    const stream = new EventStream(response);
    const connection = new ClientConnection({
      service: this.#service,
      transport: "sse",
      sessionId: id,
      headers: request.headers,
      requester,
      send: (message) => stream.send(onOneLine(message)),
      disconnect: () => {
        connection.end();
        stream.end();
      },
    });
    this.#clients.set(id, { connection, stream, owner: requester?.owner });
    const release = requester?.onceEnded(() => {
      this.#clients.delete(id);
      connection.end();
      stream.end();
    });
    response.onceClosed(() => {
      release?.();
      this.#clients.delete(id);
      connection.end();
    });
    stream.announce("endpoint", `${endpoint}?sessionId=${id}`);
  }

  /** Takes a message of a client. */
  message(
    request: IncomingMessage,
    response: HttpResponse,
    sessionId: string | undefined,
    requester?: Requester,
  ): void {
    if (request.method !== "POST") return notAllowed(request, response, "POST");
    readPost(request, response, { accept: [] }, (body) => {
      const client = this.#clients.get(sessionId ?? "");
      if (client === undefined || client.owner !== requester?.owner) {
        return refuse(response, 404, RPC.invalidRequest, "Unknown session: open a new stream");
      }
      const message = readMessage(body, { maxDepth: MAX_DEPTH });
      if (message.kind === "malformed" && !isArray(body)) {
        return refuse(response, 400, message.code, message.message, {}, message.id);
      }
      response.send(202, { "content-type": "text/plain" }, Buffer.from("Accepted"));
      client.connection.receive(body, message);
    });
  }

  /** Ends all sessions. */
  close(): void {
    for (const { connection, stream } of this.#clients.values()) {
      connection.end();
      stream.end();
    }
  }
}

function notAllowed(request: IncomingMessage, response: HttpResponse, allow: string): void {
  refuse(response, 405, RPC.invalidRequest, `${request.method} is not allowed here`, { allow });
}

/** The session id in the query of a message's URL. */
export function sessionIdIn(query: string | undefined): string | undefined {
  return new URLSearchParams(query).get("sessionId") ?? undefined;
}
