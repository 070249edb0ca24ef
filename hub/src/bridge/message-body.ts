// The JSON-RPC messages in the body of one response: a single JSON document, or an event stream. Bounded in size.

import type { IncomingHttpHeaders } from "node:http";
import { HubError } from "../errors.ts";
import { errorIn, HttpStatusError } from "../protocol/connect/http-failure.ts";
import { Chunks } from "@plugboard/shared/streams/chunks";
import { isEventId, RETRY_MS, retryPause } from "../protocol/connect/resumption.ts";
import { SseParser } from "@plugboard/shared/streams/sse";
import { retryAfter } from "../lib/retry-after.ts";

/** Last event id and retry delay of the server, for resuming a stream. */
export interface StreamPosition {
  lastEventId: string | undefined;
  retryMs: number;
}

export interface MessageHandler {
  /** The request names a session: 404 then means that the session is unknown. */
  readonly inSession: boolean;
  readonly position: StreamPosition;
  onMessage(bytes: Buffer): void;
  onOverflow(): void;
}

export interface MessageBody {
  push(chunk: Buffer): void;
  /** The response is complete. */
  end(): void;
  /** After `end`: the error for a request that is still unanswered. */
  failure(): HubError;
}

export const MAX_MESSAGE_BYTES = 64 << 20;

export function startPosition(): StreamPosition {
  return { lastEventId: undefined, retryMs: RETRY_MS };
}

export function messageBody(status: number, headers: IncomingHttpHeaders, handler: MessageHandler): MessageBody {
  const isStream = status === 200 && headers["content-type"]?.includes("text/event-stream") === true;
  return isStream ? new EventBody(handler) : new JsonBody(status, headers, handler);
}

class EventBody implements MessageBody {
  readonly #handler: MessageHandler;
  readonly #parser: SseParser;

  constructor(handler: MessageHandler) {
    this.#handler = handler;
    this.#parser = new SseParser({
      maxBytes: MAX_MESSAGE_BYTES,
      onEvent: ({ data }) => handler.onMessage(data),
      onRetry: (ms) => {
        handler.position.retryMs = retryPause(ms);
      },
      onOverflow: () => handler.onOverflow(),
    });
  }

  push(chunk: Buffer): void {
    this.#parser.push(chunk);
    const { lastEventId } = this.#parser;
    if (lastEventId !== undefined && isEventId(lastEventId)) this.#handler.position.lastEventId = lastEventId;
  }

  end(): void {
    // An incomplete event at the end is dropped, as the SSE specification says.
  }

  failure(): HubError {
    return new HubError("ConnectionFailed", "The stream ended before the answer", { delivery: "unknown" });
  }
}

class JsonBody implements MessageBody {
  readonly #status: number;
  readonly #headers: IncomingHttpHeaders;
  readonly #handler: MessageHandler;
  readonly #chunks = new Chunks();
  #bytes: Buffer | undefined;

  constructor(status: number, headers: IncomingHttpHeaders, handler: MessageHandler) {
    this.#status = status;
    this.#headers = headers;
    this.#handler = handler;
  }

  push(chunk: Buffer): void {
    if (this.#chunks.size + chunk.length > MAX_MESSAGE_BYTES) this.#handler.onOverflow();
    else this.#chunks.add(chunk);
  }

  end(): void {
    this.#bytes = this.#chunks.take();
    // An error status may carry a JSON-RPC response: modern servers send one with 400 and 404.
    if (this.#bytes.length > 0 && !this.#isForgotten) this.#handler.onMessage(this.#bytes);
  }

  failure(): HubError {
    const bytes = this.#bytes ?? Buffer.alloc(0);
    if (this.#status < 400) return unanswered();
    const hints = { retryAfterMs: retryAfter(this.#headers["retry-after"]), isForgotten: this.#isForgotten };
    return new HttpStatusError(this.#status, errorIn(bytes), hints);
  }

  /** The endpoint no longer knows the session. */
  get #isForgotten(): boolean {
    return this.#status === 404 && this.#handler.inSession;
  }
}

function unanswered(): HubError {
  return new HubError("ProtocolError", "The exchange ended without a usable answer", { delivery: "unknown" });
}
