// One client on a bidirectional transport: stdio, WebSocket, HTTP+SSE. Serves both eras: the first request other than
// `server/discover` decides the era of the connection.

import { SmallMap } from "../../lib/small-map.ts";
import { isAnswered, isArray, readClientBatch, writeBatch } from "../rpc/batch.ts";
import { Cancellable } from "../../lib/cancellation.ts";
import { classifyIncoming, type Era } from "../revisions/era.ts";
import type { JsonObject } from "../../lib/json/json.ts";
import { failure, failureOf, isId, readMessage, RPC, writeNotification, writeReply } from "../rpc/jsonrpc.ts";
import type { Id, Malformed, Message, NotificationMessage, Raw, Reply, RequestMessage } from "../rpc/jsonrpc.ts";
import { ClientRequests, type ClientStream } from "./client-requests.ts";
import type { AskClient, TransportName, IncomingRequest, Requester, Service, Session } from "./service.ts";
import { publicIdOf, sessionInit, SessionUsage } from "./session-init.ts";

export interface ClientConnectionOptions {
  readonly service: Service;
  readonly transport: TransportName;
  readonly sessionId: string;
  readonly headers?: IncomingRequest["headers"];
  readonly requester?: Requester | undefined;
  /** Sends a message to the client. */
  send(message: Buffer): void;
  /** Closes the transport. Undefined if that is not ours to close. */
  readonly disconnect?: () => void;
}

const MAX_DEPTH = 64;

/** The client of a request: its session (legacy), or the request's own envelope (modern). */
interface Sender {
  readonly capabilities: JsonObject;
  readonly logLevel?: string | undefined;
}

/** A legacy client before `initialize`. */
const UNINITIALIZED: Sender = { capabilities: {} };

/** Takes the reply to one request; undefined if the client cancelled it. */
type Deliver = (reply: Buffer | undefined) => void;

export class ClientConnection {
  readonly #options: ClientConnectionOptions;
  readonly #open = new SmallMap<Id, Cancellable>();
  /** Open subscriptions, which never end by themselves. */
  readonly #subscriptions = new Set<Cancellable>();
  readonly #running = new SmallMap<Id, Promise<void>>();
  readonly #clientRequests = new ClientRequests();
  readonly #stream: ClientStream;
  readonly #deliver: Deliver;
  #session: Session | undefined;
  #pinned: Era | undefined;

