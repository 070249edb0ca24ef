// The JSON-RPC peer of one connection to a server: sends requests with ids, timeouts and cancellation, and dispatches incoming
// messages. Knows no transport: a Channel carries the bytes. Knows no era: the caller builds the params.

import { HubError, type Delivery } from "../../errors.ts";
import { isArray, readBatch } from "../rpc/batch.ts";
import {
  readMessage,
  writeNotification,
  writeReply,
  writeRequest,
  type Id,
  type NotificationMessage,
  type Reply,
  type RequestMessage,
} from "../rpc/jsonrpc.ts";
import { PendingRequest, type PendingRequestOwner, type RequestOptions } from "./pending-request.ts";
import { RequestTable } from "./request-table.ts";
import { ServerRequests } from "./server-requests.ts";

/** Carries messages to a server. HTTP sends each request on its own, so it gets the request too. */
export interface Channel {
  send(bytes: Buffer, request?: OutgoingRequest): void;
  /** Cancelled by the caller. Returns true if the transport notifies the server (by a closed HTTP stream). */
  abandon?(id: number): boolean;
  /** Sends a message and resolves when the server has it, for transports whose messages may overtake each other. Never rejects. */
  deliver?(bytes: Buffer): Promise<void>;
}

export interface OutgoingRequest {
  readonly id: number;
  readonly method: string;
  readonly headers?: Readonly<Record<string, string>> | undefined;
}

export interface PeerHandlers {
  /** A notification that belongs to no open request. */
  onNotification(message: NotificationMessage): void;
  /** A server request that belongs to no open request, or to one of several. Returns its reply, or a handler that finds it. */
  onRequest(message: RequestMessage, why: UnownedReason): Reply | RequestHandler | undefined;
}

/** The signal aborts when the server cancels its request. */
export type RequestHandler = (signal: AbortSignal) => Promise<Reply>;

/** Why a server request has no owner: no request is open that can have caused it, or several are. */
export type UnownedReason = "outside" | "ambiguous";

/** Unusable input. Counted, never fatal. */
export interface PeerCounters {
  /** Lines that are not messages. */
  junk: number;
  /** Replies to requests that had timed out, were cancelled, or were never sent. */
  unclaimed: number;
}

const MAX_BATCH = 1000;
/** Parent id of server requests outside of any request; ours begin at 1. */
const NO_REQUEST = 0;

