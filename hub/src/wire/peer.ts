// The request table of one connection to a server: ids, progress, time-outs, cancellation, and who an incoming
// message belongs to. Knows no transport: a Channel carries the bytes. Knows no era: the caller builds the params.

import { HubError, type Delivery } from "../errors.ts";
import { InFlight } from "./in-flight.ts";
import { Inquiries } from "./inquiries.ts";
import { isArray, readBatch } from "./batch.ts";
import type { Cancellation } from "./cancellation.ts";
import { META } from "./era.ts";
import { isObject } from "./json.ts";
import {
  readMessage,
  writeNotification,
  writeReply,
  writeRequest,
  type Id,
  type NotificationMessage,
  type Reply,
  type RequestMessage,
} from "./jsonrpc.ts";
import { Pending } from "./pending.ts";
import { relatedTask } from "./related-task.ts";

/** Carries messages to a server. HTTP sends every request on its own, so it is told which one it carries. */
export interface Channel {
  send(bytes: Buffer, request?: OutgoingRequest): void;
  /** The caller no longer waits. Returns true if the transport itself tells the server (a closed HTTP stream). */
  abandon?(id: number): boolean;
  /** Sends a message and says when the server has it, for those whose messages may overtake each other. Never rejects. */
  deliver?(bytes: Buffer): Promise<void>;
}

export interface OutgoingRequest {
  readonly id: number;
  readonly method: string;
  readonly headers?: Readonly<Record<string, string>> | undefined;
}

export interface RequestOptions {
  /** Without an answer or progress for this long, the request fails. 0: no limit (a subscription). */
  readonly timeoutMs: number;
  /** Progress restarts the clock, but never beyond this. */
  readonly maxTotalMs?: number;
  readonly signal?: Cancellation | undefined;
  readonly headers?: Readonly<Record<string, string>> | undefined;
  /**
   * Whose request it is; undefined where that cannot be told. On a pipe, nothing says which of several requests a message
   * belongs to: those of one caller are then told apart by what they are doing, those of several never.
   */
  caller?(): string | undefined;
  /** The task whose result it waits for: a question that names the task belongs to this request. */
  readonly task?: string | undefined;
  /** Messages that belong to this request: progress, logs, updates of a subscription. */
  onNotification?(message: NotificationMessage): void;
  /** A question of the server that belongs to this request. The clock stands still until it is answered. */
  readonly onRequest?: (message: RequestMessage, inquiry: OpenInquiry) => Promise<Reply>;
}

/** A question of the server, while it is open. */
export interface OpenInquiry {
  /** Aborts when the answer is no longer wanted. */
  readonly signal: AbortSignal;
  /** Cancels the request that the question belongs to: nobody waits for it any more. */
  readonly giveUp: () => void;
  /** It came on the stream of the request that it belongs to. */
  readonly isPlaced: boolean;
}

export interface PeerHandlers {
  /** A message that belongs to no open request. */
  onNotification(message: NotificationMessage): void;
  /** A question that belongs to no open request, or to one of several: its answer, or who finds one. */
  onRequest(message: RequestMessage, why: Unowned): Reply | FindAnswer | undefined;
}

/** The signal aborts when the server takes its question back. */
export type FindAnswer = (signal: AbortSignal) => Promise<Reply>;

/** Why a question has no owner: no request is open that can have caused it, or several are. */
export type Unowned = "outside" | "ambiguous";

/** What came in and was not usable. Counted, never fatal. */
export interface PeerCounters {
  /** Lines that were no message. */
  junk: number;
  /** Answers to requests that had timed out, were cancelled, or never asked. */
  unclaimed: number;
}

/** Until when we think that the server is at it, and for whom. */
interface Abandoned {
  readonly method: string;
  readonly until: number;
  readonly caller: string | undefined;
}

const MAX_TOTAL_MS = 300_000;
/** A server that was told of a cancellation has this long to ask for the cancelled request still. */
const ABANDONED_MS = 30_000;
/** A timer that comes so late says that the process was stopped, or the machine asleep. */
const LATE_MS = 1000;
const GRACE_MS = 500;
const SIBLINGS_MS = 20;
const MAX_ABANDONED = 1000;
const MAX_BATCH = 1000;
const CANCELLABLE = (method: string) => method !== "initialize" && method !== "server/discover";

export class Peer {
  readonly counters: PeerCounters = { junk: 0, unclaimed: 0 };
  readonly #channel: Channel;
  readonly #handlers: PeerHandlers;
  readonly #pending = new InFlight<number, Pending>();
  /** Given up on by us, while the server may still be at it. */
  readonly #abandoned = new Map<number, Abandoned>();
  readonly #inquiries = new Inquiries();
  #nextId = 1;
  #failure: HubError | undefined;
  /** Those who wait until nothing is open. */
  #onIdle: (() => void)[] = [];

