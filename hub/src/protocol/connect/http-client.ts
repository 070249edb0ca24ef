// MCP over Streamable HTTP, client side. Every message is a separate POST, so the messages on its response stream belong to that
// request. Also holds the GET stream for unsolicited messages of a legacy server. A legacy stream that ends too early is resumed
// if the server numbers its events.

import { HubError, toHubError } from "../../errors.ts";
import { SmallMap } from "../../lib/small-map.ts";
import {
  headerPairs,
  HttpConnection,
  pathOf,
  type Abort,
  type ConnectionOptions,
  type OutgoingHttpRequest,
  type ResponseHeaders,
} from "./http-connection.ts";
import {
  HttpResponseReader,
  newStream,
  type ResponseListener,
  type ResponseStream,
  type MakeError,
} from "./http-response-reader.ts";
import { HttpStatusError } from "./http-failure.ts";
import { isRefusal, MAX_ATTEMPTS, type Authorization } from "./authorization.ts";
import type { Channel, OutgoingRequest } from "./peer.ts";
import { MAX_IDLE, mayGoOn } from "./resumption.ts";

export interface HttpChannelOptions extends ConnectionOptions {
  readonly url: URL;
  readonly headers: Readonly<Record<string, string>>;
  /** Credentials that can change. They win over `headers`. */
  readonly authorization?: Authorization | undefined;
  readonly maxMessageBytes: number;
  /** A response body is passed on as it is, whether it is a message or not. */
  onMessage(bytes: Buffer, via?: number): void;
  /** Whether this request still waits for its reply. */
  isWaiting(id: number): boolean;
  /** The request has ended: no reply will follow. Called for every request, also after its reply. */
  onFinished(id: number, why: MakeError): void;
  /** The server cannot be reached. */
  onUnreachable(error: HubError): void;
}

const DELETE_TIMEOUT_MS = 1000;
const JSON_BODY = { "content-type": "application/json" };

export class HttpChannel implements Channel {
  readonly #options: HttpChannelOptions;
  readonly #connection: HttpConnection;
  readonly #path: string;
  /** Open requests with their abort function; null while they have no connection. */
  readonly #open = new SmallMap<number, Abort | null>();
  readonly #owner: ResponseListener;
  #session: string | undefined;
  #version: string | undefined;
  /** The headers of every POST, cached until the session, the revision or the credentials change. */
  #postHeaders: string[] | undefined;
  /** The generation of the credentials in them. */
  #postGeneration = 0;
  #closeCancels = false;
  #closed = false;

  constructor(options: HttpChannelOptions) {
    this.#options = options;
    this.#connection = new HttpConnection(options.url.origin, options);
    this.#path = pathOf(options.url);
    this.#owner = {
      maxMessageBytes: options.maxMessageBytes,
      onStart: (stream, abort) => this.#started(stream, abort),
      onResponse: (headers) => this.#learnSession(headers),
      onMessage: (bytes, via) => options.onMessage(bytes, via),
      onEnd: (stream, why, status) => this.#ended(stream, why, status),
      onLost: (error) => {
        if (!this.#closed) options.onUnreachable(error);
      },
    };
  }

  /** After the handshake every request names the revision. In the modern era closing the stream cancels the request. */
  agreed(version: string, { closeCancels }: { closeCancels: boolean }): void {
    this.#version = version;
    this.#closeCancels = closeCancels;
    this.#postHeaders = undefined;
  }

