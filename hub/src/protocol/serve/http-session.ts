// The sessions of legacy clients on one HTTP endpoint: bounded in number, ended by the client, by age, or by the hub. Sessions of
// an earlier process continue if they have a record (session-records.ts).

import { randomUUID } from "node:crypto";
import { SmallMap } from "../../lib/small-map.ts";
import type { Cancellable } from "../../lib/cancellation.ts";
import { EventLog, EventBuffer } from "./event-log.ts";
import type { HttpResponse } from "./http-response.ts";
import type { JsonObject } from "../../lib/json/json.ts";
import { writeNotification, type Id, type Raw, type Reply } from "../rpc/jsonrpc.ts";
import { ClientRequests, type AskOptions, type ClientStream } from "./client-requests.ts";
import type { Requester, Session } from "./service.ts";
import { publicIdOf, SessionUsage, type SessionInit } from "./session-init.ts";
import type { SessionRecord, SessionRecords } from "./session-records.ts";
import { readEventId, SessionStream } from "./session-stream.ts";

const MAX_SESSIONS = 1000;
export const IDLE_MS = 60 * 60 * 1000;
const SWEEP_MS = 60 * 1000;
/** The record of a session in use is refreshed this often, so that it does not expire. */
export const RECORD_MS = 10 * 60 * 1000;
/** A client with more than this many sessions loses its own oldest one that was unused for ABANDONED_MS. */
const MAX_SHARE = MAX_SESSIONS / 2;
const ABANDONED_MS = 60 * 1000;
/** Streams that are kept, also ended ones, for clients that missed their end. */
const MAX_STREAMS = 64;
/** Clients of older revisions treat every event as a message. */
const PRIMING_VERSION = "2025-11-25";

interface OwnedInit extends SessionInit {
  readonly owner?: string | undefined;
}

export class HttpSession implements Session {
  readonly id: string;
  readonly publicId: string;
  readonly usage = new SessionUsage();
  readonly version: string;
  readonly clientInfo: JsonObject | undefined;
  readonly capabilities: JsonObject;
  /** The principal that opened it; undefined: the edge does not authenticate. */
  readonly owner: string | undefined;
  logLevel: string | undefined;
  lastUsedAt = performance.now();
  /** Sequence number of its last use: orders uses within the resolution of the clock. */
  lastUse = 0;
  /** Its client has sent a request after `initialize`. */
  isUsed = false;
  /** When its record was last saved. */
  recordedAt = 0;
  /** Subscribed resources. */
  readonly watched: Set<string>;
  /** Who has used it last. */
  requester: Requester | undefined;
  /** It no longer has to end with the access of its requester. */
  release: (() => void) | undefined;
  /** Open requests by the client's id, so that a later POST can cancel them. */
  readonly open = new SmallMap<Id, Cancellable>();
  /** Requests to the client, on any of its streams: their replies arrive in separate POSTs. */
  readonly clientRequests = new ClientRequests();
  readonly #log: EventLog;
  readonly #streams = new Map<number, SessionStream>();
  #nextStream: number;
  /** The announcements' stream in the previous process. */
  readonly #previousStream: number | undefined;
  /** For unsolicited messages, which are buffered while it has no connection. */
  readonly #announcements: SessionStream;

  constructor(init: OwnedInit | SessionRecord, eventBuffer = new EventBuffer(), newId: () => string = randomUUID) {
    const record = "id" in init ? init : undefined;
    this.id = record?.id ?? newId();
    this.publicId = publicIdOf(this.id);
    this.version = init.version;
    this.clientInfo = init.clientInfo;
    this.capabilities = init.capabilities;
    this.owner = init.owner;
    this.logLevel = record?.logLevel;
    this.watched = new Set(record?.watched);
    this.#previousStream = record?.stream;
    // Numbers that the previous process cannot have used, so that event ids never clash.
    this.#nextStream = record === undefined ? 0 : Date.now();
    this.#log = new EventLog(eventBuffer);
    this.#announcements = this.openStream();
  }

