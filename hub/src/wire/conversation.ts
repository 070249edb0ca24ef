// One client on a pipe that carries whole messages both ways, whatever the pipe is: stdio, a WebSocket, HTTP+SSE. Both eras:
// the first message that only one of them knows decides which the connection speaks; `server/discover` alone leaves it open.

import { InFlight } from "./in-flight.ts";
import { isAnswered, isArray, readClientBatch, writeBatch } from "./batch.ts";
import { Cancellable } from "./cancellation.ts";
import { classifyIncoming, type Era } from "./era.ts";
import type { JsonObject } from "./json.ts";
import { failure, failureOf, isId, readMessage, RPC, writeNotification, writeReply } from "./jsonrpc.ts";
import type { Id, Malformed, Message, NotificationMessage, Raw, Reply, RequestMessage } from "./jsonrpc.ts";
import { Questions, type ClientStream } from "./questions.ts";
import type { AskClient, Carrier, Exchange, Service, Session } from "./server.ts";
import { sessionInit } from "./session-init.ts";

export interface ConversationOptions {
  readonly service: Service;
  readonly transport: Carrier;
  readonly sessionId: string;
  readonly headers?: Exchange["headers"];
  /** Puts a message on the pipe. */
  send(message: Buffer): void;
}

const MAX_DEPTH = 64;

/** Who a request comes from: a session (legacy), or what the request itself says (modern). */
interface Sender {
  readonly capabilities: JsonObject;
  readonly logLevel?: string | undefined;
}

/** A client that asks before it has shaken hands. */
const NOBODY: Sender = { capabilities: {} };

/** Takes the answer to one request; none where the client has forgotten the request. */
type Deliver = (answer: Buffer | undefined) => void;

export class Conversation {
  readonly #options: ConversationOptions;
  readonly #open = new InFlight<Id, Cancellable>();
  /** Open requests that would never end by themselves. */
  readonly #subscriptions = new Set<Cancellable>();
  readonly #running = new InFlight<Id, Promise<void>>();
  readonly #questions = new Questions();
  readonly #stream: ClientStream;
  readonly #deliver: Deliver;
  #session: Session | undefined;
  #pinned: Era | undefined;

  constructor(options: ConversationOptions) {
    this.#options = options;
    this.#stream = { send: (message) => options.send(message), onceClosed: () => () => undefined };
    this.#deliver = (answer) => {
      if (answer !== undefined) options.send(answer);
    };
  }

  /** Takes what came through the pipe: a message, or a batch of them. Whoever has read it already says what it is. */
  receive(bytes: Buffer, message: Message | Malformed = readMessage(bytes, { maxDepth: MAX_DEPTH })): void {
    if (message.kind === "malformed" && isArray(bytes)) this.#batch(bytes);
    else this.#message(message, this.#deliver);
  }

  refuse(id: Id | null, code: number, message: string): void {
    this.#options.send(refusal(id, code, message));
  }

  /** The client says nothing more, but still listens. Resolves when every open request is answered. */
  async finish(): Promise<void> {
    for (const controller of this.#subscriptions) controller.abort();
    this.#questions.end();
    await Promise.all(this.#running.values());
    this.#endSession();
  }

  /** The client is gone, and its requests with it. */
  end(): void {
    for (const controller of this.#open.values()) controller.abort();
    this.#questions.end();
    this.#endSession();
  }

  /** Its requests run side by side, and are answered together. */
  #batch(bytes: Buffer): void {
    const batch = readClientBatch(bytes, { version: this.#session?.version, maxDepth: MAX_DEPTH });
    if (batch.kind === "refused") return this.refuse(null, batch.code, batch.message);
    let left = batch.messages.filter(isAnswered).length;
    const answers: Buffer[] = [];
    const deliver: Deliver = (answer) => {
      if (answer !== undefined) answers.push(answer);
      if (--left === 0 && answers.length > 0) this.#options.send(writeBatch(answers));
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
        return this.#questions.answer(message.id, message.reply);
    }
  }

  #request(message: RequestMessage, deliver: Deliver): void {
    const verdict = classifyIncoming(message.method, message.params?.value);
    if (verdict.era === "refused") return deliver(writeReply(message.id, failure(verdict.error)));
    if (this.#pinned !== undefined && verdict.era !== this.#pinned) {
      return deliver(refusal(message.id, RPC.invalidRequest, `This connection speaks the ${this.#pinned} protocol`));
    }
    if (this.#open.has(message.id)) {
      return deliver(refusal(message.id, RPC.invalidRequest, `Request id ${message.id} is still in use`));
    }
    if (message.method !== "server/discover") this.#pinned = verdict.era;
    if (message.method === "initialize" && verdict.era === "legacy") this.#openSession(message);
    if (verdict.era === "modern") this.#run(message, "modern", verdict.envelope, deliver);
    else this.#run(message, "legacy", this.#session ?? NOBODY, deliver);
  }

  #openSession({ params }: RequestMessage): void {
    this.#endSession();
    this.#session = {
      id: this.#options.sessionId,
      ...sessionInit(params?.value ?? {}),
      logLevel: undefined,
      notify: (method, payload) => this.#notify(method, payload),
      ask: (method, payload, options) => this.#questions.ask(method, payload, { ...options, stream: this.#stream }),
    };
    this.#options.service.onSession(this.#session);
  }

  #endSession(): void {
    const session = this.#session;
    this.#session = undefined;
    if (session !== undefined) this.#options.service.onSessionEnd(session);
  }

  #run(message: RequestMessage, era: Era, { capabilities, logLevel }: Sender, deliver: Deliver): void {
    const { service, transport, sessionId, headers = {} } = this.#options;
    const { id } = message;
    const ask: AskClient = (method, params, options) =>
      this.#questions.ask(method, params, { ...options, within: id, stream: this.#stream });
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
        headers,
        signal: controller,
        notify: (method, params) => this.#notify(method, params),
        ...(era === "legacy" ? { ask } : {}),
      })
      .then((reply) => this.#finish(id, reply, controller, deliver));
    this.#running.set(id, running);
  }

  /** A cancelled request gets no answer: the client has forgotten it. A cancelled subscription ends with one. */
  #finish(id: Id, reply: Reply, controller: Cancellable, deliver: Deliver): void {
    this.#open.delete(id);
    this.#running.delete(id);
    this.#questions.endWithin(id);
    if (this.#subscriptions.size > 0) this.#subscriptions.delete(controller);
    deliver(!controller.aborted || reply.ok ? writeReply(id, reply) : undefined);
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
