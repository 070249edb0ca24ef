// MCP over Streamable HTTP, the client's side: every message is a POST of its own, so what comes back on its stream
// belongs to that request. Also holds the one GET stream on which a legacy server speaks unasked.

import { Pool, type Dispatcher } from "undici";
import { HubError, type Delivery, type ErrorKind } from "../errors.ts";
import { onOneLine } from "./json.ts";
import { readMessage, type RpcError } from "./jsonrpc.ts";
import type { Channel, OutgoingRequest } from "./peer.ts";
import { Pieces } from "./pieces.ts";
import { SseParser } from "./sse.ts";

export interface HttpChannelOptions {
  readonly url: URL;
  readonly headers: Readonly<Record<string, string>>;
  readonly maxMessageBytes: number;
  readonly connectTimeoutMs: number;
  onMessage(bytes: Buffer, via?: number): void;
  /** This request gets no answer any more. Called at the end of every exchange; an answered request is not affected. */
  onFinished(id: number, error: HubError): void;
  /** The server cannot be reached. */
  onUnreachable(error: HubError): void;
}

interface StatusHints {
  readonly retryAfterMs?: number | undefined;
  /** The server no longer knows our session, and so turned the request away unread. */
  readonly isForgotten?: boolean;
}

/** The server answered with an HTTP status in place of a JSON-RPC answer. */
export class HttpStatusError extends HubError {
  readonly status: number;
  /** The JSON-RPC error in the body, where there was one without a usable id. */
  readonly rpcError: RpcError | undefined;

  constructor(status: number, rpcError: RpcError | undefined, { retryAfterMs, isForgotten = false }: StatusHints = {}) {
    const delivery = isForgotten ? "forgotten" : deliveryOf(status, retryAfterMs);
    super(KIND_OF_STATUS.get(status) ?? "ConnectionFailed", `The server answered with HTTP status ${status}`, {
      ...(rpcError === undefined ? {} : { detail: rpcError.message }),
      ...(delivery === undefined ? {} : { delivery }),
      ...(retryAfterMs === undefined ? {} : { retryAfterMs }),
    });
    this.status = status;
    this.rpcError = rpcError;
  }
}

/** What a status says about the request. Nothing is known for the others: the server, or one in between, failed over it. */
function deliveryOf(status: number, retryAfterMs: number | undefined): Delivery | undefined {
  if (status === 429 || (status === 503 && retryAfterMs !== undefined)) return "refused";
  if (status === 502 || status === 503) return "unknown";
  return status < 500 ? "rejected" : undefined;
}

/** Retry-After in either of its forms: seconds, or a date. */
function retryAfter(headers: Headers): number | undefined {
  const text = String(headers["retry-after"] ?? "").trim();
  if (/^\d{1,9}$/.test(text)) return Number(text) * 1000;
  const at = /^[A-Z][a-z]{2}, /.test(text) ? Date.parse(text) : NaN;
  return Number.isNaN(at) ? undefined : Math.max(0, at - Date.now());
}

const KIND_OF_STATUS: ReadonlyMap<number, ErrorKind> = new Map([
  [401, "Unauthenticated"],
  [403, "Forbidden"],
  [429, "RateLimited"],
]);

type Headers = Readonly<Record<string, string | string[] | undefined>>;

export class HttpChannel implements Channel {
  readonly #options: HttpChannelOptions;
  readonly #pool: Pool;
  readonly #path: string;
  /** Requests that somebody waits for; without a controller until there is a connection to send them on. */
  readonly #open = new Map<number, Dispatcher.DispatchController | undefined>();
  #session: string | undefined;
  #version: string | undefined;
  #closeCancels = false;
  #closed = false;

