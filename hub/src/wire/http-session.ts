// The sessions of legacy clients on one HTTP endpoint: bounded in number, ended by the client, by age, or by the hub.

import { randomUUID } from "node:crypto";
import { InFlight } from "./in-flight.ts";
import type { Cancellable } from "./cancellation.ts";
import { EventLog, EventSpace } from "./event-log.ts";
import { onceClosed, type HttpResponse } from "./http-answer.ts";
import type { JsonObject } from "./json.ts";
import { writeNotification, type Id, type Raw, type Reply } from "./jsonrpc.ts";
import { Questions, type AskOptions, type ClientStream } from "./questions.ts";
import type { Session } from "./server.ts";
import type { SessionInit } from "./session-init.ts";
import { readEventId, SessionStream } from "./session-stream.ts";

const MAX_SESSIONS = 1000;
const IDLE_MS = 60 * 60 * 1000;
const SWEEP_MS = 60 * 1000;
/** Streams that are over, for clients that missed their end. */
const MAX_OVER = 64;
/** Before it, clients took every event for a message. */
const PRIMING_VERSION = "2025-11-25";

export class HttpSession implements Session {
  readonly id = randomUUID();
  readonly version: string;
  readonly clientInfo: JsonObject | undefined;
  readonly capabilities: JsonObject;
  logLevel: string | undefined;
  lastUsedAt = performance.now();
  /** Which of all uses of the endpoint's sessions was its last: what a clock cannot tell apart. */
  lastUse = 0;
  /** Open requests by the client's id, so that a later POST can cancel them. */
  readonly open = new InFlight<Id, Cancellable>();
  /** What the client was asked, on whichever stream: its answers come in POSTs of their own. */
  readonly questions = new Questions();
  readonly #log: EventLog;
  readonly #streams = new Map<number, SessionStream>();
  #nextStream = 0;
  /** For what the hub says unasked. What nobody listens to is kept for who comes. */
  readonly #announcements: SessionStream;

  constructor({ version, clientInfo, capabilities }: SessionInit, space = new EventSpace()) {
    this.version = version;
    this.clientInfo = clientInfo;
    this.capabilities = capabilities;
    this.#log = new EventLog(space);
    this.#announcements = this.openStream();
  }

  get hasStream(): boolean {
    return this.#announcements.isConnected;
  }

  get idle(): boolean {
    return !this.hasStream && this.open.size === 0;
  }

  /** Begins a stream: the announcements', or that of a POST. */
  openStream(): SessionStream {
    const number = this.#nextStream++;
    const stream = new SessionStream({ number, log: this.#log, primes: this.version >= PRIMING_VERSION });
    this.#forgetStreams();
    this.#streams.set(number, stream);
    return stream;
  }

  /** Takes the response of a GET as the stream for what the hub says unasked. */
  attach(response: HttpResponse): void {
    this.#announcements.attach(response);
    this.#noteClose(response);
  }

  /** Goes on with the stream that an event belongs to. Says what became of it; the response is taken only by "resumed". */
  resume(lastEventId: string, response: HttpResponse): "resumed" | "over" | "unknown" {
    const { stream: number = -1, sequence = 0 } = readEventId(lastEventId) ?? {};
    const stream = this.#streams.get(number);
    if (stream === undefined) return "unknown";
    if (!stream.hasMore(sequence)) return "over";
    stream.attach(response, { after: sequence });
    this.#noteClose(response);
    return "resumed";
  }

  notify(method: string, params?: Raw): void {
    this.#announcements.announce(writeNotification(method, params?.bytes));
  }

  ask(method: string, params: Raw | undefined, options?: AskOptions): Promise<Reply> {
    return this.questions.ask(method, params, { ...options, stream: this.#reachable(this.#announcements) });
  }

  /** As part of a request: on its own stream, or on the session's where the client has let go of that one. */
  askWithin(
    request: { readonly id: Id; readonly answer: ClientStream & { readonly isReachable: boolean } },
    method: string,
    params: Raw | undefined,
    options?: AskOptions,
  ): Promise<Reply> {
    const stream = this.#reachable(request.answer) ?? this.#reachable(this.#announcements);
    return this.questions.ask(method, params, { ...options, within: request.id, stream });
  }

  end(): void {
    for (const controller of this.open.values()) controller.abort();
    this.questions.end();
    // Those of requests end with their answers.
    this.#announcements.end();
    this.#log.close();
  }

  #reachable<S extends ClientStream & { readonly isReachable: boolean }>(stream: S): S | undefined {
    return stream.isReachable ? stream : undefined;
  }

  #noteClose(response: HttpResponse): void {
    onceClosed(response, () => {
      this.lastUsedAt = performance.now();
    });
  }

  #forgetStreams(): void {
    if (this.#streams.size < MAX_OVER) return;
    const over = [...this.#streams].find(([, stream]) => stream.isOver);
    if (over !== undefined) this.#streams.delete(over[0]);
  }
}

export class HttpSessions {
  readonly #sessions = new InFlight<string, HttpSession>();
  /** What is kept for clients that lost a connection. */
  readonly space = new EventSpace();
  #uses = 0;
  readonly #onEnd: (session: HttpSession) => void;
  readonly #sweeper: NodeJS.Timeout;

  constructor(onEnd: (session: HttpSession) => void) {
    this.#onEnd = onEnd;
    this.#sweeper = setInterval(() => this.#sweep(), SWEEP_MS).unref();
  }

  get count(): number {
    return this.#sessions.size;
  }

  add(session: HttpSession): void {
    if (this.#sessions.size >= MAX_SESSIONS) this.#evict();
    session.lastUse = ++this.#uses;
    this.#sessions.set(session.id, session);
  }

  find(id: string): HttpSession | undefined {
    const session = this.#sessions.get(id);
    if (session === undefined) return undefined;
    session.lastUsedAt = performance.now();
    session.lastUse = ++this.#uses;
    return session;
  }

  end(session: HttpSession): void {
    if (!this.#sessions.delete(session.id)) return;
    session.end();
    this.#onEnd(session);
  }

  close(): void {
    clearInterval(this.#sweeper);
    for (const session of this.#sessions.values()) this.end(session);
  }

  #evict(): void {
    const byUse = this.#sessions.values().toSorted((one, other) => one.lastUse - other.lastUse);
    const oldest = byUse.find((session) => session.idle) ?? byUse[0];
    if (oldest !== undefined) this.end(oldest);
  }

  #sweep(): void {
    const before = performance.now() - IDLE_MS;
    for (const session of this.#sessions.values()) {
      if (session.idle && session.lastUsedAt < before) this.end(session);
    }
  }
}
