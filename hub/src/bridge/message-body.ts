// The messages in the body of one response: one as JSON, or many as an event stream, within bounds.

import { HubError } from "../errors.ts";
import { errorIn, HttpStatusError, retryAfter } from "../wire/http-failure.ts";
import { Pieces } from "../wire/pieces.ts";
import { isEventId, RETRY_MS, retryPause } from "../wire/resumption.ts";
import { SseParser } from "../wire/sse.ts";
import type { Headers } from "./response-reader.ts";

/** Where a stream is taken up again, and when, as the server said last. */
export interface Position {
  lastEventId: string | undefined;
  retryMs: number;
}

export interface MessageReader {
  /** 404 then says that the session is gone. */
  readonly inSession: boolean;
  readonly position: Position;
  onMessage(bytes: Buffer): void;
  onOverflow(): void;
}

export interface MessageBody {
  push(chunk: Buffer): void;
  /** No more of it comes: gives what is left. */
  end(): void;
  /** Why a request that is still open after that gets no answer. */
  failure(): HubError;
}

export const MAX_MESSAGE_BYTES = 64 << 20;

export function startPosition(): Position {
  return { lastEventId: undefined, retryMs: RETRY_MS };
}

export function messageBody(status: number, headers: Headers, reader: MessageReader): MessageBody {
  const isStream = status === 200 && headers["content-type"]?.includes("text/event-stream") === true;
  return isStream ? new EventBody(reader) : new WholeBody(status, headers, reader);
}

class EventBody implements MessageBody {
  readonly #reader: MessageReader;
  readonly #parser: SseParser;

  constructor(reader: MessageReader) {
    this.#reader = reader;
    this.#parser = new SseParser({
      maxBytes: MAX_MESSAGE_BYTES,
      onEvent: ({ data }) => reader.onMessage(data),
      onRetry: (ms) => {
        reader.position.retryMs = retryPause(ms);
      },
      onOverflow: () => reader.onOverflow(),
    });
  }

  push(chunk: Buffer): void {
    this.#parser.push(chunk);
    const { lastEventId } = this.#parser;
    if (lastEventId !== undefined && isEventId(lastEventId)) this.#reader.position.lastEventId = lastEventId;
  }

  end(): void {
    // An event that has not ended by then is none.
  }

  failure(): HubError {
    return new HubError("ConnectionFailed", "The stream ended before the answer", { delivery: "unknown" });
  }
}

class WholeBody implements MessageBody {
  readonly #status: number;
  readonly #headers: Headers;
  readonly #reader: MessageReader;
  readonly #pieces = new Pieces();
  #bytes: Buffer | undefined;

  constructor(status: number, headers: Headers, reader: MessageReader) {
    this.#status = status;
    this.#headers = headers;
    this.#reader = reader;
  }

  push(chunk: Buffer): void {
    if (this.#pieces.size + chunk.length > MAX_MESSAGE_BYTES) this.#reader.onOverflow();
    else this.#pieces.add(chunk);
  }

  end(): void {
    this.#bytes = this.#pieces.take();
    // Also an error status may carry a real answer: the modern era sends 400 and 404 with one.
    if (this.#bytes.length > 0 && !this.#isForgotten) this.#reader.onMessage(this.#bytes);
  }

  failure(): HubError {
    const bytes = this.#bytes ?? Buffer.alloc(0);
    if (this.#status < 400) return unanswered();
    const hints = { retryAfterMs: retryAfter(this.#headers["retry-after"]), isForgotten: this.#isForgotten };
    return new HttpStatusError(this.#status, errorIn(bytes), hints);
  }

  get #isForgotten(): boolean {
    return this.#status === 404 && this.#reader.inSession;
  }
}

function unanswered(): HubError {
  return new HubError("ProtocolError", "The exchange ended without a usable answer", { delivery: "unknown" });
}
