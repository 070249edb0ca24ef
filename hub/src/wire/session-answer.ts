// The answer to one POST of a legacy session, or the answers to the requests of a batch: JSON where they come soon and alone,
// otherwise an event stream, which the client can take up again when it loses the connection.

import { writeBatch } from "./batch.ts";
import { sendJson, sendReply, type HttpResponse } from "./http-answer.ts";
import { writeNotification, writeReply, type Id, type Raw, type Reply } from "./jsonrpc.ts";
import type { ClientStream } from "./questions.ts";
import type { SessionStream } from "./session-stream.ts";

export interface SessionAnswerOptions {
  readonly headers?: Record<string, string>;
  /** How many answers it takes, where it is a batch. */
  readonly batch?: number;
  /** Begins a stream of the session. */
  readonly openStream: () => SessionStream;
}

/** Who waits longer than this gets a stream: it shows that the hub is alive, and what is lost on it can be had again. */
const PATIENCE_MS = 5000;

export class SessionAnswer implements ClientStream {
  readonly #response: HttpResponse;
  readonly #options: SessionAnswerOptions;
  readonly #patience: NodeJS.Timeout;
  /** Answers that wait for the others of their batch. */
  #answers: Buffer[] = [];
  #left: number;
  #stream: SessionStream | undefined;

  constructor(response: HttpResponse, options: SessionAnswerOptions) {
    this.#response = response;
    this.#options = options;
    this.#left = options.batch ?? 1;
    this.#patience = setTimeout(() => this.#open(), PATIENCE_MS).unref();
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

  /** One of the requests is done. */
  finish(id: Id | null, reply: Reply, status = 200): void {
    this.#left--;
    if (this.#stream === undefined && this.#options.batch === undefined) return this.#sendAlone(id, reply, status);
    const answer = writeReply(id, reply);
    if (this.#stream !== undefined) this.#stream.send(answer);
    else this.#answers.push(answer);
    if (this.#left === 0) this.#end();
  }

  get #isOpen(): boolean {
    return !this.#response.destroyed && !this.#response.writableEnded;
  }

  /** The stream, from now on at the latest. None where the client left before it could learn of one. */
  #open(): SessionStream | undefined {
    if (this.#stream !== undefined || !this.#isOpen) return this.#stream;
    clearTimeout(this.#patience);
    const { headers = {}, openStream } = this.#options;
    this.#stream = openStream();
    this.#stream.attach(this.#response, { headers });
    for (const answer of this.#answers.splice(0)) this.#stream.send(answer);
    return this.#stream;
  }

  #sendAlone(id: Id | null, reply: Reply, status: number): void {
    clearTimeout(this.#patience);
    if (this.#isOpen) sendReply(this.#response, status, id, reply, this.#options.headers);
  }

  #end(): void {
    clearTimeout(this.#patience);
    if (this.#stream !== undefined) return this.#stream.end();
    // What one member is refused for is not the fault of the batch.
    if (this.#isOpen) sendJson(this.#response, 200, writeBatch(this.#answers));
  }
}
