// MCP over Streamable HTTP, the client's side: every message is a POST of its own, so what comes back on its stream
// belongs to that request. Also holds the one GET stream on which a legacy server speaks unasked. A legacy stream that ends
// too early is taken up again where it stopped, if the server numbers its events.

import { HubError } from "../errors.ts";
import { InFlight } from "./in-flight.ts";
import { isArray } from "./batch.ts";
import { HttpConnection, type Abort, type ConnectionOptions, type Outgoing } from "./http-connection.ts";
import { errorIn, HttpStatusError, retryAfter, tooLarge, type Headers } from "./http-failure.ts";
import { onOneLine } from "./json.ts";
import { readMessage } from "./jsonrpc.ts";
import type { Channel, OutgoingRequest } from "./peer.ts";
import { Pieces } from "./pieces.ts";
import { SseParser } from "./sse.ts";

export interface HttpChannelOptions extends ConnectionOptions {
  readonly url: URL;
  readonly headers: Readonly<Record<string, string>>;
  readonly maxMessageBytes: number;
  onMessage(bytes: Buffer, via?: number): void;
  /** Whether somebody still waits for the answer to this request. */
  isWaiting(id: number): boolean;
  /** This request gets no answer any more. Called at the end of every exchange; an answered request is not affected. */
  onFinished(id: number, error: HubError): void;
  /** The server cannot be reached. */
  onUnreachable(error: HubError): void;
}

/** The stream of a request or of the announcements, over all connections that carried it. */
interface Stream {
  /** The request that its messages belong to; none for announcements. */
  readonly via: number | undefined;
  /** Where it is taken up again, as the server said last. */
  lastEventId: string | undefined;
  retryMs: number;
  /** Connections in a row that brought nothing new. */
  idle: number;
  /** Why its connection ended, once it did. */
  broken: HubError | undefined;
  done(error: HubError, status?: number): void;
}

const RETRY_MS = 1000;
const MIN_RETRY_MS = 20;
const MAX_RETRY_MS = 300_000;
/** So often a stream is asked for in vain. The request's own time-out may end it before. */
const MAX_IDLE = 5;

export class HttpChannel implements Channel {
  readonly #options: HttpChannelOptions;
  readonly #connection: HttpConnection;
  /** Requests that somebody waits for; without a way to abort them while they have no connection. */
  readonly #open = new InFlight<number, Abort | null>();
  #session: string | undefined;
  #version: string | undefined;
  #closeCancels = false;
  #closed = false;

  constructor(options: HttpChannelOptions) {
    this.#options = options;
    this.#connection = new HttpConnection(options.url.origin, options);
  }

  /** After the handshake every request names the revision. In the modern era a closed stream is the cancellation. */
  agreed(version: string, { closeCancels }: { closeCancels: boolean }): void {
    this.#version = version;
    this.#closeCancels = closeCancels;
  }