  get record(): SessionRecord {
    const { id, version, clientInfo, capabilities, owner, logLevel } = this;
    const stream = this.#announcements.number;
    return { id, version, clientInfo, capabilities, owner, logLevel, watched: [...this.watched], stream };
  }

  get hasStream(): boolean {
    return this.#announcements.isConnected;
  }

  get idle(): boolean {
    return !this.hasStream && this.open.size === 0;
  }

  /** Opens a stream: the announcements', or that of a POST. */
  openStream(): SessionStream {
    const number = this.#nextStream++;
    const stream = new SessionStream({ number, log: this.#log, primes: this.version >= PRIMING_VERSION });
    this.#evictStream();
    this.#streams.set(number, stream);
    return stream;
  }

  /** Uses the response of a GET for unsolicited messages. */
  attach(response: HttpResponse): void {
    this.#announcements.attach(response);
    this.#touchOnClose(response);
  }

  /** Resumes the stream of an event. The response is used only if the result is "resumed". */
  resume(lastEventId: string, response: HttpResponse): "resumed" | "over" | "unknown" {
    const { stream: number = -1, sequence = 0 } = readEventId(lastEventId) ?? {};
    const stream = this.#streams.get(number);
    if (stream === undefined && number === this.#previousStream && !this.hasStream) {
      this.attach(response);
      return "resumed";
    }
    if (stream === undefined) return "unknown";
    if (!stream.hasMore(sequence)) return "over";
    stream.attach(response, { after: sequence });
    this.#touchOnClose(response);
    return "resumed";
  }

  notify(method: string, params?: Raw): void {
    this.#announcements.announce(writeNotification(method, params?.bytes));
  }

  ask(method: string, params: Raw | undefined, options?: AskOptions): Promise<Reply> {
    return this.clientRequests.ask(method, params, { ...options, stream: this.#reachable(this.#announcements) });
  }

  /** As part of a request: on its own stream, or on the session's if the client has closed that one. */
  askWithin(
    request: { readonly id: Id; readonly answer: ClientStream & { readonly isReachable: boolean } },
    method: string,
    params: Raw | undefined,
    options?: AskOptions,
  ): Promise<Reply> {
    const stream = this.#reachable(request.answer) ?? this.#reachable(this.#announcements);
    return this.clientRequests.ask(method, params, { ...options, parentId: request.id, stream });
  }

  end(): void {
    this.release?.();
    for (const controller of this.open.values()) controller.abort();
    this.clientRequests.end();
    // The streams of requests end with their replies.
    this.#announcements.end();
    this.#log.close();
  }

  #reachable<S extends ClientStream & { readonly isReachable: boolean }>(stream: S): S | undefined {
    return stream.isReachable ? stream : undefined;
  }

  #touchOnClose(response: HttpResponse): void {
    response.onceClosed(() => {
      this.lastUsedAt = performance.now();
    });
  }

  #evictStream(): void {
    if (this.#streams.size < MAX_STREAMS) return;
    const ended = [...this.#streams].find(([, stream]) => stream.isOver);
    if (ended !== undefined) this.#streams.delete(ended[0]);
  }
}

export interface HttpSessionsOptions {
  onEnd(session: HttpSession): void;
  /** A session of an earlier process continues. */
  onRevived?(session: HttpSession): void;
  readonly records?: SessionRecords | undefined;
}

export class HttpSessions {
  readonly #options: HttpSessionsOptions;
  readonly #sessions = new Map<string, HttpSession>();
  /** Events for clients that resume. */
  readonly #eventBuffer = new EventBuffer();
  #uses = 0;
  readonly #sweeper: NodeJS.Timeout;

  constructor(options: HttpSessionsOptions) {
    this.#options = options;
    this.#sweeper = setInterval(() => this.#sweep(), SWEEP_MS).unref();
  }

  get count(): number {
    return this.#sessions.size;
  }

  create(init: OwnedInit): HttpSession {
    return new HttpSession(init, this.#eventBuffer, this.#options.records?.newId);
  }

  has(id: string): boolean {
    return this.#sessions.has(id);
  }

  /** Ends a session by its id, if it is here. */
  endOf(id: string): void {
    const session = this.#sessions.get(id);
    if (session !== undefined) this.end(session);
  }

  /**
   * Returns false if the limit is reached. A session that its client may still use is never evicted for another client. It ends
   * with the access of its requester.
   */
  add(session: HttpSession, requester?: Requester): boolean {
    if (!this.#makeRoom(session)) return false;
    session.lastUse = ++this.#uses;
    this.#sessions.set(session.id, session);
    this.#hold(session, requester);
    this.saveRecord(session);
    return true;
  }

  /** A session of another requester is unknown. */
  find(id: string, requester?: Requester): HttpSession | undefined {
    const session = this.#sessions.get(id) ?? this.#revive(id, requester);
    if (session === undefined || session.owner !== requester?.owner) return undefined;
    if (session.requester !== requester) this.#hold(session, requester);
    session.lastUsedAt = performance.now();
    session.lastUse = ++this.#uses;
    session.isUsed = true;
    return session;
  }

  /** It ends with the access of the requester that has used it last, unless that has only expired: a renewed one may go on. */
  #hold(session: HttpSession, requester: Requester | undefined): void {
    session.release?.();
    session.requester = requester;
    session.release = requester?.onceEnded((why) => {
      if (why === "revoked") this.end(session);
    });
  }

  /** Saves or refreshes the record. */
  saveRecord(session: HttpSession): void {
    session.recordedAt = performance.now();
    this.#options.records?.put(session.record);
  }

  /** See SessionRecords. */
  get saved(): Promise<void> | undefined {
    return this.#options.records?.saved?.();
  }

  end(session: HttpSession): void {
    if (!this.#sessions.delete(session.id)) return;
    session.end();
    this.#options.records?.remove(session.id);
    this.#options.onEnd(session);
  }

  /** The hub stops. Records stay for the next process. */
  close(): void {
    clearInterval(this.#sweeper);
    for (const session of this.#sessions.values()) {
      this.#sessions.delete(session.id);
      session.end();
      this.#options.onEnd(session);
    }
  }

  #revive(id: string, requester: Requester | undefined): HttpSession | undefined {
    const record = this.#options.records?.find(id);
    if (record === undefined || record.owner !== requester?.owner) return undefined;
    const session = new HttpSession(record, this.#eventBuffer);
    if (!this.add(session, requester)) return undefined;
    this.#options.onRevived?.(session);
    return session;
  }

  /**
   * Evicts expired sessions first, then one that was never used after `initialize`, then one of the same client if it has most of
   * them: some clients open a session for each call and end none.
   */
  #makeRoom({ clientInfo }: HttpSession): boolean {
    if (this.#sessions.size < MAX_SESSIONS) return true;
    this.#sweep();
    if (this.#sessions.size < MAX_SESSIONS) return true;
    const idle = [...this.#sessions.values()].filter((session) => session.idle);
    const name = nameOf(clientInfo);
    const own = idle.filter((session) => nameOf(session.clientInfo) === name);
    const before = performance.now() - ABANDONED_MS;
    const evicted =
      oldestOf(idle.filter((session) => !session.isUsed)) ??
      (own.length > MAX_SHARE ? oldestOf(own.filter((session) => session.lastUsedAt < before)) : undefined);
    if (evicted === undefined) return false;
    this.end(evicted);
    return true;
  }

  #sweep(): void {
    const now = performance.now();
    for (const session of this.#sessions.values()) {
      if (session.idle && session.lastUsedAt < now - IDLE_MS) this.end(session);
      else if (session.recordedAt < now - RECORD_MS && (!session.idle || session.lastUsedAt > session.recordedAt)) {
        this.saveRecord(session);
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
