// MCP over HTTP+SSE (2024-11-05), the server's side: a client's GET opens its session and carries all that it is told, its
// messages come as POSTs to the address that the stream names first. The end of the stream is the end of the session.

import { randomUUID } from "node:crypto";
import type { IncomingMessage, ServerResponse } from "node:http";
import { isArray } from "./batch.ts";
import { Conversation } from "./conversation.ts";
import { EventStream } from "./http-answer.ts";
import { accepts, MAX_DEPTH, readPost, refuse } from "./http-request.ts";
import { onOneLine } from "./json.ts";
import { readMessage, RPC } from "./jsonrpc.ts";
import type { Service } from "./server.ts";

interface Client {
  readonly conversation: Conversation;
  readonly stream: EventStream;
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

  /** A client opens its stream. `address` is where its messages go; the session is added to it. */
  open(request: IncomingMessage, response: ServerResponse, address: string): void {
    if (request.method !== "GET") return notAllowed(request, response, "GET");
    if (!accepts(request, "text/event-stream")) {
      return refuse(response, 406, RPC.invalidRequest, "A GET needs the header Accept: text/event-stream");
    }
    if (this.#clients.size >= MAX_SESSIONS) {
      return refuse(response, 503, RPC.invalidRequest, `There are ${MAX_SESSIONS} sessions already`);
    }
    const id = randomUUID();
    const stream = new EventStream(response);
    const conversation = new Conversation({
      service: this.#service,
      transport: "sse",
      sessionId: id,
      headers: request.headers,
      send: (message) => stream.send(onOneLine(message)),
    });
    this.#clients.set(id, { conversation, stream });
    response.once("close", () => {
      this.#clients.delete(id);
      conversation.end();
    });
    stream.announce("endpoint", `${address}?sessionId=${id}`);
  }

  /** A client sends a message. */
  message(request: IncomingMessage, response: ServerResponse, sessionId: string | undefined): void {
    if (request.method !== "POST") return notAllowed(request, response, "POST");
    readPost(request, response, { accept: [] }, (body) => {
      const client = this.#clients.get(sessionId ?? "");
      if (client === undefined) {
        return refuse(response, 404, RPC.invalidRequest, "This session does not exist or has ended: open a new stream");
      }
      const message = readMessage(body, { maxDepth: MAX_DEPTH });
      if (message.kind === "malformed" && !isArray(body)) {
        return refuse(response, 400, message.code, message.message, {}, message.id);
      }
      response.writeHead(202, { "content-type": "text/plain" }).end("Accepted");
      client.conversation.receive(body, message);
    });
  }

  /** Ends all sessions. */
  close(): void {
    for (const { conversation, stream } of this.#clients.values()) {
      conversation.end();
      stream.end();
    }
  }
}

function notAllowed(request: IncomingMessage, response: ServerResponse, allow: string): void {
  refuse(response, 405, RPC.invalidRequest, `${request.method} is not allowed here`, { allow });
}

/** The session that the address of a message names. */
export function sessionIdIn(query: string | undefined): string | undefined {
  return new URLSearchParams(query).get("sessionId") ?? undefined;
}
