// A message of the client on its way to the endpoint.

import type { HubError } from "../errors.ts";
import type { RequestMessage } from "../wire/jsonrpc.ts";
import type { Exchange, Sender } from "./exchange.ts";
import type { Headers } from "./response-reader.ts";

/** Takes the answer to one request. */
export type Deliver = (answer: Buffer) => void;

/** Who carries it. */
export interface Carrier {
  isOpen(parcel: Parcel): boolean;
  onHeaders(parcel: Parcel, headers: Headers): void;
  onMessage(bytes: Buffer): void;
  onEnd(parcel: Parcel, error: HubError | undefined): void;
}

interface ParcelOptions {
  readonly bytes: Buffer;
  /** Undefined for what gets no answer. */
  readonly request?: RequestMessage | undefined;
  /** The header lines of a modern message; undefined for one that belongs to the session. */
  readonly fields?: string | undefined;
  readonly deliver?: Deliver;
  /** It has arrived, or will not any more. */
  readonly onDone?: (() => void) | undefined;
}

export class Parcel implements Sender {
  readonly bytes: Buffer;
  readonly request: RequestMessage | undefined;
  readonly fields: string | undefined;
  readonly deliver: Deliver;
  readonly onDone: (() => void) | undefined;
  exchange: Exchange | undefined;
  isRetried = false;
  readonly #carrier: Carrier;

  constructor(carrier: Carrier, { bytes, request, fields, deliver = () => undefined, onDone }: ParcelOptions) {
    this.#carrier = carrier;
    this.bytes = bytes;
    this.request = request;
    this.fields = fields;
    this.deliver = deliver;
    this.onDone = onDone;
  }

  get isOpen(): boolean {
    return this.#carrier.isOpen(this);
  }

  onHeaders(headers: Headers): void {
    this.#carrier.onHeaders(this, headers);
  }

  onMessage(bytes: Buffer): void {
    this.#carrier.onMessage(bytes);
  }

  onEnd(error: HubError | undefined): void {
    this.#carrier.onEnd(this, error);
  }
}