  constructor(channel: Channel, handlers: PeerHandlers) {
    this.#channel = channel;
    this.#handlers = handlers;
  }

  get inFlight(): number {
    return this.#pending.size;
  }

  /** Whether somebody waits for the answer to this request. */
  isWaiting(id: number): boolean {
    return this.#pending.has(id);
  }

  /** Resolves when everything that was asked has its answer or its failure. Subscriptions do not count: they never end. */
  idle(): Promise<void> {
    if (this.#isIdle) return Promise.resolve();
    return new Promise((resolve) => this.#onIdle.push(resolve));
  }

  get #isIdle(): boolean {
    for (const { method } of this.#pending.values()) if (method !== "subscriptions/listen") return false;
    return true;
  }

  /** Sends a request. `build` gets the id, which is also the progress token, and returns the params. */
  request(method: string, build: (id: number) => Buffer | undefined, options: RequestOptions): Promise<Reply> {
    if (this.#failure !== undefined) return Promise.reject(withDelivery(this.#failure, "unsent"));
    if (options.signal?.aborted === true) return Promise.reject(cancelled(method));
    const id = this.#nextId++;
    return new Promise((resolve, reject) => {
      const message = writeRequest(id, method, build(id));
      const pending = new Pending(id, method, options, { resolve, reject, cancel: this.#cancel });
      this.#pending.set(id, pending);
      this.#startClock(pending);
      options.signal?.addEventListener("abort", pending, { once: true });
      try {
        this.#channel.send(message, { id, method, headers: options.headers });
      } catch (thrown) {
        this.#take(id);
        reject(thrown);
      }
    });
  }

  notify(method: string, params?: unknown): void {
    if (this.#failure !== undefined) return;
    this.#channel.send(
      writeNotification(method, params === undefined ? undefined : Buffer.from(JSON.stringify(params))),
    );
  }

  /**
   * Takes one message from the transport. `via` is the request on whose stream it came, where the transport knows. Whether it
   * was an answer that somebody waited for.
   */
  receive(bytes: Buffer, via?: number): boolean {
    const message = readMessage(bytes, { lenient: true, outline: true });
    switch (message.kind) {
      case "malformed":
        this.#batch(bytes, via);
        return false;
      case "response":
        return this.#answer(message.id, message.reply, via);
      case "notification":
        this.#notification(message, via);
        return false;
      case "request":
        this.#question(message, via);
        return false;
    }
  }

  /** Servers of old revisions may send several messages as one array. Anything else here is no message at all. */
  #batch(bytes: Buffer, via: number | undefined): void {
    const batch = readBatch(bytes, { max: MAX_BATCH });
    const members = batch?.kind === "batch" ? batch.members : [];
    if (members.length === 0) this.counters.junk++;
    for (const member of members) {
      if (isArray(member)) this.counters.junk++;
      else this.receive(member, via);
    }
  }

  /** One request failed in its transport, for example by an HTTP status. */
  failRequest(id: number, error: HubError): void {
    const pending = this.#take(id);
    if (pending === undefined) return;
    pending.reject(error);
  }

  /** The connection is gone: nothing that is open will be answered, and nothing new is sent. */
  fail(error: HubError): void {
    if (this.#failure !== undefined) return;
    this.#failure = error;
    const lost = withDelivery(error, "unknown");
    for (const { id } of this.#pending.values()) this.failRequest(id, lost);
  }

  #answer(id: string | number, reply: Reply, via: number | undefined): boolean {
    // Our ids are numbers: the text "1" is not the number 1, and answers nothing of ours. Nor does what comes on the
    // stream of another request.
    const ours = typeof id === "number" && (via === undefined || via === id);
    const pending = ours ? this.#take(id) : undefined;
    pending?.resolve(reply);
    if (pending !== undefined) return true;
    this.counters.unclaimed++;
    if (ours) this.#abandoned.delete(id);
    return false;
  }

  #question(message: RequestMessage, via: number | undefined): void {
    const { id, method } = message;
    const owner = method === "ping" ? undefined : this.#askerOf(message, via);
    const find = owner?.options.onRequest;
    if (owner === undefined || find === undefined) return this.#unowned(message, via);
    const isPlaced = via !== undefined;
    this.#stopClock(owner);
    void this.#inquiries
      .answer(id, owner.id, (signal) => find(message, { signal, giveUp: () => this.#cancel(owner), isPlaced }))
      .then(async (reply) => {
        this.#restartClock(owner);
        // Before it hears that there is no answer, the server should know why.
        await owner.cancelling;
        this.#reply(id, reply);
      });
  }

  #unowned(message: RequestMessage, via: number | undefined): void {
    const isOpen = via === undefined && this.#pending.values().some(mayBeAskedFor);
    const answer = this.#handlers.onRequest(message, isOpen ? "ambiguous" : "outside");
    if (typeof answer !== "function") return this.#reply(message.id, answer);
    void this.#inquiries.answer(message.id, NO_REQUEST, answer).then((reply) => this.#reply(message.id, reply));
  }

  #reply(id: Id, reply: Reply | undefined): void {
    if (reply === undefined || this.#failure !== undefined) return;
    try {
      this.#channel.send(writeReply(id, reply));
    } catch (thrown) {
      // It reads nothing, so it gets no answer either.
      if (!(thrown instanceof HubError)) throw thrown;
    }
  }

  #notification(message: NotificationMessage, via: number | undefined): void {
    if (message.method === "notifications/cancelled" && this.#inquiries.cancel(message.params?.value["requestId"]))
      return;
    const owner = this.#ownerOf(message, via);
    if (owner === undefined) return this.#handlers.onNotification(message);
    if (message.method === "notifications/progress") this.#startClock(owner);
    owner.options.onNotification?.(message);
  }

  /**
   * Progress names its request. Other messages belong to the stream they came on; without one, to the subscription that
   * they name, or to the only open request.
   */
  #ownerOf({ method, params }: NotificationMessage, via: number | undefined): Pending | undefined {
    if (method === "notifications/progress") {
      const token = params?.value["progressToken"];
      return typeof token === "number" ? this.#pending.get(token) : undefined;
    }
    const stream = via === undefined ? undefined : this.#pending.get(via);
    // Also on the stream of a call, news about the server is everybody's; only a subscription is asked for by somebody.
    if (stream !== undefined && isNews(method)) return stream.method === "subscriptions/listen" ? stream : undefined;
    if (via !== undefined) return stream;
    const subscription = this.#subscriptionOf(params?.value["_meta"]);
    if (subscription !== undefined) return subscription;
    if (method !== "notifications/message") return undefined;
    // A subscription is open all the time, and asks for no log messages.
    return this.#onlyOne((pending) => pending.method !== "subscriptions/listen");
  }

  /**
   * Whose request a question belongs to: the one on whose stream it came, or that waits for the task which it names. Else it
   * must be the only one that can have caused it. (A progress token in a question's `_meta` is the server's own, and says
   * nothing about our requests.)
   */
  #askerOf({ params }: RequestMessage, via: number | undefined): Pending | undefined {
    if (via !== undefined) return this.#pending.get(via);
    const task = relatedTask(params?.value);
    const named = task === undefined ? undefined : this.#pending.values().find(({ options }) => options.task === task);
    return named ?? this.#onlyOne(mayBeAskedFor);
  }

  #onlyOne(counts: (request: { readonly method: string }) => boolean): Pending | undefined {
    const open = this.#pending.values().filter(counts);
    const [first] = open;
    if (first === undefined) return undefined;
    const abandoned = this.#stillBusyWith().filter(counts);
    if (open.length === 1 && abandoned.length === 0) return first;
    const caller = callerOf(first);
    const isOnlyCaller =
      open.every((other) => callerOf(other) === caller) && abandoned.every((other) => other.caller === caller);
    // Requests without a caller are nobody's, and not even each other's.
    if (caller === undefined || !isOnlyCaller) return undefined;
    // What waits for an answer has nothing more to say until it has it, but for questions that come together.
    const waitsSince = performance.now() - SIBLINGS_MS;
    const working = open.filter(({ questions, stoppedAt }) => questions === 0 || stoppedAt > waitsSince);
    return open.length === 1 ? first : working.length === 1 ? working[0] : undefined;
  }

  /** The open subscription that a message names: on one pipe there is no other way to tell them apart. */
  #subscriptionOf(meta: unknown): Pending | undefined {
    const id = isObject(meta) ? meta[META.subscriptionId] : undefined;
    const pending = typeof id === "number" ? this.#pending.get(id) : undefined;
    return pending?.method === "subscriptions/listen" ? pending : undefined;
  }

  /** For whom the server may be working though they have left: what it says then is not for others who are there. */
  #stillBusyWith(): Abandoned[] {
    const now = performance.now();
    for (const [id, { until }] of this.#abandoned) if (until < now) this.#abandoned.delete(id);
    return [...this.#abandoned.values()];
  }

  #stopClock(pending: Pending): void {
    if (pending.questions++ > 0) return;
    clearTimeout(pending.timer);
    pending.stoppedAt = performance.now();
  }

  #restartClock(pending: Pending): void {
    if (--pending.questions > 0) return;
    pending.startedAt += performance.now() - pending.stoppedAt;
    if (this.#pending.get(pending.id) === pending) this.#startClock(pending);
  }

  #startClock(pending: Pending): void {
    if (pending.questions > 0) return;
    clearTimeout(pending.timer);
    const { timeoutMs, maxTotalMs = Math.max(MAX_TOTAL_MS, timeoutMs) } = pending.options;
    if (timeoutMs === 0) return;
    const leftMs = Math.max(0, maxTotalMs - (performance.now() - pending.startedAt));
    const limitMs = leftMs < timeoutMs ? maxTotalMs : timeoutMs;
    const dueAt = performance.now() + Math.min(timeoutMs, leftMs);
    pending.timer = setTimeout(
      () => {
        // So late that the whole hub stood still: the answer may be waiting to be read.
        if (performance.now() - dueAt > LATE_MS) {
          pending.timer = setTimeout(() => this.#timeOut(pending, limitMs), GRACE_MS);
          return;
        }
        this.#timeOut(pending, limitMs);
      },
      Math.min(timeoutMs, leftMs),
    );
  }

  #timeOut(pending: Pending, limitMs: number): void {
    const message = `No answer to ${pending.method} within ${limitMs} ms`;
    const error = new HubError("Timeout", message, { delivery: "unknown" });
    this.#giveUp(pending, error, "The request timed out");
  }

  readonly #cancel = (pending: Pending): void => {
    this.#giveUp(pending, cancelled(pending.method), "The caller cancelled the request");
  };