  send(bytes: Buffer, request?: OutgoingRequest): void {
    if (this.#closed) return;
    const via = request?.id;
    if (via !== undefined) this.#open.set(via, null);
    const stream = newStream(via);
    if (this.#options.authorization === undefined) return this.#post(bytes, stream, request?.headers, 0);
    this.#whenAuthorized(stream, (attempt) => this.#post(bytes, stream, request?.headers, attempt));
  }

  deliver(bytes: Buffer): Promise<void> {
    if (this.#closed) return Promise.resolve();
    return new Promise((resolve) => {
      const stream = newStream(undefined, () => resolve());
      this.#whenAuthorized(stream, (attempt) => this.#post(bytes, stream, undefined, attempt));
    });
  }

  abandon(id: number): boolean {
    this.#open.get(id)?.(new HubError("Cancelled", "The request was cancelled"));
    this.#open.delete(id);
    return this.#closeCancels;
  }

  /**
   * Opens the GET stream; `onOpen` is called when the server has accepted it. Resolves when it ends for good, with the HTTP
   * status (405: the server has no such stream).
   */
  listen(onOpen?: () => void): Promise<number | undefined> {
    return new Promise((resolve) => {
      const onDone: ResponseStream["onDone"] = (error, status) => {
        resolve(error instanceof HttpStatusError ? error.status : status);
      };
      const stream = newStream(undefined, onDone, onOpen);
      this.#whenAuthorized(stream, (attempt) => this.#get(stream, {}, attempt));
    });
  }

  /** Ends the session (DELETE, with a short timeout) and all connections. */
  async close(): Promise<void> {
    if (this.#closed) return;
    this.#closed = true;
    for (const abort of this.#open.values()) abort?.(new HubError("Cancelled", "The connection was closed"));
    this.#open.clear();
    if (this.#session !== undefined) await this.#deleteSession();
    await this.#connection.close();
  }

  /** Errors are ignored: if the server has stopped, so has the session. */
  #deleteSession(): Promise<void> {
    return new Promise((resolve) => {
      const timer = setTimeout(resolve, DELETE_TIMEOUT_MS);
      const done = () => {
        clearTimeout(timer);
        resolve();
      };
      this.#connection.dispatch(
        { method: "DELETE", path: this.#path, headers: this.#headers("DELETE") },
        { onResponse: () => undefined, onData: () => undefined, onEnd: done, onError: done },
      );
    });
  }

  #headers(method: OutgoingHttpRequest["method"], more: Readonly<Record<string, string>> = {}): string[] {
    return headerPairs({
      accept: "application/json, text/event-stream",
      ...this.#options.headers,
      ...(this.#version === undefined ? {} : { "mcp-protocol-version": this.#version }),
      ...(this.#session === undefined ? {} : { "mcp-session-id": this.#session }),
      ...this.#options.authorization?.headersFor(method, this.#options.url),
      ...more,
    });
  }

  #post(
    body: Buffer,
    stream: ResponseStream,
    own: Readonly<Record<string, string>> | undefined,
    attempt: number,
  ): void {
    const { authorization } = this.#options;
    if (authorization !== undefined) {
      if (authorization.isPerRequest || authorization.generation !== this.#postGeneration)
        this.#postHeaders = undefined;
      this.#postGeneration = authorization.generation;
      this.#remember(stream, attempt, (next) => this.#post(body, stream, own, next));
    }
    const headers =
      own === undefined
        ? (this.#postHeaders ??= this.#headers("POST", JSON_BODY))
        : this.#headers("POST", { ...JSON_BODY, ...own });
    this.#dispatch({ method: "POST", path: this.#path, headers, body }, stream);
  }

  #get(stream: ResponseStream, more: Readonly<Record<string, string>>, attempt: number): void {
    this.#remember(stream, attempt, (next) => this.#get(stream, more, next));
    this.#dispatch({ method: "GET", path: this.#path, headers: this.#headers("GET", more) }, stream);
  }

  #remember(stream: ResponseStream, attempt: number, sendAgain: (attempt: number) => void): void {
    const { authorization } = this.#options;
    if (authorization !== undefined) stream.sent = { generation: authorization.generation, attempt, sendAgain };
  }

  /** Sends the request once there are credentials for it. */
  #whenAuthorized(stream: ResponseStream, send: (attempt: number) => void, attempt = 0): void {
    const ready = this.#options.authorization?.ready();
    if (ready === undefined) return send(attempt);
    const { via } = stream;
    ready.then(
      () => {
        // Cancelled or closed in the meantime.
        if (!this.#closed && (via === undefined || this.#open.has(via))) send(attempt);
      },
      (thrown: unknown) => this.#finish(stream, () => toHubError(thrown), undefined),
    );
  }

  /** Sends one HTTP request. At its end the stream is done, or resumed by another one. */
  #dispatch(outgoing: OutgoingHttpRequest, stream: ResponseStream): void {
    // A 404 to a GET may only mean that the route does not exist.
    const inSession = outgoing.method === "POST" && this.#session !== undefined;
    this.#connection.dispatch(outgoing, new HttpResponseReader(stream, this.#owner, { inSession }));
  }

  #started({ via }: ResponseStream, abort: Abort): void {
    if (via === undefined) return;
    if (this.#open.has(via)) this.#open.set(via, abort);
    else abort(new HubError("Cancelled", "The request was cancelled before it was sent"));
  }

  #learnSession(headers: ResponseHeaders): void {
    if (this.#options.authorization?.isPerRequest === true) {
      const nonce = headers.get("dpop-nonce");
      if (nonce !== undefined) this.#options.authorization.onNonce(nonce);
    }
    const session = this.#session === undefined ? headers.get("mcp-session-id") : undefined;
    if (session === undefined) return;
    this.#session = session;
    this.#postHeaders = undefined;
  }

  #ended(stream: ResponseStream, why: MakeError, status: number | undefined): void {
    const { via, lastEventId } = stream;
    if (status === 401 || status === 403) {
      if (this.#sendAgain(stream, why())) return;
    }
    const isOpen = via === undefined || (this.#open.has(via) && this.#options.isWaiting(via));
    const isOurs = !this.#closed && !this.#closeCancels && isOpen;
    if (isOurs && lastEventId !== undefined && mayGoOn(why(), status) && stream.idle++ < MAX_IDLE) {
      stream.broken ??= why();
      return this.#resume(stream, lastEventId);
    }
    this.#finish(stream, why, status);
  }

  /** A refused request is sent again if there are, or may be, better credentials. False: the refusal is final. */
  #sendAgain(stream: ResponseStream, error: HubError): boolean {
    const { authorization } = this.#options;
    const { sent, via } = stream;
    if (authorization === undefined || sent === undefined || this.#closed || !isRefusal(error)) return false;
    if (sent.attempt + 1 >= MAX_ATTEMPTS || (via !== undefined && !this.#options.isWaiting(via))) return false;
    const { generation, attempt, sendAgain } = sent;
    authorization.refused({ error, generation, attempt }).then(
      () => this.#whenAuthorized(stream, sendAgain, attempt + 1),
      (thrown: unknown) => this.#finish(stream, () => toHubError(thrown), error.status),
    );
    return true;
  }

  #finish(stream: ResponseStream, why: MakeError, status: number | undefined): void {
    const { via } = stream;
    if (via !== undefined) this.#open.delete(via);
    // The GET stream can be opened again after a refused resumption, so the status of that refusal is not reported.
    const { broken, onDone } = stream;
    if (via !== undefined) this.#options.onFinished(via, broken === undefined ? why : () => broken);
    else onDone?.(broken ?? why(), broken === undefined ? status : undefined);
  }

  #resume(stream: ResponseStream, lastEventId: string): void {
    const { via } = stream;
    if (via !== undefined) this.#open.set(via, null);
    const again = () => {
      if (this.#closed || (via !== undefined && !this.#open.has(via))) return;
      const more = { accept: "text/event-stream", "last-event-id": lastEventId };
      this.#whenAuthorized(stream, (attempt) => this.#get(stream, more, attempt));
    };
    setTimeout(again, stream.retryMs).unref();
  }
}
