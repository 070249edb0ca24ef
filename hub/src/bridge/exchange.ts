// One message posted to the endpoint, and what comes back for it. A stream that breaks off within a session is taken up
// again where it stopped, if the server numbers its events.

import { HubError } from "../errors.ts";
import { tooLarge } from "../wire/http-failure.ts";
import { MAX_IDLE, mayGoOn } from "../wire/resumption.ts";
import type { Endpoint } from "./endpoint.ts";
import type { Receiver } from "./kept-socket.ts";
import { MAX_MESSAGE_BYTES, messageBody, startPosition } from "./message-body.ts";
import type { MessageBody, MessageReader, Position } from "./message-body.ts";
import type { Sent } from "./sockets.ts";
import type { Headers } from "./response-reader.ts";

/** Whose message it is. */
export interface Sender {
  readonly bytes: Buffer;
  /** Whether it still waits for something. */
  readonly isOpen: boolean;
  onHeaders?(headers: Headers): void;
  /** What came for it, or besides. */
  onMessage(bytes: Buffer): void;
  /** It is over. The error says why nothing came; undefined where nothing was waited for any more. */
  onEnd(error: HubError | undefined): void;
}

const ACCEPT = "accept: application/json, text/event-stream\r\ncontent-type: application/json\r\n";

export class Exchange implements Receiver, MessageReader {
  readonly position: Position = startPosition();
  readonly #endpoint: Endpoint;
  readonly #sender: Sender;
  /** Beside those that every exchange has. */
  readonly #fields: string;
  readonly #isNamed: boolean;
  #isResumed = false;
  #sent: Sent | undefined;
  #body: MessageBody | undefined;
  #status: number | undefined;
  /** Connections in a row that brought nothing new, since this event. */
  #idle = 0;
  #before: string | undefined;
  #pause: NodeJS.Timeout | undefined;
  /** Why its first connection ended, once it did. */
  #broken: HubError | undefined;

  constructor(endpoint: Endpoint, sender: Sender, { fields, isNamed }: { fields: string; isNamed: boolean }) {
    this.#endpoint = endpoint;
    this.#sender = sender;
    this.#fields = fields;
    this.#isNamed = isNamed;
  }

  post(): this {
    const { bytes: body } = this.#sender;
    this.#sent = this.#endpoint.dispatch({ method: "POST", fields: ACCEPT + this.#fields, body }, this);
    return this;
  }

  /** Of a stream that is taken up again, 404 may as well say that nothing is kept of it. */
  get inSession(): boolean {
    return this.#isNamed && !this.#isResumed;
  }

  /** Closes its stream. */
  abort(): void {
    clearTimeout(this.#pause);
    this.#sent?.abort(new HubError("Cancelled", "The request was cancelled"));
  }

  onHead(status: number, headers: Headers): void {
    this.#status = status;
    this.#sender.onHeaders?.(headers);
    this.#body = messageBody(status, headers, this);
  }

  onBody(chunk: Buffer): void {
    this.#body?.push(chunk);
  }

  onMessage(bytes: Buffer): void {
    this.#sender.onMessage(bytes);
  }

  onOverflow(): void {
    this.#sent?.abort(tooLarge(MAX_MESSAGE_BYTES));
  }

  onEnd(): void {
    this.#body?.end();
    // The rule. An error costs more to make than all of this.
    if (!this.#sender.isOpen && this.#status !== undefined && this.#status < 300) return this.#sender.onEnd(undefined);
    this.onError(this.#body?.failure() ?? new HubError("ProtocolError", "The exchange ended without an answer"));
  }

  onError(failure: HubError): void {
    const { lastEventId, retryMs } = this.position;
    if (lastEventId !== this.#before) this.#idle = 0;
    this.#before = lastEventId;
    const isWanted = this.#isNamed && lastEventId !== undefined && this.#sender.isOpen;
    if (!isWanted || !mayGoOn(failure, this.#status) || this.#idle++ >= MAX_IDLE)
      return this.#sender.onEnd(this.#broken ?? failure);
    this.#broken ??= failure;
    this.#pause = setTimeout(() => this.#resume(lastEventId), retryMs);
  }

  #resume(lastEventId: string): void {
    if (!this.#sender.isOpen) return this.#sender.onEnd(undefined);
    this.#isResumed = true;
    this.#status = undefined;
    this.#body = undefined;
    const fields = `accept: text/event-stream\r\n${this.#fields}last-event-id: ${lastEventId}\r\n`;
    this.#sent = this.#endpoint.dispatch({ method: "GET", fields }, this);
  }
}
