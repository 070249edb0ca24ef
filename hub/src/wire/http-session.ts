// The sessions of legacy clients on one HTTP endpoint: bounded in number, ended by the client, by age, or by the hub.

import { randomUUID } from "node:crypto";
import type { ServerResponse } from "node:http";
import { EventStream } from "./http-answer.ts";
import type { JsonObject } from "./json.ts";
import { writeNotification, type Id, type Raw, type Reply } from "./jsonrpc.ts";
import { Questions, type AskOptions, type ClientStream } from "./questions.ts";
import type { Session } from "./server.ts";

const MAX_SESSIONS = 1000;
const IDLE_MS = 60 * 60 * 1000;
const SWEEP_MS = 60 * 1000;

export interface SessionInit {
  readonly version: string;
  readonly clientInfo: JsonObject | undefined;
  readonly capabilities: JsonObject;
}

export class HttpSession implements Session {
  readonly id = randomUUID();
  readonly version: string;
  readonly clientInfo: JsonObject | undefined;
  readonly capabilities: JsonObject;
  logLevel: string | undefined;
  lastUsedAt = performance.now();
  /** Open requests by the client's id, so that a later POST can cancel them. */
  readonly open = new Map<Id, AbortController>();
  /** What the client was asked, on whichever stream: its answers come in POSTs of their own. */
  readonly questions = new Questions();
  #stream: EventStream | undefined;

  constructor({ version, clientInfo, capabilities }: SessionInit) {
    this.version = version;
    this.clientInfo = clientInfo;
    this.capabilities = capabilities;
  }

  get hasStream(): boolean {
    return this.#stream !== undefined;
  }

  get idle(): boolean {
    return this.#stream === undefined && this.open.size === 0;
  }

  /** Takes the response of a GET as the stream for what the hub says unasked. */
  attach(response: ServerResponse): void {
    this.#stream = new EventStream(response);
    response.once("close", () => {
      this.#stream = undefined;
      this.lastUsedAt = performance.now();
    });
  }

  notify(method: string, params?: Raw): void {
    this.#stream?.send(writeNotification(method, params?.bytes));
  }

  ask(method: string, params: Raw | undefined, options?: AskOptions): Promise<Reply> {
    return this.questions.ask(method, params, { ...options, stream: this.#stream });
  }

  /** As part of a request: on its own stream, or on the session's where the client has let go of that one. */
  askWithin(
    request: { readonly id: Id; readonly answer: ClientStream & { readonly isOpen: boolean } },
    method: string,
    params: Raw | undefined,
    options?: AskOptions,
  ): Promise<Reply> {
    const stream = request.answer.isOpen ? request.answer : this.#stream;
    return this.questions.ask(method, params, { ...options, within: request.id, stream });
  }

  end(): void {
    for (const controller of this.open.values()) controller.abort();
    this.questions.end();
    this.#stream?.end();
  }
}

export class HttpSessions {
  /** In order of last use, the oldest first. */
  readonly #sessions = new Map<string, HttpSession>();
  readonly #onEnd: (session: HttpSession) => void;
  readonly #sweeper: NodeJS.Timeout;

  constructor(onEnd: (session: HttpSession) => void) {
    this.#onEnd = onEnd;
    this.#sweeper = setInterval(() => this.#sweep(), SWEEP_MS).unref();
  }

  add(session: HttpSession): void {
    if (this.#sessions.size >= MAX_SESSIONS) this.#evict();
    this.#sessions.set(session.id, session);
  }

  find(id: string): HttpSession | undefined {
    const session = this.#sessions.get(id);
    if (session === undefined) return undefined;
    session.lastUsedAt = performance.now();
    this.#sessions.delete(id);
    this.#sessions.set(id, session);
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
    const all = [...this.#sessions.values()];
    const oldest = all.find((session) => session.idle) ?? all[0];
    if (oldest !== undefined) this.end(oldest);
  }

  #sweep(): void {
    const before = performance.now() - IDLE_MS;
    for (const session of this.#sessions.values()) {
      if (session.idle && session.lastUsedAt < before) this.end(session);
    }
  }
}
