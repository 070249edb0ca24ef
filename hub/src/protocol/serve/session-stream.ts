// One event stream of a legacy session. It outlives its connection: events are logged in between, and a client that resumes gets
// the events of this stream that it missed.

import type { EventLog } from "./event-log.ts";
import { EventStream, type HttpResponse } from "./http-response.ts";
import type { ClientStream } from "./client-requests.ts";

export interface SessionStreamOptions {
  /** Unique in the session; part of every event's id. */
  readonly number: number;
  readonly log: EventLog;
  /** Whether the client understands an event with an id and no data. */
  readonly primes: boolean;
}

export interface AttachOptions {
  readonly headers?: Record<string, string>;
  /** The last event that the client has. Default: the last one that was sent to a connection. */
  readonly after?: number;
}

/** When a client that lost its connection should reconnect. */
const RETRY_MS = 1000;
/** How long a client that lost its connection still counts as reachable for requests. */
const GRACE_MS = 30_000;

type State =
  | { readonly is: "connected"; readonly connection: EventStream }
  | { readonly is: "lost"; readonly at: number; readonly timer: NodeJS.Timeout }
  | { readonly is: "unopened" }
  | { readonly is: "over" };

export class SessionStream implements ClientStream {
  readonly #options: SessionStreamOptions;
  readonly #onClosed = new Set<() => void>();
  #state: State = { is: "unopened" };
  /** Sequence numbers of the last event, and of the last one that was sent to a connection. */
  #last = 0;
  #lastSent = 0;

  constructor(options: SessionStreamOptions) {
    this.#options = options;
  }

  get number(): number {
    return this.#options.number;
  }

  get isConnected(): boolean {
    return this.#state.is === "connected";
  }

  get isOver(): boolean {
    return this.#state.is === "over";
  }

  /** Whether a request on it may get a reply. */
  get isReachable(): boolean {
    const state = this.#state;
    return state.is === "connected" || (state.is === "lost" && performance.now() - state.at < GRACE_MS);
  }

  /** Whether there are, or may be, events after this one. */
  hasMore(after: number): boolean {
    return !this.isOver || this.#options.log.after(this.#options.number, after).length > 0;
  }

  /** Continues on this response. Ends the previous connection: the client has lost it. */
  attach(response: HttpResponse, { headers = {}, after }: AttachOptions = {}): void {
    const { log, number, primes } = this.#options;
    const isOver = this.isOver;
    this.#leaveConnection();
    const connection = new EventStream(response, headers);
    const from = after ?? this.#lastSent;
    if (primes && after === undefined) connection.prime(`${number}-${from}`, RETRY_MS);
    for (const { sequence, message } of log.after(number, from)) connection.send(message, `${number}-${sequence}`);
    this.#lastSent = this.#last;
    if (isOver) return connection.end();
    this.#state = { is: "connected", connection };
    response.onceClosed(() => {
      if (this.#state.is === "connected" && this.#state.connection === connection) this.#lost();
    });
  }

  send(message: Buffer): void {
    if (this.isOver) return;
    const { log, number } = this.#options;
    const sequence = ++this.#last;
    log.add({ stream: number, sequence, message });
    if (this.#state.is !== "connected") return;
    this.#lastSent = sequence;
    this.#state.connection.send(message, `${number}-${sequence}`);
  }

  /** Sends a notification. While there is no connection, equal ones are logged once. */
  announce(message: Buffer): void {
    const { log, number } = this.#options;
    const isQueued =
      !this.isConnected && log.after(number, this.#lastSent).some((event) => event.message.equals(message));
    if (!isQueued) this.send(message);
  }

  onceClosed(callback: () => void): () => void {
    this.#onClosed.add(callback);
    return () => this.#onClosed.delete(callback);
  }

  /** No more events follow. */
  end(): void {
    this.#leaveConnection();
    this.#state = { is: "over" };
    this.#closed();
  }

  #leaveConnection(): void {
    if (this.#state.is === "connected") this.#state.connection.end();
    if (this.#state.is === "lost") clearTimeout(this.#state.timer);
  }

  #lost(): void {
    const timer = setTimeout(() => this.#closed(), GRACE_MS).unref();
    this.#state = { is: "lost", at: performance.now(), timer };
  }

  #closed(): void {
    for (const callback of this.#onClosed) callback();
    this.#onClosed.clear();
  }
}

/** Parses a `Last-Event-ID`. */
export function readEventId(id: string): { readonly stream: number; readonly sequence: number } | undefined {
  const [, stream, sequence] = /^(\d{1,15})-(\d{1,15})$/.exec(id) ?? [];
  return stream === undefined || sequence === undefined
    ? undefined
    : { stream: Number(stream), sequence: Number(sequence) };
}
