// MCP over Streamable HTTP, the client's side: every message is a POST of its own, so what comes back on its stream
// belongs to that request. Also holds the one GET stream on which a legacy server speaks unasked. A legacy stream that ends
// too early is taken up again where it stopped, if the server numbers its events.

import { HubError } from "../errors.ts";
import { InFlight } from "./in-flight.ts";
import {
  headerPairs,
  HttpConnection,
  pathOf,
  type Abort,
  type ConnectionOptions,
  type Outgoing,
  type ResponseHeaders,
} from "./http-connection.ts";
import { HttpExchange, newStream, type ExchangeOwner, type Stream, type Why } from "./http-exchange.ts";
import { HttpStatusError } from "./http-failure.ts";
import type { Channel, OutgoingRequest } from "./peer.ts";
import { MAX_IDLE, mayGoOn } from "./resumption.ts";

export interface HttpChannelOptions extends ConnectionOptions {
  readonly url: URL;
  readonly headers: Readonly<Record<string, string>>;
  readonly maxMessageBytes: number;
  /** What answers a request comes as it is, a message or not. */
  onMessage(bytes: Buffer, via?: number): void;
  /** Whether somebody still waits for the answer to this request. */
  isWaiting(id: number): boolean;
  /** This request gets no answer any more. Called at the end of every exchange; an answered request is not affected. */
  onFinished(id: number, why: Why): void;
  /** The server cannot be reached. */
  onUnreachable(error: HubError): void;
}

const GOODBYE_MS = 1000;
const JSON_BODY = { "content-type": "application/json" };

export class HttpChannel implements Channel {
  readonly #options: HttpChannelOptions;
  readonly #connection: HttpConnection;
  readonly #path: string;
  /** Requests that somebody waits for; without a way to abort them while they have no connection. */
  readonly #open = new InFlight<number, Abort | null>();
  readonly #owner: ExchangeOwner;
  #session: string | undefined;
  #version: string | undefined;
  /** Of every POST, until the session or the revision changes. */
  #postHeaders: string[] | undefined;
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

  /** After the handshake every request names the revision. In the modern era a closed stream is the cancellation. */
  agreed(version: string, { closeCancels }: { closeCancels: boolean }): void {
    this.#version = version;
    this.#closeCancels = closeCancels;
    this.#postHeaders = undefined;
  }

  send(bytes: Buffer, request?: OutgoingRequest): void {
    if (this.#closed) return;
    const via = request?.id;
    if (via !== undefined) this.#open.set(via, null);
    this.#post(bytes, newStream(via), request?.headers);
  }

  deliver(bytes: Buffer): Promise<void> {
    if (this.#closed) return Promise.resolve();
    return new Promise((resolve) =>
      this.#post(
        bytes,
        newStream(undefined, () => resolve()),
      ),
    );
  }

  abandon(id: number): boolean {
    this.#open.get(id)?.(new HubError("Cancelled", "The request was cancelled"));
    this.#open.delete(id);
    return this.#closeCancels;
  }

  /**
   * Opens the GET stream, and says when the server has taken it. Resolves when it ends for good, with the status that the
   * server gave (405: it has none).
   */
  listen(onOpen?: () => void): Promise<number | undefined> {
    return new Promise((resolve) => {
      const onDone: Stream["onDone"] = (error, status) => {
        resolve(error instanceof HttpStatusError ? error.status : status);
      };
      const stream = newStream(undefined, onDone, onOpen);
      this.#dispatch({ method: "GET", path: this.#path, headers: this.#headers() }, stream);
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
        { method: "DELETE", path: this.#path, headers: this.#headers() },
        { onResponse: () => undefined, onData: () => undefined, onEnd: done, onError: done },
      );
    });
  }

  #headers(more: Readonly<Record<string, string>> = {}): string[] {
    return headerPairs({
      accept: "application/json, text/event-stream",
      ...this.#options.headers,
      ...(this.#version === undefined ? {} : { "mcp-protocol-version": this.#version }),
      ...(this.#session === undefined ? {} : { "mcp-session-id": this.#session }),
      ...more,
    });
  }

  #post(body: Buffer, stream: Stream, own?: Readonly<Record<string, string>>): void {
    const headers =
      own === undefined ? (this.#postHeaders ??= this.#headers(JSON_BODY)) : this.#headers({ ...JSON_BODY, ...own });
    this.#dispatch({ method: "POST", path: this.#path, headers, body }, stream);
  }

  /** One exchange. At its end the stream is done, or taken up again by another one. */
  #dispatch(outgoing: Outgoing, stream: Stream): void {
    // A GET may just find no such route.
    const inSession = outgoing.method === "POST" && this.#session !== undefined;
    this.#connection.dispatch(outgoing, new HttpExchange(stream, this.#owner, { inSession }));
  }

  #started({ via }: Stream, abort: Abort): void {
    if (via === undefined) return;
    if (this.#open.has(via)) this.#open.set(via, abort);
    else abort(new HubError("Cancelled", "The request was cancelled before it was sent"));
  }

  #learnSession(headers: ResponseHeaders): void {
    const session = this.#session === undefined ? headers.get("mcp-session-id") : undefined;
    if (session === undefined) return;
    this.#session = session;
    this.#postHeaders = undefined;
  }

  #ended(stream: Stream, why: Why, status: number | undefined): void {
    const { via, lastEventId } = stream;
    const isOpen = via === undefined || (this.#open.has(via) && this.#options.isWaiting(via));
    const isOurs = !this.#closed && !this.#closeCancels && isOpen;
    if (isOurs && lastEventId !== undefined && mayGoOn(why(), status) && stream.idle++ < MAX_IDLE) {
      stream.broken ??= why();
      return this.#resume(stream, lastEventId);
    }
    if (via !== undefined) this.#open.delete(via);
    // Announcements can begin anew after a refused resumption: its status is not about them.
    const { broken, onDone } = stream;
    if (via !== undefined) this.#options.onFinished(via, broken === undefined ? why : () => broken);
    else onDone?.(broken ?? why(), broken === undefined ? status : undefined);
  }

  #resume(stream: Stream, lastEventId: string): void {
    const { via } = stream;
    if (via !== undefined) this.#open.set(via, null);
    const again = () => {
      if (this.#closed || (via !== undefined && !this.#open.has(via))) return;
      const headers = this.#headers({ accept: "text/event-stream", "last-event-id": lastEventId });
      this.#dispatch({ method: "GET", path: this.#path, headers }, stream);
    };
    setTimeout(again, stream.retryMs).unref();
  }
}