export class Peer {
  readonly counters: PeerCounters = { junk: 0, unclaimed: 0 };
  readonly #channel: Channel;
  readonly #handlers: PeerHandlers;
  readonly #requests = new RequestTable();
  readonly #serverRequests = new ServerRequests();
  readonly #owner: PendingRequestOwner = {
    cancel: (request) => this.#abandon(request, cancelled(request.method), "The caller cancelled the request"),
    timeOut: (request, limitMs) => {
      const message = `No answer to ${request.method} within ${limitMs} ms`;
      this.#abandon(request, new HubError("Timeout", message, { delivery: "unknown" }), "The request timed out");
    },
  };
  #nextId = 1;
  #failure: HubError | undefined;
  #onIdle: (() => void)[] = [];

  constructor(channel: Channel, handlers: PeerHandlers) {
    this.#channel = channel;
    this.#handlers = handlers;
  }

  get inFlight(): number {
    return this.#requests.size;
  }

  /** Whether this request still waits for its reply. */
  isWaiting(id: number): boolean {
    return this.#requests.has(id);
  }

  /** Whether a server request may belong to another client than this one. */
  isContested(caller: string | undefined): boolean {
    return this.#requests.isContested(caller);
  }

  /** Resolves when every request is settled. Subscriptions do not count: they never end. */
  idle(): Promise<void> {
    if (this.#requests.isIdle) return Promise.resolve();
    return new Promise((resolve) => this.#onIdle.push(resolve));
  }

  /** Sends a request. `build` gets the id, which is also the progress token, and returns the params. */
  request(method: string, build: (id: number) => Buffer | undefined, options: RequestOptions): Promise<Reply> {
    if (this.#failure !== undefined) return Promise.reject(withDelivery(this.#failure, "unsent"));
    if (options.signal?.aborted === true) return Promise.reject(cancelled(method));
    const id = this.#nextId++;
    return new Promise((resolve, reject) => {
      const message = writeRequest(id, method, build(id));
      const request = new PendingRequest(id, method, options, { resolve, reject, owner: this.#owner });
      this.#requests.add(request);
      request.start();
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
   * Handles one message of the transport. `via` is the request on whose stream it arrived, if the transport knows it. Returns
   * whether it was a reply that a request waited for.
   */
  receive(bytes: Buffer, via?: number): boolean {
    const message = readMessage(bytes, { lenient: true, outline: true });
    switch (message.kind) {
      case "malformed":
        this.#batch(bytes, via);
        return false;
      case "response":
        return this.#response(message.id, message.reply, via);
      case "notification":
        this.#notification(message, via);
        return false;
      case "request":
        this.#request(message, via);
        return false;
    }
  }

  /** One request failed in its transport, for example by an HTTP status. */
  failRequest(id: number, error: HubError): void {
    this.#take(id)?.reject(error);
  }

  /** The connection is lost: every open request fails, and nothing more is sent. */
  fail(error: HubError): void {
    if (this.#failure !== undefined) return;
    this.#failure = error;
    const lost = withDelivery(error, "unknown");
    for (const { id } of this.#requests.values()) this.failRequest(id, lost);
  }

  /** Servers of old revisions may send several messages as one array. Anything else is invalid. */
  #batch(bytes: Buffer, via: number | undefined): void {
    const batch = readBatch(bytes, { max: MAX_BATCH });
    const members = batch?.kind === "batch" ? batch.members : [];
    if (members.length === 0) this.counters.junk++;
    for (const member of members) {
      if (isArray(member)) this.counters.junk++;
      else this.receive(member, via);
    }
  }

  #response(id: string | number, reply: Reply, via: number | undefined): boolean {
    // Our ids are numbers, so the text "1" is not ours. A reply on the stream of another request is not accepted either.
    const isOurs = typeof id === "number" && (via === undefined || via === id);
    const request = isOurs ? this.#take(id) : undefined;
    request?.resolve(reply);
    if (request !== undefined) return true;
    this.counters.unclaimed++;
    if (isOurs) this.#requests.forgetAbandoned(id);
    return false;
  }

  #notification(message: NotificationMessage, via: number | undefined): void {
    const isCancel = message.method === "notifications/cancelled";
    if (isCancel && this.#serverRequests.cancel(message.params?.value["requestId"])) return;
    const owner = this.#requests.ownerOfNotification(message, via);
    if (owner === undefined) return this.#handlers.onNotification(message);
    if (message.method === "notifications/progress") owner.restartTimer();
    owner.options.onNotification?.(message);
  }

  #request(message: RequestMessage, via: number | undefined): void {
    const { id, method } = message;
    const owner = method === "ping" ? undefined : this.#requests.ownerOfRequest(message, via);
    if (owner === undefined && method !== "ping" && via === undefined) {
      const open = this.#requests.openOfOneClient();
      if (open.length > 0) return this.#askClient(message, open);
    }
    const handle = owner?.options.onRequest;
    if (owner === undefined || handle === undefined) return this.#unownedRequest(message, via);
    const hasOwnStream = via !== undefined;
    owner.pauseTimer();
    void this.#serverRequests
      .answer(id, owner.id, (signal) =>
        handle(message, { signal, cancelOwner: () => this.#owner.cancel(owner), hasOwnStream }),
      )
      .then(async (reply) => {
        owner.resumeTimer();
        // The cancellation must reach the server before the error reply that it causes.
        await owner.cancelSent;
        this.#reply(id, reply);
      });
  }

  /** Any of several requests of one client may own the server request, so it outlives the one that it is sent on. */
  #askClient(message: RequestMessage, open: readonly PendingRequest[]): void {
    for (const request of open) request.pauseTimer();
    const handle = open[0]?.options.onRequest;
    void this.#serverRequests
      .answer(message.id, NO_REQUEST, async (signal) => {
        if (handle === undefined) throw new HubError("ConnectionFailed", "The client cannot be asked");
        return handle(message, { signal, cancelOwner: () => undefined, hasOwnStream: false });
      })
      .then((reply) => {
        for (const request of open) request.resumeTimer();
        this.#reply(message.id, reply);
      });
  }

  #unownedRequest(message: RequestMessage, via: number | undefined): void {
    const isAmbiguous = via === undefined && this.#requests.hasForwarded;
    const reply = this.#handlers.onRequest(message, isAmbiguous ? "ambiguous" : "outside");
    if (typeof reply !== "function") return this.#reply(message.id, reply);
    void this.#serverRequests.answer(message.id, NO_REQUEST, reply).then((found) => this.#reply(message.id, found));
  }

  #reply(id: Id, reply: Reply | undefined): void {
    if (reply === undefined || this.#failure !== undefined) return;
    try {
      this.#channel.send(writeReply(id, reply));
    } catch (thrown) {
      // The server does not read its input, so it gets no reply either.
      if (!(thrown instanceof HubError)) throw thrown;
    }
  }

  /** Fails a request that was cancelled, and notifies the server. */
  #abandon(request: PendingRequest, error: HubError, reason: string): void {
    if (this.#take(request.id) === undefined) return;
    const isTold = this.#channel.abandon?.(request.id) ?? false;
    if (!isTold) this.#requests.abandon(request);
    if (!isTold && isCancellable(request.method)) this.#sendCancelled(request, reason);
    request.reject(error);
  }

  #sendCancelled(request: PendingRequest, reason: string): void {
    const params = { requestId: request.id, reason };
    if (request.openServerRequests === 0 || this.#channel.deliver === undefined) {
      return this.notify("notifications/cancelled", params);
    }
    const message = writeNotification("notifications/cancelled", Buffer.from(JSON.stringify(params)));
    request.cancelSent = this.#channel.deliver(message);
  }

  #take(id: number): PendingRequest | undefined {
    const request = this.#requests.take(id);
    if (request === undefined) return undefined;
    this.#serverRequests.abortWithin(id);
    if (this.#onIdle.length > 0 && this.#requests.isIdle) for (const resolve of this.#onIdle.splice(0)) resolve();
    return request;
  }
}

function isCancellable(method: string): boolean {
  return method !== "initialize" && method !== "server/discover";
}

/** The failure of the connection, with how far this request got. */
function withDelivery(error: HubError, delivery: Delivery): HubError {
  const { kind, message, field, detail, hint, cause } = error;
  const known = Object.fromEntries(Object.entries({ field, detail, hint }).filter(([, text]) => text !== undefined));
  return new HubError(kind, message, { ...known, delivery, cause });
}

function cancelled(method: string): HubError {
  return new HubError("Cancelled", `${method} was cancelled by the caller`);
}
