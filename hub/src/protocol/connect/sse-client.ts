// MCP over HTTP+SSE (2024-11-05), client side: one GET stream carries all messages of the server, and names the endpoint that
// messages are POSTed to. The connection ends with the stream.

import { HubError, toHubError } from "../../errors.ts";
import { MAX_ATTEMPTS, isRefusal, openAuthorized, type Authorization } from "./authorization.ts";
import { headerPairs, HttpConnection, pathOf, type Abort, type ConnectionOptions } from "./http-connection.ts";
import { challengeIn, errorIn, HttpStatusError, tooLarge, type ChallengeHeaders } from "./http-failure.ts";
import { onOneLine } from "../../lib/json/json.ts";
import type { Channel, OutgoingRequest } from "./peer.ts";
import { Chunks } from "@plugboard/shared/streams/chunks";
import { SseParser, type SseEvent } from "@plugboard/shared/streams/sse";
import { retryAfter } from "../../lib/retry-after.ts";

export interface SseChannelOptions extends ConnectionOptions {
  readonly url: URL;
  readonly headers: Readonly<Record<string, string>>;
  /** Credentials that can change. They win over `headers`. */
  readonly authorization?: Authorization | undefined;
  readonly maxMessageBytes: number;
  /** How long the server may take to name its endpoint. */
  readonly endpointTimeoutMs: number;
  onMessage(bytes: Buffer): void;
  /** The server did not accept this request. */
  onRefused(id: number, error: HubError): void;
  /** The stream is over. */
  onLost(error: HubError): void;
}

/** How much of an error body is read. */
const MAX_ERROR_BYTES = 64 << 10;

export class SseChannel implements Channel {
  readonly #options: SseChannelOptions;
  readonly #connection: HttpConnection;
  /** The address that messages are POSTed to. */
  #endpoint: URL | undefined;
  #version: string | undefined;
  #closed = false;

  private constructor(options: SseChannelOptions) {
    this.#options = options;
    this.#connection = new HttpConnection(options.url.origin, options);
  }

  /** Resolves when the server has named its endpoint. */
  static async open(options: SseChannelOptions): Promise<SseChannel> {
    const { authorization, url } = options;
    const open = async (credentials: Readonly<Record<string, string>>) => {
      const channel = new SseChannel(options);
      try {
        channel.#endpoint = await channel.#listen(credentials);
        return channel;
      } catch (error) {
        await channel.close();
        throw error;
      }
    };
    return openAuthorized(authorization, open, { method: "GET", url });
  }

  agreed(version: string): void {
    this.#version = version;
  }

  send(bytes: Buffer, request?: OutgoingRequest): void {
    const { authorization } = this.#options;
    if (authorization === undefined) return this.#post(bytes, request, 0);
    const ready = authorization.ready();
    if (ready === undefined) return this.#post(bytes, request, 0);
    ready.then(
      () => this.#post(bytes, request, 0),
      (thrown: unknown) => request !== undefined && this.#options.onRefused(request.id, toHubError(thrown)),
    );
  }

