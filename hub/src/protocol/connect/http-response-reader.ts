// Reads the response to one POST or GET of Streamable HTTP as messages, and reports at its end the error for a request that has
// no reply yet. The channel decides what follows.

import { HubError } from "../../errors.ts";
import { isArray } from "../rpc/batch.ts";
import type { Abort, ResponseReceiver, ResponseHeaders } from "./http-connection.ts";
import { challengeIn, errorIn, HttpStatusError, tooLarge, type ChallengeHeaders } from "./http-failure.ts";
import { onOneLine } from "../../lib/json/json.ts";
import { readMessage } from "../rpc/jsonrpc.ts";
import { Chunks } from "@plugboard/shared/streams/chunks";
import { isEventId, RETRY_MS, retryPause } from "./resumption.ts";
import { SseParser, type SseEvent, type SseParserOptions } from "@plugboard/shared/streams/sse";
import { retryAfter } from "../../lib/retry-after.ts";

/** The stream of one request, or the GET stream, over all connections that carried it. */
export interface ResponseStream {
  /** The request that its messages belong to; undefined for the GET stream. */
  readonly via: number | undefined;
  /** The last event id; resumption starts after it. */
  lastEventId: string | undefined;
  retryMs: number;
  /** Connections in a row that brought nothing new. */
  idle: number;
  /** Why its first connection ended, if it was resumed. */
  broken: HubError | undefined;
  /** Called at the end of a stream that belongs to no request. */
  readonly onDone: ((error: HubError, status: number | undefined) => void) | undefined;
  /** Called when the response begins. */
  readonly onOpen: (() => void) | undefined;
  /** Set if the credentials of the request can change: how to send it again. */
  sent?: SentRequest;
}

/** A request that may have to be sent again with other credentials. */
export interface SentRequest {
  readonly generation: number;
  readonly attempt: number;
  readonly sendAgain: (attempt: number) => void;
}

export function newStream(
  via: number | undefined,
  onDone?: ResponseStream["onDone"],
  onOpen?: ResponseStream["onOpen"],
): ResponseStream {
  return { via, lastEventId: undefined, retryMs: RETRY_MS, idle: 0, broken: undefined, onDone, onOpen };
}

/** Creates the error lazily: nearly every request has its reply by then, and errors are expensive. */
export type MakeError = () => HubError;

/** The channel that sent the request. */
export interface ResponseListener {
  readonly maxMessageBytes: number;
  onStart(stream: ResponseStream, abort: Abort): void;
  onResponse(headers: ResponseHeaders): void;
  onMessage(bytes: Buffer, via: number | undefined): void;
  /** The response ended. `why` is the error for a request without a reply; the status is undefined if no response began. */
  onEnd(stream: ResponseStream, why: MakeError, status: number | undefined): void;
  /** The server is unreachable, or has forgotten the session. */
  onLost(error: HubError): void;
}

export class HttpResponseReader implements ResponseReceiver, SseParserOptions {
  readonly #stream: ResponseStream;
  readonly #owner: ResponseListener;
  /** The request names our session: a 404 then means that the server has forgotten it. */
  readonly #inSession: boolean;
  #status = 0;
  #retryAfterMs: number | undefined;
  #challenge: ChallengeHeaders | undefined;
  #abort: Abort | undefined;
  #body: SseParser | Chunks | undefined;

  constructor(stream: ResponseStream, owner: ResponseListener, { inSession }: { readonly inSession: boolean }) {
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
    if (!isOk) {
      this.#retryAfterMs = retryAfter(headers.get("retry-after"));
      this.#challenge = challengeIn(status, headers);
    }
    const isStream = isOk && headers.get("content-type")?.startsWith("text/event-stream") === true;
    this.#body = isStream ? new SseParser(this) : new Chunks();
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
    this.#emit(data);
  }

  onRetry(ms: number): void {
    this.#stream.retryMs = retryPause(ms);
  }

  onOverflow(): void {
    this.#abort?.(tooLarge(this.maxBytes));
  }

  onEnd(): void {
    if (this.#body instanceof SseParser) return this.#owner.onEnd(this.#stream, streamClosed, this.#status);
    const bytes = this.#body?.take() ?? NO_BYTES;
    const isForgotten = this.#inSession && this.#status === 404;
    // A lost session is not a reply, even if the body names the request: it can be sent again in a new session.
    // Nor is a refusal of credentials that may be renewed.
    const isRefused = (this.#status === 401 || this.#status === 403) && this.#stream.sent !== undefined;
    if (!isForgotten && !isRefused && this.#isMessage(bytes)) this.#emit(bytes);
    if (this.#status < 400) return this.#owner.onEnd(this.#stream, noReply, this.#status);
    const options = { retryAfterMs: this.#retryAfterMs, isForgotten, challenge: this.#challenge };
    const failure = new HttpStatusError(this.#status, errorIn(bytes), options);
    this.#owner.onEnd(this.#stream, () => failure, this.#status);
    // Usually the server restarted: a new handshake is needed.
    if (isForgotten) this.#owner.onLost(failure);
  }

  onError(error: HubError, { unreachable }: { readonly unreachable: boolean }): void {
    this.#owner.onEnd(this.#stream, () => error, this.#status === 0 ? undefined : this.#status);
    // A reset may be an idle connection that the server just closed; only a refused connection means that it has stopped.
    if (unreachable) this.#owner.onLost(error);
  }

  #emit(bytes: Buffer): void {
    this.#owner.onMessage(onOneLine(bytes), this.#stream.via);
  }

  /**
   * Whether to pass the body on. The body of a successful response to a request is parsed by the peer, so it is not parsed here.
   * Other bodies may be plain text, a proxy's HTML page, or a message: modern servers send one with 400 and 404.
   */
  #isMessage(bytes: Buffer): boolean {
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

function noReply(): HubError {
  return new HubError("ProtocolError", "The server ended the response without a reply", { delivery: "unknown" });
}

function streamClosed(): HubError {
  return new HubError("ConnectionFailed", "The server closed the stream before its reply", { delivery: "unknown" });
}
