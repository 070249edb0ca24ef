// The sessions of legacy clients on one HTTP endpoint: bounded in number, ended by the client, by age, or by the hub. Those
// that an earlier process had go on here, where their records are kept (session-records.ts).

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
import type { SessionRecord, SessionRecords } from "./session-records.ts";
import { readEventId, SessionStream } from "./session-stream.ts";

const MAX_SESSIONS = 1000;
export const IDLE_MS = 60 * 60 * 1000;
const SWEEP_MS = 60 * 1000;
/** A session in use is put on record again after so long, so that its record does not age. */
export const RECORD_MS = 10 * 60 * 1000;
/** A client that has this share of all sessions makes room for its next ones itself, with those unused for this long. */
const MAX_SHARE = MAX_SESSIONS / 2;
const LEFT_ALONE_MS = 60 * 1000;
/** Streams that are over, for clients that missed their end. */
const MAX_OVER = 64;
/** Before it, clients took every event for a message. */
const PRIMING_VERSION = "2025-11-25";

export class HttpSession implements Session {
  readonly id: string;
  readonly version: string;
  readonly clientInfo: JsonObject | undefined;
  readonly capabilities: JsonObject;
  logLevel: string | undefined;
  lastUsedAt = performance.now();
  /** Which of all uses of the endpoint's sessions was its last: what a clock cannot tell apart. */
  lastUse = 0;
  /** Its client has come back after `initialize`. */
  isUsed = false;
  /** When it was last put on record. */
  recordedAt = 0;
  /** Resources that its client watches. */
  readonly watched: Set<string>;
  /** Open requests by the client's id, so that a later POST can cancel them. */
  readonly open = new InFlight<Id, Cancellable>();
  /** What the client was asked, on whichever stream: its answers come in POSTs of their own. */
  readonly questions = new Questions();
  readonly #log: EventLog;
  readonly #streams = new Map<number, SessionStream>();
  #nextStream: number;
  /** Of the process that had the session before. */
  readonly #formerStream: number | undefined;
  /** For what the hub says unasked. What nobody listens to is kept for who comes. */
  readonly #announcements: SessionStream;

  constructor(init: SessionInit | SessionRecord, space = new EventSpace()) {
    const record = "id" in init ? init : undefined;
    this.id = record?.id ?? randomUUID();
    this.version = init.version;
    this.clientInfo = init.clientInfo;
    this.capabilities = init.capabilities;
    this.logLevel = record?.logLevel;
    this.watched = new Set(record?.watched);
    this.#formerStream = record?.stream;
    // Numbers that the process before it cannot have used: an event of its streams must not be taken for one of these.
    this.#nextStream = record === undefined ? 0 : Date.now();
    this.#log = new EventLog(space);
    this.#announcements = this.openStream();
  }

  get record(): SessionRecord {
    const { id, version, clientInfo, capabilities, logLevel } = this;
    const stream = this.#announcements.number;
    return { id, version, clientInfo, capabilities, logLevel, watched: [...this.watched], stream };
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
    if (stream === undefined && number === this.#formerStream && !this.hasStream) {
      this.attach(response);
      return "resumed";
    }
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

export interface HttpSessionsOptions {
  onEnd(session: HttpSession): void;
  /** A session of an earlier process goes on. */
  onRevived?(session: HttpSession): void;
  readonly records?: SessionRecords | undefined;
}

export class HttpSessions {
  readonly #options: HttpSessionsOptions;
  readonly #sessions = new InFlight<string, HttpSession>();
  /** What is kept for clients that lost a connection. */
  readonly space = new EventSpace();
  #uses = 0;
  readonly #sweeper: NodeJS.Timeout;

  constructor(options: HttpSessionsOptions) {
    this.#options = options;
    this.#sweeper = setInterval(() => this.#sweep(), SWEEP_MS).unref();
  }

  get count(): number {
    return this.#sessions.size;
  }

  /** Whether there was room for it. A session whose client may come back is ended for no stranger. */
  add(session: HttpSession): boolean {
    if (!this.#makeRoom(session)) return false;
    session.lastUse = ++this.#uses;
    this.#sessions.set(session.id, session);
    this.note(session);
    return true;
  }

  find(id: string): HttpSession | undefined {
    const session = this.#sessions.get(id) ?? this.#revive(id);
    if (session === undefined) return undefined;
    session.lastUsedAt = performance.now();
    session.lastUse = ++this.#uses;
    session.isUsed = true;
    return session;
  }

  /** What is on record of it has changed, or is about to be too old. */
  note(session: HttpSession): void {
    session.recordedAt = performance.now();
    this.#options.records?.put(session.record);
  }

  end(session: HttpSession): void {
    if (!this.#sessions.delete(session.id)) return;
    session.end();
    this.#options.records?.remove(session.id);
    this.#options.onEnd(session);
  }

  /** The hub stops: what is on record stays, for the next process. */
  close(): void {
    clearInterval(this.#sweeper);
    for (const session of this.#sessions.values()) {
      this.#sessions.delete(session.id);
      session.end();
      this.#options.onEnd(session);
    }
  }

  #revive(id: string): HttpSession | undefined {
    const record = this.#options.records?.find(id);
    if (record === undefined) return undefined;
    const session = new HttpSession(record, this.space);
    if (!this.add(session)) return undefined;
    this.#options.onRevived?.(session);
    return session;
  }

  /**
   * What nobody will miss goes first: sessions past their time, and those whose clients never came back after `initialize`.
   * Then the client itself, if it has most of them: some open one for each call, and end none.
   */
  #makeRoom({ clientInfo }: HttpSession): boolean {
    if (this.#sessions.size < MAX_SESSIONS) return true;
    this.#sweep();
    if (this.#sessions.size < MAX_SESSIONS) return true;
    const idle = this.#sessions.values().filter((session) => session.idle);
    const name = nameOf(clientInfo);
    const own = idle.filter((session) => nameOf(session.clientInfo) === name);
    const before = performance.now() - LEFT_ALONE_MS;
    const leaving =
      oldestOf(idle.filter((session) => !session.isUsed)) ??
      (own.length > MAX_SHARE ? oldestOf(own.filter((session) => session.lastUsedAt < before)) : undefined);
    if (leaving === undefined) return false;
    this.end(leaving);
    return true;
  }

  #sweep(): void {
    const now = performance.now();
    for (const session of this.#sessions.values()) {
      if (session.idle && session.lastUsedAt < now - IDLE_MS) this.end(session);
      else if (session.recordedAt < now - RECORD_MS && (!session.idle || session.lastUsedAt > session.recordedAt)) {
        this.note(session);
      }
    }
  }
}

function nameOf(clientInfo: JsonObject | undefined): unknown {
  return clientInfo?.["name"];
}

function oldestOf(sessions: readonly HttpSession[]): HttpSession | undefined {
  return sessions.reduce<HttpSession | undefined>(
    (oldest, session) => (oldest === undefined || session.lastUse < oldest.lastUse ? session : oldest),
    undefined,
  );
}