  #giveUp(pending: Pending, error: HubError, reason: string): void {
    if (this.#take(pending.id) === undefined) return;
    const told = this.#channel.abandon?.(pending.id) ?? false;
    if (!told) this.#remember(pending);
    if (!told && CANCELLABLE(pending.method)) this.#tellCancelled(pending, reason);
    pending.reject(error);
  }

  #tellCancelled(pending: Pending, reason: string): void {
    const params = { requestId: pending.id, reason };
    if (pending.questions === 0 || this.#channel.deliver === undefined) {
      return this.notify("notifications/cancelled", params);
    }
    const message = writeNotification("notifications/cancelled", Buffer.from(JSON.stringify(params)));
    pending.cancelling = this.#channel.deliver(message);
  }

  /** A server that heeds the cancellation never answers, so nobody tells when it is done; one that does not may still ask. */
  #remember({ id, method, options }: Pending): void {
    const until = performance.now() + ABANDONED_MS;
    this.#abandoned.set(id, { method, until, caller: options.caller?.() });
    const [oldest] = this.#abandoned.keys();
    if (this.#abandoned.size > MAX_ABANDONED && oldest !== undefined) this.#abandoned.delete(oldest);
  }

  /** Removes a request from the table. Whoever gets it settles it, so it is settled once. */
  #take(id: number): Pending | undefined {
    const pending = this.#pending.get(id);
    if (pending === undefined) return undefined;
    this.#pending.delete(id);
    clearTimeout(pending.timer);
    this.#inquiries.endWithin(id);
    pending.options.signal?.removeEventListener("abort", pending);
    if (this.#onIdle.length > 0 && this.#isIdle) for (const resolve of this.#onIdle.splice(0)) resolve();
    return pending;
  }
}

