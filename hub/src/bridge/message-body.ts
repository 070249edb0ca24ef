// The messages in the body of one response: one as JSON, or many as an event stream, within bounds.

import { HubError } from "../errors.ts";
import { errorIn, HttpStatusError, retryAfter, type Headers } from "../wire/http-failure.ts";
import { Pieces } from "../wire/pieces.ts";
import { SseParser } from "../wire/sse.ts";

/** Where a stream is taken up again, and when, as the server said last. */
export interface Position {
  lastEventId: string | undefined;
  retryMs: number;
}

export interface MessageBodyOptions {
  readonly maxBytes: number;
  readonly position: Position;
  /** 404 then says that the session is gone. */
  readonly inSession: boolean;
  readonly onMessage: (bytes: Buffer) => void;
  readonly onOverflow: () => void;
}

export interface MessageBody {
  push(chunk: Buffer): void;
  /** It is over. Gives why a request that is still open then gets no answer. */
  end(): HubError;
}

const RETRY_MS = 1000;
const MIN_RETRY_MS = 20;
const MAX_RETRY_MS = 300_000;
/** It goes back in a header. */
const EVENT_ID = /^[\x21-\x7e]{1,1024}$/;

export function startPosition(): Position {
  return { lastEventId: undefined, retryMs: RETRY_MS };
}

export function messageBody(status: number, headers: Headers, options: MessageBodyOptions): MessageBody {
  const isStream = status === 200 && String(headers["content-type"]).startsWith("text/event-stream");
  return isStream ? eventStream(options) : wholeBody(status, headers, options);
}

function eventStream({ maxBytes, position, onMessage, onOverflow }: MessageBodyOptions): MessageBody {
  const parser = new SseParser({
    maxBytes,
    onEvent: ({ data }) => onMessage(data),
    onRetry: (ms) => {
      position.retryMs = Math.min(Math.max(ms, MIN_RETRY_MS), MAX_RETRY_MS);
    },
    onOverflow,
  });
  return {
    push: (chunk) => {
      parser.push(chunk);
      const { lastEventId } = parser;
      if (lastEventId !== undefined && EVENT_ID.test(lastEventId)) position.lastEventId = lastEventId;
    },
    end: () => new HubError("ConnectionFailed", "The stream ended before the answer", { delivery: "unknown" }),
  };
}

function wholeBody(status: number, headers: Headers, options: MessageBodyOptions): MessageBody {
  const pieces = new Pieces();
  return {
    push: (chunk) => {
      if (pieces.size + chunk.length > options.maxBytes) options.onOverflow();
      else pieces.add(chunk);
    },
    end: () => {
      const bytes = pieces.take();
      const isForgotten = status === 404 && options.inSession;
      // Also an error status may carry a real answer: the modern era sends 400 and 404 with one.
      if (bytes.length > 0 && !isForgotten) options.onMessage(bytes);
      if (status < 400) return unanswered();
      return new HttpStatusError(status, errorIn(bytes), { retryAfterMs: retryAfter(headers), isForgotten });
    },
  };
}

function unanswered(): HubError {
  return new HubError("ProtocolError", "The exchange ended without a usable answer", { delivery: "unknown" });
}
