// One event stream of a legacy session. It outlives its connection: what is said meanwhile is kept, and a client that comes
// back gets what it has missed of this stream, and of no other.

import type { EventLog } from "./event-log.ts";
import { EventStream, onceClosed, type HttpResponse } from "./http-answer.ts";
import type { ClientStream } from "./questions.ts";

export interface SessionStreamOptions {
  /** Unique in the session; part of every event's id. */
  readonly number: number;
  readonly log: EventLog;
  /** Whether the client understands an event that carries an id and nothing else. */
  readonly primes: boolean;
}

export interface AttachOptions {
  readonly headers?: Record<string, string>;
  /** The last event that the client has; without one, it gets what nobody got yet. */
  readonly after?: number;
}

/** When a client that lost its connection should come back. */
const RETRY_MS = 1000;
/** So long a client that lost its connection counts as still there for what it was asked. */
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
  /** Of the last event, and of the last that went to a connection. */
  #said = 0;
  #sent = 0;

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

  /** Whether a question on it may be answered. */
  get isReachable(): boolean {
    const state = this.#state;
    return state.is === "connected" || (state.is === "lost" && performance.now() - state.at < GRACE_MS);
  }

  /** Whether there is something for a client that has this event, or will be. */
  hasMore(after: number): boolean {
    return !this.isOver || this.#options.log.after(this.#options.number, after).length > 0;
  }

  /** Goes on with this response. A connection that it had is ended: the client says that it has lost it. */
  attach(response: HttpResponse, { headers = {}, after }: AttachOptions = {}): void {
    const { log, number, primes } = this.#options;
    const isOver = this.isOver;
    this.#leaveConnection();
    const connection = new EventStream(response, headers);
    const from = after ?? this.#sent;
    if (primes && after === undefined) connection.prime(`${number}-${from}`, RETRY_MS);
    for (const { sequence, message } of log.after(number, from)) connection.send(message, `${number}-${sequence}`);
    this.#sent = this.#said;
    if (isOver) return connection.end();
    this.#state = { is: "connected", connection };
    onceClosed(response, () => {
      if (this.#state.is === "connected" && this.#state.connection === connection) this.#lost();
    });
  }

  send(message: Buffer): void {
    if (this.isOver) return;
    const { log, number } = this.#options;
    const sequence = ++this.#said;
    log.add({ stream: number, sequence, message });
    if (this.#state.is !== "connected") return;
    this.#sent = sequence;
    this.#state.connection.send(message, `${number}-${sequence}`);
  }

  /** News: said once to a client that is away, however often it happens meanwhile. */
  announce(message: Buffer): void {
    const { log, number } = this.#options;
    const waits = !this.isConnected && log.after(number, this.#sent).some((event) => event.message.equals(message));
    if (!waits) this.send(message);
  }

  onceClosed(callback: () => void): () => void {
    this.#onClosed.add(callback);
    return () => this.#onClosed.delete(callback);
  }

  /** Nothing more is said on it. */
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

/** The stream and the event that a `Last-Event-ID` names. */
export function readEventId(id: string): { readonly stream: number; readonly sequence: number } | undefined {
  const [, stream, sequence] = /^(\d{1,15})-(\d{1,15})$/.exec(id) ?? [];
  return stream === undefined || sequence === undefined
    ? undefined
    : { stream: Number(stream), sequence: Number(sequence) };
}
