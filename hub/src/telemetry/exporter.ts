// Sends finished spans to a collector in batches, in the background. The queue is bounded: a slow or unreachable collector
// costs spans, never a call.

import { Agent as HttpAgent, request as httpRequest, type IncomingMessage } from "node:http";
import { Agent as HttpsAgent, request as httpsRequest } from "node:https";
import { promisify } from "node:util";
import { gzip } from "node:zlib";
import type { SpanData } from "./span.ts";

export interface ExporterOptions {
  readonly url: URL;
  readonly headers: Readonly<Record<string, string>>;
  readonly encode: (spans: readonly SpanData[]) => Buffer;
  readonly gzip: boolean;
  readonly timeoutMs: number;
  readonly delayMs: number;
  /** Called for the first failure only. */
  readonly onFailure: (reason: string) => void;
  /** Time limit for sending the rest when it closes. */
  readonly closeMs?: number;
}

const MAX_QUEUED = 2048;
const MAX_BATCH = 256;
const MAX_DELAY_MS = 60_000;
const CLOSE_MS = 2000;
/** Statuses after which the same spans are sent again. */
const TRANSIENT: ReadonlySet<number> = new Set([429, 502, 503, 504]);

const compress = promisify(gzip);

type Sent = "accepted" | "rejected" | "retry";

export class Exporter {
  readonly #options: ExporterOptions;
  readonly #agent: HttpAgent;
  #queue: SpanData[] = [];
  #timer: NodeJS.Timeout | undefined;
  #sending: Promise<void> | undefined;
  #request: AbortController | undefined;
  /** Consecutive failures. */
  #failures = 0;
  #warned = false;
  #state: "open" | "closing" | "closed" = "open";

  constructor(options: ExporterOptions) {
    this.#options = options;
    const agent = { keepAlive: true, maxSockets: 1 };
    this.#agent = options.url.protocol === "https:" ? new HttpsAgent(agent) : new HttpAgent(agent);
  }

  /** Queues a span, or drops it if the queue is full. */
  add(span: SpanData): void {
    if (this.#state !== "open" || this.#queue.length >= MAX_QUEUED) return;
    this.#queue.push(span);
    this.#schedule();
  }

  async close(): Promise<void> {
    if (this.#state !== "open") return;
    this.#state = "closing";
    clearTimeout(this.#timer);
    const deadline = setTimeout(() => {
      this.#state = "closed";
      this.#request?.abort();
    }, this.#options.closeMs ?? CLOSE_MS);
    await this.#sending;
    await this.#sendAll();
    clearTimeout(deadline);
    this.#state = "closed";
  }

  #schedule(): void {
    if (this.#state !== "open" || this.#sending !== undefined) return;
    const full = this.#queue.length >= MAX_BATCH && this.#failures === 0;
    if (this.#timer !== undefined && !full) return;
    clearTimeout(this.#timer);
    const delayMs = full ? 0 : Math.min(this.#options.delayMs * 2 ** this.#failures, MAX_DELAY_MS);
    this.#timer = setTimeout(() => this.#start(), delayMs).unref();
  }

  #start(): void {
    this.#timer = undefined;
    this.#sending = this.#sendAll().finally(() => {
      this.#sending = undefined;
      if (this.#queue.length > 0) this.#schedule();
    });
  }

  /** Sends batches until the queue is empty or a batch must be retried later. */
  async #sendAll(): Promise<void> {
    while (this.#queue.length > 0 && this.#state !== "closed") {
      const batch = this.#queue.splice(0, MAX_BATCH);
      const sent = await this.#send(batch);
      this.#failures = sent === "retry" ? this.#failures + 1 : 0;
      if (sent !== "retry") continue;
      this.#queue = [...batch, ...this.#queue].slice(0, MAX_QUEUED);
      break;
    }
    // No idle connection is kept: the collector may close it just when it is used again.
    this.#agent.destroy();
  }

  async #send(batch: readonly SpanData[]): Promise<Sent> {
    try {
      const body = this.#options.encode(batch);
      const status = await this.#post(this.#options.gzip ? await compress(body) : body);
      if (status >= 200 && status < 300) return "accepted";
      this.#warn(`it answered with HTTP status ${status}`);
      return TRANSIENT.has(status) ? "retry" : "rejected";
    } catch (error) {
      this.#warn(reasonOf(error));
      return "retry";
    }
  }

  #post(body: Buffer): Promise<number> {
    const { url, headers, timeoutMs, gzip: zipped } = this.#options;
    const abort = new AbortController();
    this.#request = abort;
    const timer = setTimeout(() => abort.abort(), timeoutMs);
    const send = url.protocol === "https:" ? httpsRequest : httpRequest;
    const own = {
      "content-type": "application/json",
      "content-length": String(body.length),
      ...(zipped ? { "content-encoding": "gzip" } : {}),
    };
    return new Promise<number>((resolve, reject) => {
      const answered = (response: IncomingMessage) => {
        response.resume();
        response.on("error", reject);
        response.on("end", () => resolve(response.statusCode ?? 0));
      };
      const options = { method: "POST", headers: { ...headers, ...own }, agent: this.#agent, signal: abort.signal };
      const outgoing = send(url, options, answered);
      outgoing.on("error", reject);
      outgoing.end(body);
    }).finally(() => clearTimeout(timer));
  }

  #warn(reason: string): void {
    if (this.#warned) return;
    this.#warned = true;
    this.#options.onFailure(reason);
  }
}

function reasonOf(error: unknown): string {
  const code = error instanceof Error && "code" in error ? String(error.code) : "";
  return code === "ABORT_ERR" ? "it does not answer" : code || "the connection was lost";
}