/** Questions outside of any request: our ids begin at 1. */
const NO_REQUEST = 0;

function mayBeAskedFor({ method }: { readonly method: string }): boolean {
  return !OUR_OWN.has(method);
}

function callerOf({ options }: Pending): string | undefined {
  return options.caller?.();
}

/** What the hub asks for itself, or for all who watch a resource: nobody could answer what a server asks back. */
const OUR_OWN: ReadonlySet<string> = new Set([
  "initialize",
  "server/discover",
  "ping",
  "tools/list",
  "prompts/list",
  "resources/list",
  "resources/templates/list",
  "logging/setLevel",
  "resources/subscribe",
  "resources/unsubscribe",
  "subscriptions/listen",
]);

/** That something of the server changed, whoever is asking it just now. */
function isNews(method: string): boolean {
  return method.endsWith("/list_changed") || NEWS.has(method);
}

/** The end of an elicitation is news for whoever was asked, and that may have been in another request; so is a task's. */
const NEWS: ReadonlySet<string> = new Set([
  "notifications/resources/updated",
  "notifications/elicitation/complete",
  "notifications/tasks/status",
]);

/** The same failure, for a request that came so far. What the transport knows of this request alone is better. */
function withDelivery(error: HubError, delivery: Delivery): HubError {
  const { kind, message, field, detail, hint, cause } = error;
  const told = Object.fromEntries(Object.entries({ field, detail, hint }).filter(([, text]) => text !== undefined));
  return new HubError(kind, message, { ...told, delivery, cause });
}

function cancelled(method: string): HubError {
  return new HubError("Cancelled", `${method} was cancelled by the caller`);
}
