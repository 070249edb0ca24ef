// The answer to one POST of a modern client: plain JSON, or an event stream from the moment there is something to say before the result.

import type { ServerResponse } from "node:http";
import type { Raw } from "./jsonrpc.ts";
import { QuickResponse, SMALL_BYTES } from "./quick-response.ts";
import { replyParts, writeNotification, writeReply, type Id, type Reply } from "./jsonrpc.ts";
import { namedSseEvent, primingSseEvent, sseEvent, SSE_KEEP_ALIVE } from "./sse.ts";

/** Where an answer goes: Node's response, or that of a connection which is read without Node's parser. */
export type HttpResponse = ServerResponse | QuickResponse;

const KEEP_ALIVE_MS = 15_000;
/** A reader that leaves this much unread is cut off: its memory is ours. */
const MAX_UNREAD_BYTES = 1 << 20;

export class HttpAnswer {
  readonly #response: HttpResponse;
  #stream: EventStream | undefined;

  constructor(response: HttpResponse) {
    this.#response = response;
  }

  notify(method: string, params: Raw | undefined): void {
    if (!this.#isOpen) return;
    this.#stream ??= new EventStream(this.#response);
    this.#stream.send(writeNotification(method, params?.bytes));
  }

  finish(id: Id | null, reply: Reply, status = 200): void {
    if (!this.#isOpen) return;
    if (this.#stream === undefined) return sendReply(this.#response, status, id, reply);
    this.#stream.send(writeReply(id, reply));
    this.#stream.end();
  }

  get #isOpen(): boolean {
    return !this.#response.destroyed && !this.#response.writableEnded;
  }
}

/** A response that stays open and carries one message per event. */
export class EventStream {
  readonly #response: ServerResponse;
  readonly #keepAlive: NodeJS.Timeout;

  constructor(to: HttpResponse, headers: Record<string, string> = {}) {
    const response = to instanceof QuickResponse ? to.toStream() : to;
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

  /** Gives the client an id to come back with. */
  prime(id: string, retryMs: number): void {
    this.#write(primingSseEvent(id, retryMs));
  }

  /** Something else than a message. */
  announce(event: string, text: string): void {
    this.#write(namedSseEvent(event, text));
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

/** Calls back when the client has gone, or at the latest when a stream is at its end. */
export function onceClosed(response: HttpResponse, callback: () => void): void {
  if (response instanceof QuickResponse) response.onceClosed(callback);
  else response.once("close", callback);
}

/** An answer without a body. */
export function sendStatus(response: HttpResponse, status: number): void {
  if (response instanceof QuickResponse) response.send(status, undefined, "", NOTHING, "");
  else response.writeHead(status).end();
}

export function sendJson(
  response: HttpResponse,
  status: number,
  body: Buffer,
  headers?: Readonly<Record<string, string>>,
): void {
  if (response instanceof QuickResponse) return response.send(status, jsonHeaders(headers), "", body, "");
  writeJsonHead(response, status, body.length, headers);
  if (body.length < SMALL_BYTES) response.end(body.toString("latin1"), "latin1");
  else response.end(body);
}

/** Sends one answer as the whole body. */
export function sendReply(
  response: HttpResponse,
  status: number,
  id: Id | null,
  reply: Reply,
  headers?: Readonly<Record<string, string>>,
): void {
  const { head, body } = replyParts(id, reply);
  const headBytes = Buffer.byteLength(head);
  if (response instanceof QuickResponse) {
    // Only an id can be of other letters, and hardly ever is.
    if (headBytes === head.length) return response.send(status, jsonHeaders(headers), head, body, "}");
    return sendJson(response, status, writeReply(id, reply), headers);
  }
  writeJsonHead(response, status, headBytes + body.length + 1, headers);
  if (body.length < SMALL_BYTES && headBytes === head.length) {
    // As a text of one byte a letter it goes out with the headers: bytes that are UTF-8 already need not be read for that.
    return void response.end(`${head}${body.toString("latin1")}}`, "latin1");
  }
  // All three in one go, and the large one as it is: a copy of a megabyte takes longer than sending it.
  response.cork();
  response.write(head);
  response.write(body);
  response.end("}");
  response.uncork();
}

function writeJsonHead(
  response: ServerResponse,
  status: number,
  bytes: number,
  headers: Readonly<Record<string, string>> | undefined,
): void {
  const own = { "content-type": "application/json", "content-length": bytes };
  response.writeHead(status, headers === undefined ? own : { ...own, ...headers });
}

const JSON_HEADERS = { "content-type": "application/json" } as const;
const NOTHING = Buffer.alloc(0);

function jsonHeaders(headers: Readonly<Record<string, string>> | undefined): Readonly<Record<string, string>> {
  return headers === undefined ? JSON_HEADERS : { ...JSON_HEADERS, ...headers };
}