  constructor(options: HttpChannelOptions) {
    this.#options = options;
    this.#path = options.url.pathname + options.url.search;
    this.#pool = new Pool(options.url.origin, {
      connect: { timeout: options.connectTimeoutMs },
      // Deadlines are the request table's, which knows of progress; a stream may stay silent for hours.
      headersTimeout: 0,
      bodyTimeout: 0,
    });
  }

  /** After the handshake every request names the revision. In the modern era a closed stream is the cancellation. */
  agreed(version: string, { closeCancels }: { closeCancels: boolean }): void {
    this.#version = version;
    this.#closeCancels = closeCancels;
  }

  send(bytes: Buffer, request?: OutgoingRequest): void {
    if (this.#closed) return;
    const headers = { ...this.#headers(), "content-type": "application/json", ...request?.headers };
    const id = request?.id;
    if (id !== undefined) this.#open.set(id, undefined);
    this.#dispatch({ method: "POST", path: this.#path, headers, body: bytes }, id, (error) => {
      if (id !== undefined) this.#options.onFinished(id, error);
    });
  }

  deliver(bytes: Buffer): Promise<void> {
    if (this.#closed) return Promise.resolve();
    const headers = { ...this.#headers(), "content-type": "application/json" };
    return new Promise((resolve) => {
      this.#dispatch({ method: "POST", path: this.#path, headers, body: bytes }, undefined, () => resolve());
    });
  }

  abandon(id: number): boolean {
    this.#open.get(id)?.abort(new HubError("Cancelled", "The request was cancelled"));
    this.#open.delete(id);
    return this.#closeCancels;
  }

  /** Opens the GET stream. Resolves when it ends, with the status that the server gave (405: it has none). */
  listen(): Promise<number | undefined> {
    return new Promise((resolve) => {
      this.#dispatch({ method: "GET", path: this.#path, headers: this.#headers() }, undefined, (error, status) => {
        resolve(error instanceof HttpStatusError ? error.status : status);
      });
    });
  }

  /** Ends the session, politely but briefly, and all connections. */
  async close(): Promise<void> {
    if (this.#closed) return;
    this.#closed = true;
    for (const controller of this.#open.values())
      controller?.abort(new HubError("Cancelled", "The connection was closed"));
    this.#open.clear();
    if (this.#session !== undefined) {
      const signal = AbortSignal.timeout(GOODBYE_MS);
      await this.#pool
        .request({ method: "DELETE", path: this.#path, headers: this.#headers(), signal })
        .then(({ body }) => body.dump())
        .catch(() => undefined); // the server may be gone already; the session then ends by itself
    }
    await this.#pool.destroy();
  }

  #headers(): Record<string, string> {
    return {
      accept: "application/json, text/event-stream",
      ...this.#options.headers,
      ...(this.#version === undefined ? {} : { "mcp-protocol-version": this.#version }),
      ...(this.#session === undefined ? {} : { "mcp-session-id": this.#session }),
    };
  }

  /** One exchange. `done` is called once, at its end; `via` is the request that the incoming messages belong to. */
  #dispatch(
    options: { method: "POST" | "GET"; path: string; headers: Record<string, string>; body?: Buffer },
    via: number | undefined,
    done: (error: HubError, status?: number) => void,
  ): void {
    let body: Body | undefined;
    let status = 0;
    let isForgotten = false;
    this.#pool.dispatch(options, {
      onRequestStart: (controller) => {
        if (via === undefined) return;
        if (this.#open.has(via)) this.#open.set(via, controller);
        else controller.abort(new HubError("Cancelled", "The request was cancelled before it was sent"));
      },
      onResponseStart: (controller, code, headers) => {
        status = code;
        // A GET may just find no such route.
        isForgotten = options.method === "POST" && code === 404 && this.#session !== undefined;
        this.#learnSession(headers);
        const onOverflow = () => controller.abort(tooLarge(this.#options.maxMessageBytes));
        body = this.#bodyReader({ status: code, headers, via, isForgotten, onOverflow });
      },
      onResponseData: (_, chunk) => body?.push(chunk),
      onResponseEnd: () => {
        if (via !== undefined) this.#open.delete(via);
        const failure = body?.end();
        done(failure ?? unanswered(), status);
        // By a restart as a rule: only a new handshake helps.
        if (failure !== undefined && isForgotten) this.#options.onUnreachable(failure);
      },
      onResponseError: (_, error) => {
        if (via !== undefined) this.#open.delete(via);
        const failure = error instanceof HubError ? error : broken(error, status);
        done(failure, status === 0 ? undefined : status);
        // A reset may be an idle connection that the server closed just then; only a refused one says that it is gone.
        if (!this.#closed && NO_CONNECTION.has(codeOf(error))) this.#options.onUnreachable(failure);
      },
    });
  }

  #learnSession(headers: Headers): void {
    const session = headers["mcp-session-id"];
    if (this.#session === undefined && typeof session === "string") this.#session = session;
  }

  #bodyReader({ status, headers, via, isForgotten, onOverflow }: Response): Body {
    const maxBytes = this.#options.maxMessageBytes;
    const onMessage = (bytes: Buffer) => this.#options.onMessage(onOneLine(bytes), via);
    if (status >= 200 && status < 300 && String(headers["content-type"]).startsWith("text/event-stream")) {
      const parser = new SseParser({ maxBytes, onEvent: ({ data }) => onMessage(data), onOverflow });
      return {
        push: (chunk) => parser.push(chunk),
        end: () =>
          new HubError("ConnectionFailed", "The server closed the stream before it answered", { delivery: "unknown" }),
      };
    }
    return wholeBody({ status, isForgotten, retryAfterMs: retryAfter(headers), maxBytes, onMessage, onOverflow });
  }
}

interface Response {
  readonly status: number;
  readonly headers: Headers;
  readonly via: number | undefined;
  readonly isForgotten: boolean;
  readonly onOverflow: () => void;
}

/** How the body of one response is read. `end` gives the error for a request that is still unanswered then. */
interface Body {
  push(chunk: Buffer): void;
  end(): HubError | undefined;
}

function wholeBody(options: {
  status: number;
  isForgotten: boolean;
  retryAfterMs: number | undefined;
  maxBytes: number;
  onMessage: (bytes: Buffer) => void;
  onOverflow: () => void;
}): Body {
  const pieces = new Pieces();
  return {
    push: (chunk) => {
      if (pieces.size + chunk.length > options.maxBytes) options.onOverflow();
      else pieces.add(chunk);
    },
    end: () => {
      const bytes = pieces.take();
      // Also an error status may carry a real answer: the modern era sends 400 and 404 with one.
      if (bytes.length > 0 && readMessage(bytes, { lenient: true }).kind !== "malformed") {
        options.onMessage(bytes);
      }
      return options.status >= 400 ? new HttpStatusError(options.status, errorIn(bytes), options) : undefined;
    },
  };
}

/** The `error` of a JSON-RPC body that names no request. */
function errorIn(bytes: Buffer): RpcError | undefined {
  try {
    const { error } = JSON.parse(bytes.toString());
    return typeof error?.code === "number" && typeof error?.message === "string" ? error : undefined;
  } catch {
    return undefined; // an HTML page of a proxy, say
  }
}

function unanswered(): HubError {
  return new HubError("ProtocolError", "The server ended the exchange without an answer", { delivery: "unknown" });
}

function tooLarge(maxBytes: number): HubError {
  return new HubError("ProtocolError", `The server's answer is larger than ${maxBytes} bytes`);
}

function broken(error: Error, status: number): HubError {
  const detail = codeOf(error);
  const refused = status === 0 && NO_CONNECTION.has(detail);
  const message = refused ? "The server cannot be reached" : "The connection broke before the answer was complete";
  return new HubError("ConnectionFailed", message, { detail, delivery: refused ? "unsent" : "unknown", cause: error });
}

function codeOf(error: Error): string {
  return "code" in error && typeof error.code === "string" ? error.code : error.name;
}

/** There was never a connection that the request could have gone through. */
const NO_CONNECTION: ReadonlySet<string> = new Set([
  "ECONNREFUSED",
  "ENOTFOUND",
  "EAI_AGAIN",
  "EHOSTUNREACH",
  "ENETUNREACH",
  "ETIMEDOUT",
  "UND_ERR_CONNECT_TIMEOUT",
]);

const GOODBYE_MS = 1000;
