// MCP over HTTP+SSE (2024-11-05), the client's side: one GET stream brings all that the server says, and names the address
// that messages are POSTed to. The end of the stream is the end of the connection.

import { HubError } from "../errors.ts";
import { headerPairs, HttpConnection, pathOf, type Abort, type ConnectionOptions } from "./http-connection.ts";
import { errorIn, HttpStatusError, retryAfter, tooLarge } from "./http-failure.ts";
import { onOneLine } from "./json.ts";
import type { Channel, OutgoingRequest } from "./peer.ts";
import { Pieces } from "./pieces.ts";
import { SseParser, type SseEvent } from "./sse.ts";

export interface SseChannelOptions extends ConnectionOptions {
  readonly url: URL;
  readonly headers: Readonly<Record<string, string>>;
  readonly maxMessageBytes: number;
  /** How long the server may take to name its address for messages. */
  readonly endpointTimeoutMs: number;
  onMessage(bytes: Buffer): void;
  /** This request was not taken. */
  onRefused(id: number, error: HubError): void;
  /** The stream is over. */
  onLost(error: HubError): void;
}

/** Of what a server says about a message that it does not take. */
const MAX_REFUSAL_BYTES = 64 << 10;

export class SseChannel implements Channel {
  readonly #options: SseChannelOptions;
  readonly #connection: HttpConnection;
  /** The path that messages go to. */
  #endpoint: string | undefined;
  #version: string | undefined;
  #closed = false;

  private constructor(options: SseChannelOptions) {
    this.#options = options;
    this.#connection = new HttpConnection(options.url.origin, options);
  }

  /** Resolves when the server has named its address for messages. */
  static async open(options: SseChannelOptions): Promise<SseChannel> {
    const channel = new SseChannel(options);
    try {
      channel.#endpoint = pathOf(await channel.#listen());
      return channel;
    } catch (error) {
      await channel.close();
      throw error;
    }
  }

  agreed(version: string): void {
    this.#version = version;
  }

  send(bytes: Buffer, request?: OutgoingRequest): void {
    if (this.#closed || this.#endpoint === undefined) return;
    const headers = this.#headers({ "content-type": "application/json" });
    const pieces = new Pieces();
    let refused: number | undefined;
    let retryAfterMs: number | undefined;
    const fail = (error: HubError) => {
      if (request !== undefined) this.#options.onRefused(request.id, error);
    };
    this.#connection.dispatch(
      { method: "POST", path: this.#endpoint, headers, body: bytes },
      {
        onResponse: (status, responseHeaders) => {
          if (status < 400) return;
          refused = status;
          retryAfterMs = retryAfter(responseHeaders.get("retry-after"));
        },
        // What an accepted message gets is on the stream; here is at most a word of courtesy.
        onData: (chunk) => {
          if (refused !== undefined && pieces.size < MAX_REFUSAL_BYTES) pieces.add(chunk);
        },
        onEnd: () => {
          if (refused === undefined) return;
          const isForgotten = refused === 404;
          const error = new HttpStatusError(refused, errorIn(pieces.take()), { retryAfterMs, isForgotten });
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

  #listen(): Promise<URL> {
    const { url, endpointTimeoutMs } = this.#options;
    return new Promise((resolve, reject) => {
      const fail = (error: HubError) => {
        clearTimeout(timer);
        reject(error);
        this.#lost(error);
      };
      let parser: SseParser | undefined;
      const timer = setTimeout(() => fail(noEndpoint("Timeout")), endpointTimeoutMs);
      const headers = this.#headers({ accept: "text/event-stream" });
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
            if (status !== 200) return abort(new HttpStatusError(status, undefined));
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

/** Only within the origin: what is sent there carries the credentials of this server. */
function endpointOf(text: string, base: URL): URL | HubError {
  const endpoint = URL.canParse(text, base.href) ? new URL(text, base) : undefined;
  if (endpoint?.origin === base.origin) return endpoint;
  return new HubError("ProtocolError", "The server wants messages sent to another origin, which is refused", {
    detail: endpoint === undefined ? "Its endpoint is no address" : endpoint.origin,
  });
}

function noEndpoint(kind: "Timeout" | "ProtocolError"): HubError {
  return new HubError(kind, "The server did not open an event stream that names its address for messages");
}