  constructor(options: ClientConnectionOptions) {
    this.#options = options;
    this.#stream = { send: (message) => options.send(message), onceClosed: () => () => undefined };
    this.#deliver = (reply) => {
      if (reply !== undefined) options.send(reply);
    };
  }

  /** Takes a message or a batch. `message`: the bytes if they are parsed already. */
  receive(bytes: Buffer, message: Message | Malformed = readMessage(bytes, { maxDepth: MAX_DEPTH })): void {
    if (message.kind === "malformed" && isArray(bytes)) this.#batch(bytes);
    else this.#message(message, this.#deliver);
  }

  refuse(id: Id | null, code: number, message: string): void {
    this.#options.send(refusal(id, code, message));
  }

  /** The client closed its side, but still reads. Resolves when every open request has its reply. */
  async finish(): Promise<void> {
    for (const controller of this.#subscriptions) controller.abort();
    this.#clientRequests.end();
    await Promise.all(this.#running.values());
    this.#endSession();
  }

  /** The client has disconnected: ends its requests. */
  end(): void {
    for (const controller of this.#open.values()) controller.abort();
    this.#clientRequests.end();
    this.#endSession();
  }

  /** Runs the requests concurrently and sends their replies together. */
  #batch(bytes: Buffer): void {
    const batch = readClientBatch(bytes, { version: this.#session?.version, maxDepth: MAX_DEPTH });
    if (batch.kind === "refused") return this.refuse(null, batch.code, batch.message);
    let left = batch.messages.filter(isAnswered).length;
    const replies: Buffer[] = [];
    const deliver: Deliver = (reply) => {
      if (reply !== undefined) replies.push(reply);
      if (--left === 0 && replies.length > 0) this.#options.send(writeBatch(replies));
    };
    for (const message of batch.messages) this.#message(message, deliver);
  }

  #message(message: Message | Malformed, deliver: Deliver): void {
    switch (message.kind) {
      case "malformed":
        return deliver(writeReply(message.id ?? null, failureOf(message)));
      case "request":
        return this.#request(message, deliver);
      case "notification":
        return this.#notification(message);
      case "response":
        return this.#clientRequests.answer(message.id, message.reply);
    }
  }

  #request(message: RequestMessage, deliver: Deliver): void {
    const verdict = classifyIncoming(message.method, message.params?.value);
    if (verdict.era === "refused") return deliver(writeReply(message.id, failure(verdict.error)));
    if (this.#pinned !== undefined && verdict.era !== this.#pinned) {
      return deliver(refusal(message.id, RPC.invalidRequest, `This connection uses the ${this.#pinned} protocol`));
    }
    if (this.#open.has(message.id)) {
      return deliver(refusal(message.id, RPC.invalidRequest, `Request id ${message.id} is still in use`));
    }
    if (message.method !== "server/discover") this.#pinned = verdict.era;
    if (message.method === "initialize" && verdict.era === "legacy") this.#openSession(message);
    if (verdict.era === "modern") this.#run(message, "modern", verdict.envelope, deliver);
    else this.#run(message, "legacy", this.#session ?? UNINITIALIZED, deliver);
  }

  #openSession({ params }: RequestMessage): void {
    this.#endSession();
    this.#session = {
      id: this.#options.sessionId,
      publicId: publicIdOf(this.#options.sessionId),
      usage: new SessionUsage(),
      ...sessionInit(params?.value ?? {}),
      logLevel: undefined,
      notify: (method, payload) => this.#notify(method, payload),
      ask: (method, payload, options) =>
        this.#clientRequests.ask(method, payload, { ...options, stream: this.#stream }),
    };
    const { transport, headers = {}, disconnect = () => this.end() } = this.#options;
    this.#options.service.onSession(this.#session, { transport, headers, end: disconnect });
  }

  #endSession(): void {
    const session = this.#session;
    this.#session = undefined;
    if (session !== undefined) this.#options.service.onSessionEnd(session);
  }

  #run(message: RequestMessage, era: Era, { capabilities, logLevel }: Sender, deliver: Deliver): void {
    const { service, transport, sessionId, headers = {}, requester } = this.#options;
    const { id } = message;
    const ask: AskClient = (method, params, options) =>
      this.#clientRequests.ask(method, params, { ...options, parentId: id, stream: this.#stream });
    const controller = new Cancellable();
    this.#open.set(id, controller);
    if (message.method === "subscriptions/listen") this.#subscriptions.add(controller);
    const running = service
      .handle({
        request: message,
        era,
        transport,
        session: this.#session,
        connection: sessionId,
        capabilities,
        logLevel,
        requester,
        headers,
        signal: controller,
        notify: (method, params) => this.#notify(method, params),
        ...(era === "legacy" ? { ask } : {}),
      })
      .then((reply) => this.#finish(id, reply, controller, deliver));
    this.#running.set(id, running);
  }

  /** A cancelled request gets no reply, unless it is a subscription. */
  #finish(id: Id, reply: Reply, controller: Cancellable, deliver: Deliver): void {
    this.#open.delete(id);
    this.#running.delete(id);
    this.#clientRequests.endWithin(id);
    if (this.#subscriptions.size > 0) this.#subscriptions.delete(controller);
    const isAwaited = !controller.aborted || controller.isOverruled || reply.ok;
    deliver(isAwaited ? writeReply(id, reply) : undefined);
  }

  #notification(message: NotificationMessage): void {
    if (message.method !== "notifications/cancelled") {
      return this.#options.service.onNotification(message, this.#session);
    }
    const id = message.params?.value["requestId"];
    if (isId(id)) this.#open.get(id)?.abort();
  }

  #notify(method: string, params: Raw | undefined): void {
    this.#options.send(writeNotification(method, params?.bytes));
  }
}

function refusal(id: Id | null, code: number, message: string): Buffer {
  return writeReply(id, failure({ code, message }));
}
