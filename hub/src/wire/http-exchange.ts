// One POST or GET of Streamable HTTP and what comes back on it: reads the body as messages, and tells at the end what a
// request is told that is still unanswered. What follows from that is the channel's.

import { HubError } from "../errors.ts";
import { isArray } from "./batch.ts";
import type { Abort, Receiver, ResponseHeaders } from "./http-connection.ts";
import { errorIn, HttpStatusError, retryAfter, tooLarge } from "./http-failure.ts";
import { onOneLine } from "./json.ts";
import { readMessage } from "./jsonrpc.ts";
import { Pieces } from "./pieces.ts";
import { isEventId, RETRY_MS, retryPause } from "./resumption.ts";
import { SseParser, type SseEvent, type SseParserOptions } from "./sse.ts";

/** The stream of a request or of the announcements, over all connections that carried it. */
export interface Stream {
  /** The request that its messages belong to; none for announcements. */
  readonly via: number | undefined;
  /** Where it is taken up again, as the server said last. */
  lastEventId: string | undefined;
  retryMs: number;
  /** Connections in a row that brought nothing new. */
  idle: number;
  /** Why its connection ended, once it did. */
  broken: HubError | undefined;
  /** Who wants to know how it ended, where that is not who made the request. */
  readonly onDone: ((error: HubError, status: number | undefined) => void) | undefined;
  /** Who wants to know that the server has begun to answer. */
  readonly onOpen: (() => void) | undefined;
}

export function newStream(via: number | undefined, onDone?: Stream["onDone"], onOpen?: Stream["onOpen"]): Stream {
  return { via, lastEventId: undefined, retryMs: RETRY_MS, idle: 0, broken: undefined, onDone, onOpen };
}

/** Made when somebody asks: nearly every request is answered, and an error is dear. */
export type Why = () => HubError;

/** The channel that an exchange is part of. */
export interface ExchangeOwner {
  readonly maxMessageBytes: number;
  onStart(stream: Stream, abort: Abort): void;
  onResponse(headers: ResponseHeaders): void;
  onMessage(bytes: Buffer, via: number | undefined): void;
  /** It is over. `why` is for a request that is unanswered; the status is that of the answer, where one began. */
  onEnd(stream: Stream, why: Why, status: number | undefined): void;
  /** The server is not there, or not as it was. */
  onLost(error: HubError): void;
}

export class HttpExchange implements Receiver, SseParserOptions {
  readonly #stream: Stream;
  readonly #owner: ExchangeOwner;
  /** It names our session: if the server knows no such thing, it has forgotten it. */
  readonly #inSession: boolean;
  #status = 0;
  #retryAfterMs: number | undefined;
  #abort: Abort | undefined;
  #body: SseParser | Pieces | undefined;

  constructor(stream: Stream, owner: ExchangeOwner, { inSession }: { readonly inSession: boolean }) {
    this.#stream = stream;
    this.#owner = owner;
    this.#inSession = inSession;
  }

  get maxBytes(): number {
    return this.#owner.maxMessageBytes;
  }

  onStart(abort: Abort): void {
    this.#owner.onStart(this.#stream, abort);
  }

  onResponse(status: number, headers: ResponseHeaders, abort: Abort): void {
    this.#status = status;
    this.#abort = abort;
    this.#owner.onResponse(headers);
    this.#stream.onOpen?.();
    const isOk = status >= 200 && status < 300;
    if (!isOk) this.#retryAfterMs = retryAfter(headers.get("retry-after"));
    const isStream = isOk && headers.get("content-type")?.startsWith("text/event-stream") === true;
    this.#body = isStream ? new SseParser(this) : new Pieces();
  }

  onData(chunk: Buffer): void {
    const body = this.#body;
    if (body instanceof SseParser) {
      body.push(chunk);
      this.#learnPosition(body.lastEventId);
    } else if (body !== undefined) {
      if (body.size + chunk.length > this.maxBytes) this.onOverflow();
      else body.add(chunk);
    }
  }

  onEvent({ data }: SseEvent): void {
    this.#tell(data);
  }

  onRetry(ms: number): void {
    this.#stream.retryMs = retryPause(ms);
  }

  onOverflow(): void {
    this.#abort?.(tooLarge(this.maxBytes));
  }

  onEnd(): void {
    if (this.#body instanceof SseParser) return this.#owner.onEnd(this.#stream, cutOff, this.#status);
    const bytes = this.#body?.take() ?? NO_BYTES;
    const isForgotten = this.#inSession && this.#status === 404;
    // That the session is gone is no answer, even where it names the request: in another session it gets one.
    if (!isForgotten && this.#isForUs(bytes)) this.#tell(bytes);
    if (this.#status < 400) return this.#owner.onEnd(this.#stream, unanswered, this.#status);
    const options = { retryAfterMs: this.#retryAfterMs, isForgotten };
    const failure = new HttpStatusError(this.#status, errorIn(bytes), options);
    this.#owner.onEnd(this.#stream, () => failure, this.#status);
    // By a restart as a rule: only a new handshake helps.
    if (isForgotten) this.#owner.onLost(failure);
  }

  onError(error: HubError, { unreachable }: { readonly unreachable: boolean }): void {
    this.#owner.onEnd(this.#stream, () => error, this.#status === 0 ? undefined : this.#status);
    // A reset may be an idle connection that the server closed just then; only a refused one says that it is gone.
    if (unreachable) this.#owner.onLost(error);
  }

  #tell(bytes: Buffer): void {
    this.#owner.onMessage(onOneLine(bytes), this.#stream.via);
  }

  /**
   * What answers a request is read by who asked, and not twice. Elsewhere stands a word of courtesy, or a page of a proxy, or
   * a real message: the modern era sends 400 and 404 with one.
   */
  #isForUs(bytes: Buffer): boolean {
    if (bytes.length === 0) return false;
    if (this.#status < 300 && this.#stream.via !== undefined) return true;
    return isArray(bytes) || readMessage(bytes, { lenient: true }).kind !== "malformed";
  }

  #learnPosition(lastEventId: string | undefined): void {
    const stream = this.#stream;
    if (lastEventId === undefined || lastEventId === stream.lastEventId || !isEventId(lastEventId)) return;
    stream.lastEventId = lastEventId;
    stream.idle = 0;
  }
}

const NO_BYTES = Buffer.alloc(0);

function unanswered(): HubError {
  return new HubError("ProtocolError", "The server ended the exchange without an answer", { delivery: "unknown" });
}

function cutOff(): HubError {
  return new HubError("ConnectionFailed", "The server closed the stream before it answered", { delivery: "unknown" });
}