  #post(bytes: Buffer, request: OutgoingRequest | undefined, attempt: number): void {
    if (this.#closed || this.#endpoint === undefined) return;
    const { authorization } = this.#options;
    const generation = authorization?.generation ?? 0;
    const headers = this.#headers({
      "content-type": "application/json",
      ...authorization?.headersFor("POST", this.#endpoint),
    });
    const chunks = new Chunks();
    let refused: number | undefined;
    let retryAfterMs: number | undefined;
    let challenge: ChallengeHeaders | undefined;
    const fail = (error: HubError) => {
      if (request !== undefined) this.#options.onRefused(request.id, error);
    };
    this.#connection.dispatch(
      { method: "POST", path: pathOf(this.#endpoint), headers, body: bytes },
      {
        onResponse: (status, responseHeaders) => {
          if (status < 400) return;
          refused = status;
          retryAfterMs = retryAfter(responseHeaders.get("retry-after"));
          challenge = challengeIn(status, responseHeaders);
        },
        // Replies to accepted messages arrive on the stream; the body of the POST is ignored.
        onData: (chunk) => {
          if (refused !== undefined && chunks.size < MAX_ERROR_BYTES) chunks.add(chunk);
        },
        onEnd: () => {
          if (refused === undefined) return;
          const isForgotten = refused === 404;
          const error = new HttpStatusError(refused, errorIn(chunks.take()), { retryAfterMs, isForgotten, challenge });
          if (authorization !== undefined && isRefusal(error) && attempt + 1 < MAX_ATTEMPTS) {
            const again = () => this.#post(bytes, request, attempt + 1);
            authorization
              .refused({ error, generation, attempt })
              .then(again, (thrown: unknown) => fail(toHubError(thrown)));
            return;
          }
          fail(error);
          if (isForgotten) this.#lost(error);
        },
        onError: (error, { unreachable }) => {
          fail(error);
          if (unreachable) this.#lost(error);
        },
      },
    );
  }

  async close(): Promise<void> {
    this.#closed = true;
    await this.#connection.close();
  }

  #headers(more: Readonly<Record<string, string>>): string[] {
    const version = this.#version === undefined ? {} : { "mcp-protocol-version": this.#version };
    return headerPairs({ ...this.#options.headers, ...version, ...more });
  }

  #listen(credentials: Readonly<Record<string, string>>): Promise<URL> {
    const { url, endpointTimeoutMs } = this.#options;
    return new Promise((resolve, reject) => {
      const fail = (error: HubError) => {
        clearTimeout(timer);
        reject(error);
        this.#lost(error);
      };
      let parser: SseParser | undefined;
      const timer = setTimeout(() => fail(noEndpoint("Timeout")), endpointTimeoutMs);
      const headers = this.#headers({ accept: "text/event-stream", ...credentials });
      const onEvent = ({ event, data }: SseEvent, abort: Abort) => {
        if (event === "message") return this.#options.onMessage(onOneLine(data));
        if (event !== "endpoint") return;
        const endpoint = endpointOf(data.toString(), url);
        if (endpoint instanceof HubError) return abort(endpoint);
        clearTimeout(timer);
        resolve(endpoint);
      };
      this.#connection.dispatch(
        { method: "GET", path: pathOf(url), headers },
        {
          onResponse: (status, responseHeaders, abort) => {
            const isStream = responseHeaders.get("content-type")?.startsWith("text/event-stream") === true;
            if (status !== 200) {
              const challenge = challengeIn(status, responseHeaders);
              return abort(new HttpStatusError(status, undefined, { challenge }));
            }
            if (!isStream) return abort(noEndpoint("ProtocolError"));
            const maxBytes = this.#options.maxMessageBytes;
            const onOverflow = () => abort(tooLarge(maxBytes));
            parser = new SseParser({ maxBytes, onEvent: (event) => onEvent(event, abort), onOverflow });
          },
          onData: (chunk) => parser?.push(chunk),
          onEnd: () => fail(new HubError("ConnectionFailed", "The server closed the stream", { delivery: "unknown" })),
          onError: (error) => fail(error),
        },
      );
    });
  }

  #lost(error: HubError): void {
    if (!this.#closed) this.#options.onLost(error);
  }
}

/** Same origin only: messages carry the credentials of this server. */
function endpointOf(text: string, base: URL): URL | HubError {
  const endpoint = URL.canParse(text, base.href) ? new URL(text, base) : undefined;
  if (endpoint?.origin === base.origin) return endpoint;
  return new HubError("ProtocolError", "The server's endpoint for messages has another origin, which is refused", {
    detail: endpoint === undefined ? "Its endpoint is not a URL" : endpoint.origin,
  });
}

function noEndpoint(kind: "Timeout" | "ProtocolError"): HubError {
  return new HubError(kind, "The server did not open an event stream that names its endpoint for messages");
}
