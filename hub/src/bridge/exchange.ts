// Posts one message to the endpoint and reads the messages of the response. An interrupted event stream of a session is resumed
// with Last-Event-ID if the server numbers its events.

import type { IncomingHttpHeaders } from "node:http";
import { HubError } from "../errors.ts";
import { tooLarge } from "../protocol/connect/http-failure.ts";
import { MAX_IDLE, mayGoOn } from "../protocol/connect/resumption.ts";
import type { Endpoint } from "./endpoint.ts";
import type { Headers, PendingRequest, ResponseHandler } from "./http-client.ts";
import { MAX_MESSAGE_BYTES, messageBody, startPosition } from "./message-body.ts";
import type { MessageBody, MessageHandler, StreamPosition } from "./message-body.ts";

export interface ExchangeOptions {
  readonly bytes: Buffer;
  /** In addition to those of every exchange. */
  readonly headers: Headers;
  /** The headers name a session. */
  readonly inSession: boolean;
  /** Whether an answer is still expected. */
  readonly isOpen: () => boolean;
  onHeaders?(headers: IncomingHttpHeaders): void;
  /** Called for each message in the response, the answer among them. */
  onMessage(bytes: Buffer): void;
  /** The reason of a missing answer; undefined if there is one or none is expected. */
  readonly onEnd: (error: HubError | undefined) => void;
}

const POST_HEADERS: Headers = {
  accept: "application/json, text/event-stream",
  "content-type": "application/json",
};

export class Exchange implements ResponseHandler, MessageHandler {
  readonly position: StreamPosition = startPosition();
  readonly #endpoint: Endpoint;
  readonly #options: ExchangeOptions;
  #pending: PendingRequest;
  #isResumed = false;
  #body: MessageBody | undefined;
  #status: number | undefined;
  /** Consecutive connections without a new event. */
  #idleAttempts = 0;
  #lastResumedFrom: string | undefined;
  #retryTimer: NodeJS.Timeout | undefined;
  /** Why the first connection ended. */
  #firstFailure: HubError | undefined;

  constructor(endpoint: Endpoint, options: ExchangeOptions) {
    this.#endpoint = endpoint;
    this.#options = options;
    const { bytes: body, headers } = options;
    this.#pending = endpoint.send({ method: "POST", headers: { ...POST_HEADERS, ...headers }, body }, this);
  }

  /** For a resumed stream 404 may also mean that its events are no longer stored. */
  get inSession(): boolean {
    return this.#options.inSession && !this.#isResumed;
  }

  /** Closes its stream. */
  abort(): void {
    clearTimeout(this.#retryTimer);
    this.#pending.abort(new HubError("Cancelled", "The request was cancelled"));
  }

  onHead(status: number, headers: IncomingHttpHeaders): void {
    this.#status = status;
    this.#options.onHeaders?.(headers);
    this.#body = messageBody(status, headers, this);
  }

  onBody(chunk: Buffer): void {
    this.#body?.push(chunk);
  }

  onMessage(bytes: Buffer): void {
    this.#options.onMessage(bytes);
  }

  onOverflow(): void {
    this.#pending.abort(tooLarge(MAX_MESSAGE_BYTES));
  }

  onEnd(): void {
    this.#body?.end();
    const { isOpen, onEnd } = this.#options;
    if (!isOpen() && this.#status !== undefined && this.#status < 300) return onEnd(undefined);
    this.onError(this.#body?.failure() ?? new HubError("ProtocolError", "The exchange ended without an answer"));
  }

  onError(failure: HubError): void {
    const { lastEventId, retryMs } = this.position;
    if (lastEventId !== this.#lastResumedFrom) this.#idleAttempts = 0;
    this.#lastResumedFrom = lastEventId;
    const { inSession, isOpen, onEnd } = this.#options;
    const canResume = inSession && lastEventId !== undefined && isOpen();
    if (!canResume || !mayGoOn(failure, this.#status) || this.#idleAttempts++ >= MAX_IDLE) {
      return onEnd(this.#firstFailure ?? failure);
    }
    this.#firstFailure ??= failure;
    this.#retryTimer = setTimeout(() => this.#resume(lastEventId), retryMs);
  }

  #resume(lastEventId: string): void {
    const { isOpen, onEnd, headers } = this.#options;
    if (!isOpen()) return onEnd(undefined);
    this.#isResumed = true;
    this.#status = undefined;
    this.#body = undefined;
    const resumed = { accept: "text/event-stream", ...headers, "last-event-id": lastEventId };
    this.#pending = this.#endpoint.send({ method: "GET", headers: resumed }, this);
  }
}
