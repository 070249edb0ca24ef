// One message posted to the endpoint, and what comes back for it. A stream that breaks off within a session is taken up
// again where it stopped, if the server numbers its events.

import { HubError } from "../errors.ts";
import type { Abort } from "../wire/http-connection.ts";
import { tooLarge, type Headers } from "../wire/http-failure.ts";
import type { Endpoint } from "./endpoint.ts";
import { messageBody, startPosition, type MessageBody } from "./message-body.ts";

export interface ExchangeOptions {
  readonly body: Buffer;
  /** Beside those that every exchange has. */
  readonly headers: Readonly<Record<string, string>>;
  readonly inSession: boolean;
  onHeaders?(headers: Headers): void;
  onMessage(bytes: Buffer): void;
  /** Whether somebody still waits for something of it. */
  isOpen(): boolean;
  /** It is over; the error is for whoever still waits. */
  onEnd(error: HubError): void;
}

export const MAX_MESSAGE_BYTES = 64 << 20;

const ACCEPT = "application/json, text/event-stream";
/** So often a stream is asked for in vain. */
const MAX_IDLE = 5;

export class Exchange {
  readonly #endpoint: Endpoint;
  readonly #options: ExchangeOptions;
  readonly #position = startPosition();
  /** Connections in a row that brought nothing new. */
  #idle = 0;
  #abort: Abort | undefined;
  #pause: NodeJS.Timeout | undefined;
  /** Why its first connection ended, once it did. */
  #broken: HubError | undefined;

  constructor(endpoint: Endpoint, options: ExchangeOptions) {
    this.#endpoint = endpoint;
    this.#options = options;
    const { headers, body } = options;
    this.#dispatch("POST", { accept: ACCEPT, "content-type": "application/json", ...headers }, body);
  }

  /** Closes its stream. */
  abort(): void {
    clearTimeout(this.#pause);
    this.#abort?.(new HubError("Cancelled", "The request was cancelled"));
  }

  #dispatch(method: "POST" | "GET", headers: Readonly<Record<string, string>>, body?: Buffer): void {
    const { inSession } = this.#options;
    const position = this.#position;
    const before = position.lastEventId;
    let read: MessageBody | undefined;
    let status: number | undefined;
    this.#endpoint.dispatch(
      { method, headers, ...(body === undefined ? {} : { body }) },
      {
        onStart: (abort) => {
          this.#abort = abort;
        },
        onResponse: (code, given, abort) => {
          status = code;
          this.#options.onHeaders?.(given);
          read = messageBody(code, given, {
            maxBytes: MAX_MESSAGE_BYTES,
            position,
            // Of a stream that is taken up again, it may as well say that nothing is kept of it.
            inSession: inSession && method === "POST",
            onMessage: (bytes) => this.#options.onMessage(bytes),
            onOverflow: () => abort(tooLarge(MAX_MESSAGE_BYTES)),
          });
        },
        onData: (chunk) => read?.push(chunk),
        onEnd: () => this.#ended(read?.end(), status, before),
        onError: (error) => this.#ended(error, status, before),
      },
    );
  }

  #ended(error: HubError | undefined, status: number | undefined, before: string | undefined): void {
    this.#abort = undefined;
    const { inSession, headers } = this.#options;
    const { lastEventId, retryMs } = this.#position;
    const failure = error ?? new HubError("ProtocolError", "The exchange ended without an answer");
    if (lastEventId !== before) this.#idle = 0;
    // A server that refuses to go on with it has nothing to give any more. One that fails may have.
    const mayGoOn = failure.kind === "ConnectionFailed" && (status === undefined || status === 200 || status >= 500);
    const isWanted = inSession && lastEventId !== undefined && this.#options.isOpen();
    if (!isWanted || !mayGoOn || this.#idle++ >= MAX_IDLE) return this.#options.onEnd(this.#broken ?? failure);
    this.#broken ??= failure;
    this.#pause = setTimeout(() => {
      if (!this.#options.isOpen()) return this.#options.onEnd(failure);
      this.#dispatch("GET", { accept: "text/event-stream", ...headers, "last-event-id": lastEventId });
    }, retryMs);
  }
}