  send(bytes: Buffer, request?: OutgoingRequest): void {
    if (this.#closed) return;
    const headers = { ...this.#headers(), "content-type": "application/json", ...request?.headers };
    const via = request?.id;
    if (via !== undefined) this.#open.set(via, null);
    const stream = newStream(via, (error) => {
      if (via !== undefined) this.#options.onFinished(via, error);
    });
    this.#dispatch({ method: "POST", url: this.#options.url, headers, body: bytes }, stream);
  }

  deliver(bytes: Buffer): Promise<void> {
    if (this.#closed) return Promise.resolve();
    const headers = { ...this.#headers(), "content-type": "application/json" };
    return new Promise((resolve) => {
      const stream = newStream(undefined, () => resolve());
      this.#dispatch({ method: "POST", url: this.#options.url, headers, body: bytes }, stream);
    });
  }

  abandon(id: number): boolean {
    this.#open.get(id)?.(new HubError("Cancelled", "The request was cancelled"));
    this.#open.delete(id);
    return this.#closeCancels;
  }

  /** Opens the GET stream. Resolves when it ends for good, with the status that the server gave (405: it has none). */
  listen(): Promise<number | undefined> {
    return new Promise((resolve) => {
      const stream = newStream(undefined, (error, status) => {
        resolve(error instanceof HttpStatusError ? error.status : status);
      });
      this.#dispatch({ method: "GET", url: this.#options.url, headers: this.#headers() }, stream);
    });
  }

  /** Ends the session, politely but briefly, and all connections. */
  async close(): Promise<void> {
    if (this.#closed) return;
    this.#closed = true;
    for (const abort of this.#open.values()) abort?.(new HubError("Cancelled", "The connection was closed"));
    this.#open.clear();
    if (this.#session !== undefined) await this.#sayGoodbye();
    await this.#connection.close();
  }

  /** The server may be gone already; the session then ends by itself. */
  #sayGoodbye(): Promise<void> {
    return new Promise((resolve) => {
      const impatient = setTimeout(resolve, GOODBYE_MS);
      const done = () => {
        clearTimeout(impatient);
        resolve();
      };
      this.#connection.dispatch(
        { method: "DELETE", url: this.#options.url, headers: this.#headers() },
        { onResponse: () => undefined, onData: () => undefined, onEnd: done, onError: done },
      );
    });
  }

  #headers(): Record<string, string> {
    return {
      accept: "application/json, text/event-stream",
      ...this.#options.headers,
      ...(this.#version === undefined ? {} : { "mcp-protocol-version": this.#version }),
      ...(this.#session === undefined ? {} : { "mcp-session-id": this.#session }),
    };
  }

  /** One exchange. At its end the stream is done, or taken up again by another one. */
  #dispatch(outgoing: Outgoing, stream: Stream): void {
    const { via } = stream;
    let body: Body | undefined;
    let status = 0;
    let isForgotten = false;
    this.#connection.dispatch(outgoing, {
      onStart: (abort) => {
        if (via === undefined) return;
        if (this.#open.has(via)) this.#open.set(via, abort);
        else abort(new HubError("Cancelled", "The request was cancelled before it was sent"));
      },
      onResponse: (code, headers, abort) => {
        status = code;
        // A GET may just find no such route.
        isForgotten = outgoing.method === "POST" && code === 404 && this.#session !== undefined;
        this.#learnSession(headers);
        const onOverflow = () => abort(tooLarge(this.#options.maxMessageBytes));
        body = this.#bodyReader(stream, { status: code, headers, isForgotten, onOverflow });
      },
      onData: (chunk) => body?.push(chunk),
      onEnd: () => {
        const failure = body?.end();
        this.#ended(stream, failure ?? unanswered(), status);
        // By a restart as a rule: only a new handshake helps.
        if (failure !== undefined && isForgotten) this.#options.onUnreachable(failure);
      },
      onError: (failure, { unreachable }) => {
        this.#ended(stream, failure, status === 0 ? undefined : status);
        // A reset may be an idle connection that the server closed just then; only a refused one says that it is gone.
        if (!this.#closed && unreachable) this.#options.onUnreachable(failure);
      },
    });
  }

  #ended(stream: Stream, error: HubError, status: number | undefined): void {
    const { via, lastEventId } = stream;
    const isOpen = via === undefined || (this.#open.has(via) && this.#options.isWaiting(via));
    // A server that refuses to go on with it has nothing to give any more. One that fails may have.
    const mayGoOn = error.kind === "ConnectionFailed" && (status === undefined || status === 200 || status >= 500);
    const isOurs = !this.#closed && !this.#closeCancels && isOpen;
    if (isOurs && lastEventId !== undefined && mayGoOn && stream.idle++ < MAX_IDLE) {
      stream.broken ??= error;
      return this.#resume(stream, lastEventId);
    }
    if (via !== undefined) this.#open.delete(via);
    // Announcements can begin anew after a refused resumption: its status is not about them.
    if (stream.broken === undefined) stream.done(error, status);
    else stream.done(stream.broken);
  }

  #resume(stream: Stream, lastEventId: string): void {
    const { via } = stream;
    if (via !== undefined) this.#open.set(via, null);
    const again = () => {
      if (this.#closed || (via !== undefined && !this.#open.has(via))) return;
      const headers = { ...this.#headers(), accept: "text/event-stream", "last-event-id": lastEventId };
      this.#dispatch({ method: "GET", url: this.#options.url, headers }, stream);
    };
    setTimeout(again, stream.retryMs).unref();
  }

  #learnSession(headers: Headers): void {
    const session = headers["mcp-session-id"];
    if (this.#session === undefined && typeof session === "string") this.#session = session;
  }

  #bodyReader(stream: Stream, { status, headers, isForgotten, onOverflow }: Response): Body {
    const maxBytes = this.#options.maxMessageBytes;
    const onMessage = (bytes: Buffer) => this.#options.onMessage(onOneLine(bytes), stream.via);
    if (status >= 200 && status < 300 && String(headers["content-type"]).startsWith("text/event-stream")) {
      return eventStream(stream, { maxBytes, onMessage, onOverflow });
    }
    return wholeBody({ status, isForgotten, retryAfterMs: retryAfter(headers), maxBytes, onMessage, onOverflow });
  }
}

function newStream(via: number | undefined, done: Stream["done"]): Stream {
  return { via, lastEventId: undefined, retryMs: RETRY_MS, idle: 0, broken: undefined, done };
}

interface Response {
  readonly status: number;
  readonly headers: Headers;
  readonly isForgotten: boolean;
  readonly onOverflow: () => void;
}

/** How the body of one response is read. `end` gives the error for a request that is still unanswered then. */
interface Body {
  push(chunk: Buffer): void;
  end(): HubError | undefined;
}

interface BodyOptions {
  readonly maxBytes: number;
  readonly onMessage: (bytes: Buffer) => void;
  readonly onOverflow: () => void;
}

function eventStream(stream: Stream, { maxBytes, onMessage, onOverflow }: BodyOptions): Body {
  const parser = new SseParser({
    maxBytes,
    onEvent: ({ data }) => onMessage(data),
    onRetry: (ms) => {
      stream.retryMs = Math.min(Math.max(ms, MIN_RETRY_MS), MAX_RETRY_MS);
    },
    onOverflow,
  });
  return {
    push: (chunk) => {
      parser.push(chunk);
      const { lastEventId } = parser;
      if (lastEventId === undefined || lastEventId === stream.lastEventId || !EVENT_ID.test(lastEventId)) return;
      stream.lastEventId = lastEventId;
      stream.idle = 0;
    },
    end: () =>
      new HubError("ConnectionFailed", "The server closed the stream before it answered", { delivery: "unknown" }),
  };
}

/** It goes back in a header. */
const EVENT_ID = /^[\x21-\x7e]{1,1024}$/;

interface WholeBodyOptions extends BodyOptions {
  readonly status: number;
  readonly isForgotten: boolean;
  readonly retryAfterMs: number | undefined;
}

function wholeBody(options: WholeBodyOptions): Body {
  const pieces = new Pieces();
  return {
    push: (chunk) => {
      if (pieces.size + chunk.length > options.maxBytes) options.onOverflow();
      else pieces.add(chunk);
    },
    end: () => {
      const bytes = pieces.take();
      // Also an error status may carry a real answer: the modern era sends 400 and 404 with one.
      const isMessage = isArray(bytes) || readMessage(bytes, { lenient: true }).kind !== "malformed";
      if (bytes.length > 0 && isMessage) options.onMessage(bytes);
      return options.status >= 400 ? new HttpStatusError(options.status, errorIn(bytes), options) : undefined;
    },
  };
}

function unanswered(): HubError {
  return new HubError("ProtocolError", "The server ended the exchange without an answer", { delivery: "unknown" });
}

const GOODBYE_MS = 1000;
