// Streamable HTTP for the browser: posts messages, reads the answers and streams, and resumes a stream that breaks. What messages
// mean is left to the client.

import { sleep } from "../hub/backoff.ts";
import { EventParser } from "../hub/sse.ts";
import { ConnectionError, readMessages, toAnswer, type RequestId } from "./messages.ts";

const RECONNECT_MS = [500, 1000, 2000, 4000, 8000];
const MAX_PAUSE_MS = 15_000;

export interface TransportOptions {
  readonly url: string;
  /** Adds the session of the page; a plain fetch in tests. */
  readonly fetch: typeof fetch;
  /** Waits; replaced in tests. */
  readonly pause?: (ms: number, signal: AbortSignal) => Promise<void>;
}

interface Receiver {
  /** `call`: the request of ours on whose stream the text came. */
  readonly onText: (text: string, call: RequestId | undefined) => void;
  /** Whether the answer of a request has not come yet. */
  readonly isWaiting: (call: RequestId) => boolean;
}

export class Transport {
  readonly #options: TransportOptions;
  readonly #receiver: Receiver;
  readonly #pause: (ms: number, signal: AbortSignal) => Promise<void>;
  #session: string | undefined;
  /** Agreed with the server; undefined before that. */
  revision: string | undefined;

  constructor(options: TransportOptions, receiver: Receiver) {
    this.#options = options;
    this.#receiver = receiver;
    this.#pause = options.pause ?? sleep;
  }

  /** The next message begins a new session. */
  forgetSession(): void {
    this.#session = undefined;
  }

  /** Tells the hub that the session is over. */
  endSession(): void {
    if (this.#session === undefined) return;
    const { url, fetch } = this.#options;
    // The hub drops sessions that are not used: a failure has no consequence.
    fetch(url, { method: "DELETE", headers: this.#headers(), keepalive: true }).catch(() => undefined);
  }

  /** Sends a message and reads what comes back, until the stream ends. Resumes a stream that breaks. */
  async post(text: string, call: RequestId | undefined, signal: AbortSignal): Promise<void> {
    const response = await this.#fetch("POST", { body: text, signal });
    this.#session = response.headers.get("mcp-session-id") ?? this.#session;
    if (!isEventStream(response)) {
      const body = await response.text();
      if (body !== "") this.#receiver.onText(body, call);
      return;
    }
    await this.#readResumed(response, call, signal);
  }

  /** Keeps a stream open for messages that belong to no request, until the session ends. */
  async listen(signal: AbortSignal): Promise<void> {
    const session = this.#session;
    for (let attempt = 0; !signal.aborted && session === this.#session;) {
      try {
        // Each stream follows the one before it.
        // oxlint-disable-next-line no-await-in-loop
        const response = await this.#fetch("GET", { signal });
        if (!isEventStream(response)) return;
        // oxlint-disable-next-line no-await-in-loop
        await this.#read(response, undefined);
        attempt = 0;
      } catch (error) {
        // 405: this endpoint has no such stream. 404: the session is over.
        if (error instanceof ConnectionError && error.status !== undefined && error.status < 500) return;
      }
      // oxlint-disable-next-line no-await-in-loop
      await this.#pause(RECONNECT_MS[Math.min(attempt++, RECONNECT_MS.length - 1)] ?? MAX_PAUSE_MS, signal);
    }
  }

  async #readResumed(first: Response, call: RequestId | undefined, signal: AbortSignal): Promise<void> {
    const isOpen = () => call !== undefined && this.#receiver.isWaiting(call);
    let end = await this.#read(first, call);
    for (const ms of RECONNECT_MS) {
      if (!isOpen() || signal.aborted || end.lastId === undefined) return;
      // oxlint-disable-next-line no-await-in-loop
      await this.#pause(Math.min(end.retryMs ?? ms, MAX_PAUSE_MS), signal);
      try {
        // oxlint-disable-next-line no-await-in-loop
        const response = await this.#fetch("GET", { signal, lastEventId: end.lastId });
        // oxlint-disable-next-line no-await-in-loop
        const next = await this.#read(response, call);
        end = { lastId: next.lastId ?? end.lastId, retryMs: next.retryMs ?? end.retryMs };
      } catch (error) {
        if (error instanceof ConnectionError && error.status !== undefined) {
          // The session that held the answer is gone. Another attempt could repeat the work.
          throw new ConnectionError("The connection was lost before the answer came");
        }
      }
    }
    if (isOpen()) throw new ConnectionError("The connection was lost before the answer came");
  }

  /** Reads to the end of the stream, or to the point where it breaks. */
  async #read(response: Response, call: RequestId | undefined): Promise<StreamEnd> {
    const parser = new EventParser(({ data }) => {
      // An event without data only gives an id to resume from.
      if (data !== "") this.#receiver.onText(data, call);
    });
    const reader = response.body?.pipeThrough(new TextDecoderStream()).getReader();
    try {
      for (;;) {
        // oxlint-disable-next-line no-await-in-loop
        const piece = await reader?.read();
        if (piece?.value === undefined) break;
        parser.push(piece.value);
      }
    } catch {
      // A broken stream: the caller resumes it.
    }
    return { lastId: parser.lastId, retryMs: parser.retryMs };
  }

  async #fetch(method: "POST" | "GET", options: FetchOptions): Promise<Response> {
    const headers = this.#headers();
    headers.set("accept", method === "POST" ? "application/json, text/event-stream" : "text/event-stream");
    if (options.body !== undefined) headers.set("content-type", "application/json");
    if (options.lastEventId !== undefined) headers.set("last-event-id", options.lastEventId);
    let response: Response;
    try {
      response = await this.#options.fetch(this.#options.url, {
        method,
        headers,
        signal: options.signal,
        ...(options.body === undefined ? {} : { body: options.body }),
      });
    } catch (error) {
      options.signal.throwIfAborted();
      throw new ConnectionError(error instanceof Error ? error.message : "The hub does not answer");
    }
    if (response.ok) return response;
    throw await toConnectionError(response);
  }

  #headers(): Headers {
    const headers = new Headers();
    if (this.#session !== undefined) headers.set("mcp-session-id", this.#session);
    if (this.revision !== undefined) headers.set("mcp-protocol-version", this.revision);
    return headers;
  }
}

interface FetchOptions {
  readonly body?: string;
  readonly lastEventId?: string;
  readonly signal: AbortSignal;
}

interface StreamEnd {
  readonly lastId: string | undefined;
  readonly retryMs: number | undefined;
}

function isEventStream(response: Response): boolean {
  return response.headers.get("content-type")?.startsWith("text/event-stream") ?? false;
}

async function toConnectionError(response: Response): Promise<ConnectionError> {
  const { status } = response;
  const [received] = readMessages(await response.text().catch(() => ""));
  const problem = received?.message;
  const rpc = received === undefined ? undefined : toAnswer(received);
  const words = problem?.["message"] ?? problem?.["detail"] ?? (rpc?.kind === "error" ? rpc.error.message : undefined);
  return new ConnectionError(typeof words === "string" ? words : `The hub answered with status ${status}`, {
    status,
    problem,
  });
}
