// The response to one POST of a legacy session: JSON if the replies arrive soon and without other messages, otherwise an event
// stream that the client can resume.

import { writeBatch } from "../rpc/batch.ts";
import { sendJson, sendReply, type HttpResponse } from "./http-response.ts";
import { writeNotification, writeReply, type Id, type Raw, type Reply } from "../rpc/jsonrpc.ts";
import type { ClientStream } from "./client-requests.ts";
import type { SessionStream } from "./session-stream.ts";

export interface SessionAnswerOptions {
  readonly headers?: Record<string, string>;
  /** The number of replies, if it is a batch. */
  readonly batch?: number;
  /** Opens a new stream of the session. */
  readonly openStream: () => SessionStream;
}

/** After this long the response becomes a stream: it shows that the hub is alive, and it can be resumed. */
const STREAM_AFTER_MS = 5000;

export class SessionAnswer implements ClientStream {
  readonly #response: HttpResponse;
  readonly #options: SessionAnswerOptions;
  readonly #streamTimer: NodeJS.Timeout;
  /** Replies that wait for the others of their batch. */
  #replies: Buffer[] = [];
  #left: number;
  #stream: SessionStream | undefined;

  constructor(response: HttpResponse, options: SessionAnswerOptions) {
    this.#response = response;
    this.#options = options;
    this.#left = options.batch ?? 1;
    this.#streamTimer = setTimeout(() => this.#open(), STREAM_AFTER_MS).unref();
  }

  get isReachable(): boolean {
    return this.#stream?.isReachable ?? this.#isOpen;
  }

  notify(method: string, params: Raw | undefined): void {
    this.send(writeNotification(method, params?.bytes));
  }

  send(message: Buffer): void {
    this.#open()?.send(message);
  }

  onceClosed(callback: () => void): () => void {
    return this.#open()?.onceClosed(callback) ?? (() => undefined);
  }

  /** Sends the reply to one of the requests. */
  finish(id: Id | null, reply: Reply, status = 200): void {
    this.#left--;
    if (this.#stream === undefined && this.#options.batch === undefined) return this.#sendAlone(id, reply, status);
    const message = writeReply(id, reply);
    if (this.#stream !== undefined) this.#stream.send(message);
    else this.#replies.push(message);
    if (this.#left === 0) this.#end();
  }

  get #isOpen(): boolean {
    return !this.#response.isOver;
  }

  /** Turns the response into a stream, if it is not one yet. Undefined if the client has disconnected before. */
  #open(): SessionStream | undefined {
    if (this.#stream !== undefined || !this.#isOpen) return this.#stream;
    clearTimeout(this.#streamTimer);
    const { headers = {}, openStream } = this.#options;
    this.#stream = openStream();
    this.#stream.attach(this.#response, { headers });
    for (const message of this.#replies.splice(0)) this.#stream.send(message);
    return this.#stream;
  }

  #sendAlone(id: Id | null, reply: Reply, status: number): void {
    clearTimeout(this.#streamTimer);
    if (this.#isOpen) sendReply(this.#response, status, id, reply, this.#options.headers);
  }

  #end(): void {
    clearTimeout(this.#streamTimer);
    if (this.#stream !== undefined) return this.#stream.end();
    // 200, although single members may have failed.
    if (this.#isOpen) sendJson(this.#response, 200, writeBatch(this.#replies));
  }
}
