// Responses to MCP messages over HTTP: plain JSON, or an event stream as soon as there is something to send before the result.

import type { ServerResponse } from "node:http";
import type { Raw } from "../rpc/jsonrpc.ts";
import { replyParts, writeNotification, writeReply, type Id, type Reply } from "../rpc/jsonrpc.ts";
import { namedSseEvent, primingSseEvent, sseEvent, SSE_KEEP_ALIVE } from "@plugboard/shared/streams/sse";

/** The response to one request, independent of the HTTP parser. */
export interface HttpResponse {
  /** It is sent, or the client has disconnected. */
  readonly isOver: boolean;
  /** Sends the whole response. `prefix` and `suffix` are parts of the body in ASCII: the result is not copied for them. */
  send(status: number, headers?: ResponseHeaders, body?: Buffer, prefix?: string, suffix?: string): void;
  /** Node's response on the same connection, for a body that is written over time. */
  stream(): ServerResponse;
  /** Calls back when the client disconnects before the response is sent; for a stream, also at its end. */
  onceClosed(callback: () => void): void;
}

export type ResponseHeaders = Readonly<Record<string, string>>;

const KEEP_ALIVE_MS = 15_000;
/** A client that leaves this much unread is disconnected: the backlog is in the hub's memory. */
const MAX_UNREAD_BYTES = 1 << 20;

export class HttpAnswer {
  readonly #response: HttpResponse;
  #stream: EventStream | undefined;

  constructor(response: HttpResponse) {
    this.#response = response;
  }

  notify(method: string, params: Raw | undefined): void {
    if (this.#response.isOver) return;
    this.#stream ??= new EventStream(this.#response);
    this.#stream.send(writeNotification(method, params?.bytes));
  }

  finish(id: Id | null, reply: Reply, status = 200): void {
    if (this.#response.isOver) return;
    if (this.#stream === undefined) return sendReply(this.#response, status, id, reply);
    this.#stream.send(writeReply(id, reply));
    this.#stream.end();
  }
}

/** A response that stays open and carries one message per event. */
export class EventStream {
  readonly #response: ServerResponse;
  readonly #keepAlive: NodeJS.Timeout;

  constructor(to: HttpResponse, headers: ResponseHeaders = {}) {
    const response = to.stream();
    this.#response = response;
    response.writeHead(200, {
      "content-type": "text/event-stream",
      "cache-control": "no-cache, no-transform",
      "x-accel-buffering": "no",
      ...headers,
    });
    response.flushHeaders();
    this.#keepAlive = setInterval(() => this.#write(SSE_KEEP_ALIVE), KEEP_ALIVE_MS).unref();
    response.once("close", () => clearInterval(this.#keepAlive));
  }

  send(message: Buffer, id?: string): void {
    this.#write(sseEvent(message, id));
  }

  /** Gives the client an event id to resume from. */
  prime(id: string, retryMs: number): void {
    this.#write(primingSseEvent(id, retryMs));
  }

  /** Sends an event that is not a message. */
  announce(event: string, text: string): void {
    this.#write(namedSseEvent(event, text));
  }

  end(): void {
    clearInterval(this.#keepAlive);
    this.#response.end();
  }

  #write(chunk: Buffer | string): void {
    if (this.#response.destroyed || this.#response.writableEnded) return;
    // Checked before the write: one message may be larger than the bound.
    if (this.#response.writableLength > MAX_UNREAD_BYTES) this.#response.destroy();
    else this.#response.write(chunk);
  }
}

const JSON_HEADERS: ResponseHeaders = { "content-type": "application/json" };

export function sendJson(response: HttpResponse, status: number, body: Buffer, headers?: ResponseHeaders): void {
  response.send(status, jsonHeaders(headers), body);
}

/** Sends one JSON-RPC response as the whole body. */
export function sendReply(
  response: HttpResponse,
  status: number,
  id: Id | null,
  reply: Reply,
  headers?: ResponseHeaders,
): void {
  const { head, body } = replyParts(id, reply);
  // Only an id can contain other characters than ASCII.
  const isAscii = Buffer.byteLength(head) === head.length;
  if (isAscii) response.send(status, jsonHeaders(headers), body, head, "}");
  else sendJson(response, status, writeReply(id, reply), headers);
}

function jsonHeaders(headers: ResponseHeaders | undefined): ResponseHeaders {
  return headers === undefined ? JSON_HEADERS : { ...JSON_HEADERS, ...headers };
}
