// A message of the client to the endpoint.

import type { RequestMessage } from "../protocol/rpc/jsonrpc.ts";
import type { Exchange } from "./exchange.ts";
import type { Headers } from "./http-client.ts";

export type Deliver = (answer: Buffer) => void;

export interface OutgoingMessage {
  readonly bytes: Buffer;
  /** Undefined for notifications and responses. */
  readonly request?: RequestMessage;
  /** Headers of a modern message; undefined for one that belongs to the session. */
  readonly headers?: Headers | undefined;
  /** Takes the answer to the request. */
  readonly deliver?: Deliver;
  /** It has arrived, or has failed for good. */
  readonly onDone?: () => void;
  exchange?: Exchange;
  isRetried?: boolean;
}
