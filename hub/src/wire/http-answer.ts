// The answer to one POST: plain JSON, or an event stream from the moment there is something to say before the result.

import type { ServerResponse } from "node:http";
import type { Raw } from "./jsonrpc.ts";
import { writeNotification, writeReply, type Id, type Reply } from "./jsonrpc.ts";
import type { ClientStream } from "./questions.ts";
import { sseEvent, SSE_KEEP_ALIVE } from "./sse.ts";

const KEEP_ALIVE_MS = 15_000;
/** A reader that leaves this much unread is cut off: its memory is ours. */
const MAX_UNREAD_BYTES = 1 << 20;

export class HttpAnswer implements ClientStream {
  readonly #response: ServerResponse;
  readonly #headers: Record<string, string>;
  #stream: EventStream | undefined;

  constructor(response: ServerResponse, headers: Record<string, string> = {}) {
    this.#response = response;
    this.#headers = headers;
  }

  get isOpen(): boolean {
    return !this.#response.destroyed && !this.#response.writableEnded;
  }

  notify(method: string, params: Raw | undefined): void {
    this.send(writeNotification(method, params?.bytes));
  }

  send(message: Buffer): void {
    if (!this.isOpen) return;
    this.#stream ??= new EventStream(this.#response, this.#headers);
    this.#stream.send(message);
  }

  onceClosed(callback: () => void): () => void {
    return onceClosed(this.#response, callback);
  }

  finish(id: Id | null, reply: Reply, status = 200): void {
    if (!this.isOpen) return;
    const message = writeReply(id, reply);
    if (this.#stream === undefined) return sendJson(this.#response, status, message, this.#headers);
    this.#stream.send(message);
    this.#stream.end();
  }
}

/** A response that stays open and carries one message per event. */
export class EventStream implements ClientStream {
  readonly #response: ServerResponse;
  readonly #keepAlive: NodeJS.Timeout;

  constructor(response: ServerResponse, headers: Record<string, string> = {}) {
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

  send(message: Buffer): void {
    this.#write(sseEvent(message));
  }

  onceClosed(callback: () => void): () => void {
    return onceClosed(this.#response, callback);
  }

  end(): void {
    clearInterval(this.#keepAlive);
    this.#response.end();
  }

  #write(chunk: Buffer | string): void {
    if (this.#response.destroyed || this.#response.writableEnded) return;
    // One message may be large; it is the backlog before it that tells a reader who does not read.
    if (this.#response.writableLength > MAX_UNREAD_BYTES) this.#response.destroy();
    else this.#response.write(chunk);
  }
}

function onceClosed(response: ServerResponse, callback: () => void): () => void {
  response.once("close", callback);
  return () => response.off("close", callback);
}

export function sendJson(
  response: ServerResponse,
  status: number,
  body: Buffer,
  headers: Record<string, string> = {},
): void {
  response.writeHead(status, { "content-type": "application/json", "content-length": body.length, ...headers });
  response.end(body);
}
