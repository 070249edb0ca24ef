// Forwards messages between a client on a pipe and an endpoint over HTTP, unchanged in both directions: each message of the
// client is a separate POST. The client decides the era; for the bridge the eras differ in a request's headers and in how it is
// cancelled.

import type { Readable, Writable } from "node:stream";
import { HubError, toHubError } from "../errors.ts";
import { isAnswered, isArray, readBatch, readClientBatch, writeBatch } from "../protocol/rpc/batch.ts";
import { classifyIncoming, META } from "../protocol/revisions/era.ts";
import { encodeHeader, requestHeaders } from "../protocol/revisions/headers.ts";
import { isObject } from "../lib/json/json.ts";
import { failure, failureOf, isId, readMessage, RPC, writeReply } from "../protocol/rpc/jsonrpc.ts";
import type { Id, Malformed, Message, NotificationMessage, Reply, RequestMessage } from "../protocol/rpc/jsonrpc.ts";
import { SmallMap } from "../lib/small-map.ts";
import { LineWriter } from "../lib/streams/line-writer.ts";
import { LineReader } from "../lib/streams/lines.ts";
import type { Endpoint } from "./endpoint.ts";
import { Exchange } from "./exchange.ts";
import type { Headers } from "./http-client.ts";
import type { Deliver, OutgoingMessage } from "./outgoing-message.ts";
import { errorReply, isRefusal, toReply } from "./replies.ts";
import { Session } from "./session.ts";
import { ACKNOWLEDGED, LISTEN, Subscription, subscriptionIdIn } from "./subscription.ts";
import { ToolHeaders } from "./tool-headers.ts";

export interface BridgeOptions {
  readonly input: Readable;
  readonly output: Writable;
  readonly endpoint: Endpoint;
  /** The endpoint is a hub: it ends subscriptions only when it stops, and is expected back. */
  readonly isHub?: boolean;
  log(level: "debug" | "info" | "warn", message: string): void;
}

const MAX_LINE_BYTES = 4 << 20;
const MAX_DEPTH = 64;
const MAX_OPEN = 1000;
/** Messages that wait for the handshake, notifications and responses included. */
const MAX_WAITING = 2000;
/** Reading stops while this much output is unread by the client. */
const MAX_UNREAD_BYTES = 1 << 20;

export class Bridge {
  /** Resolves when the client has closed its side and every open request is answered. */
  readonly ended: Promise<void>;
  readonly #options: BridgeOptions;
  readonly #writer: LineWriter;
  readonly #open = new SmallMap<Id, OutgoingMessage>();
  /** Requests of the server that the client has not answered. */
  readonly #serverRequests = new Set<Id>();
  readonly #toolHeaders = new ToolHeaders();
  /** Acknowledged subscriptions of a modern client, by their request ids. */
  readonly #subscriptions = new Map<Id, Subscription>();
  #session: Session | undefined;
  /** A step of the handshake that the endpoint has not completed. Session messages wait for it, to keep their order. */
  #handshake: Promise<void> | undefined;
  #waiting = 0;
  #isPaused = false;
  #onEmpty: (() => void) | undefined;

  constructor(options: BridgeOptions) {
    const { input, output } = options;
    this.#options = options;
    this.#writer = new LineWriter(output);
    this.ended = new Promise((resolve) => {
      const end = () => resolve(this.#finish());
      const lines = new LineReader({
        maxBytes: MAX_LINE_BYTES,
        onLine: (line) => this.#receive(line),
        onOverflow: () => {
          this.#send(errorReply(null, RPC.invalidRequest, `A line is longer than ${MAX_LINE_BYTES} bytes`));
          input.destroy();
          end();
        },
      });
      input.on("data", (chunk: Buffer) => lines.push(chunk));
      input.once("end", () => {
        lines.end();
        end();
      });
      input.once("error", end);
    });
  }

  /** Ends the session and all connections. */
  async close(): Promise<void> {
    await this.#session?.end();
    this.#options.endpoint.close();
  }

  #receive(bytes: Buffer): void {
    const message = readMessage(bytes, { maxDepth: MAX_DEPTH });
    if (message.kind === "malformed" && isArray(bytes)) this.#batch(bytes);
    else this.#message(message, bytes, this.#send);
  }

  /** Forwards the messages one by one, and collects their answers into one batch. */
  #batch(bytes: Buffer): void {
    const batch = readClientBatch(bytes, { version: this.#session?.version, maxDepth: MAX_DEPTH });
    if (batch.kind === "refused") return this.#send(errorReply(null, batch.code, batch.message));
    const members = readBatch(bytes, { max: batch.messages.length, maxDepth: MAX_DEPTH });
    let left = batch.messages.filter(isAnswered).length;
    const answers: Buffer[] = [];
    const deliver: Deliver = (answer) => {
      answers.push(answer);
      if (--left === 0) this.#send(writeBatch(answers));
    };
    for (const [index, message] of batch.messages.entries()) {
      const member = members?.kind === "batch" ? members.members[index] : undefined;
      if (member !== undefined) this.#message(message, member, deliver);
    }
  }

  #message(message: Message | Malformed, bytes: Buffer, deliver: Deliver): void {
    switch (message.kind) {
      case "malformed":
        return deliver(writeReply(message.id ?? null, failureOf(message)));
      case "request":
        return this.#request(message, bytes, deliver);
      case "notification":
        return this.#notification(message, bytes);
      case "response":
        this.#serverRequests.delete(message.id);
        return this.#postInOrder({ bytes });
    }
  }

  #request(request: RequestMessage, bytes: Buffer, deliver: Deliver): void {
    const { id, method, params } = request;
    const verdict = classifyIncoming(method, params?.value);
    // The endpoint decides about unknown revisions.
    if (verdict.era === "refused" && verdict.error.code !== RPC.unsupportedVersion) {
      return deliver(writeReply(id, failure(verdict.error)));
    }
    if (this.#open.has(id)) return deliver(errorReply(id, RPC.invalidRequest, `Request id ${id} is still in use`));
    if (this.#open.size >= MAX_OPEN) {
      return deliver(writeReply(id, toReply(new HubError("Overloaded", `More than ${MAX_OPEN} requests are open`))));
    }
    if (verdict.era !== "legacy") {
      return this.#post(this.#opened({ bytes, request, deliver, headers: this.#modernHeaders(request) }));
    }
    if (method === "initialize") return this.#initialize(request, bytes, deliver);
    this.#session?.replay.noteRequest(request, bytes);
    this.#postInOrder(this.#opened({ bytes, request, deliver }));
  }

  #opened(message: OutgoingMessage & { readonly request: RequestMessage }): OutgoingMessage {
    this.#open.set(message.request.id, message);
    return message;
  }

  #modernHeaders({ method, params }: RequestMessage | NotificationMessage): Headers {
    const meta = params?.value["_meta"];
    const version = isObject(meta) ? meta[META.version] : undefined;
    return {
      ...requestHeaders(method, params?.value, this.#toolHeaders.of(method, params?.value["name"])),
      "mcp-method": encodeHeader(method),
      "mcp-protocol-version": encodeHeader(String(version)),
    };
  }

  #initialize(request: RequestMessage, bytes: Buffer, deliver: Deliver): void {
    void this.#session?.end();
    this.#session = new Session({
      endpoint: this.#options.endpoint,
      initialize: bytes,
      onMessage: (message) => this.#onMessage(message),
      send: this.#send,
      onReopened: () => this.#options.log("info", "the session was lost; a new one was opened"),
    });
    const answered = new Promise<void>((resolve) => {
      const delivered: Deliver = (answer) => {
        deliver(answer);
        resolve();
      };
      this.#post(this.#opened({ bytes, request, deliver: delivered }));
    });
    this.#holdUntil(answered);
  }

  #holdUntil(step: Promise<void>): void {
    this.#handshake = step;
    void step.then(() => {
      if (this.#handshake === step) this.#handshake = undefined;
    });
  }

  #notification(message: NotificationMessage, bytes: Buffer): void {
    const { method, params } = message;
    if (method === "notifications/cancelled") return this.#cancel(params?.value["requestId"], bytes);
    if (method === "notifications/initialized" && this.#session !== undefined) {
      return this.#initialized(this.#session, bytes);
    }
    const isModern = classifyIncoming(method, params?.value).era === "modern";
    this.#postInOrder({ bytes, headers: isModern ? this.#modernHeaders(message) : undefined });
  }

  #initialized(session: Session, bytes: Buffer): void {
    session.replay.initialized = bytes;
    const arrived = new Promise<void>((resolve) => this.#postInOrder({ bytes, onDone: resolve }));
    this.#holdUntil(arrived);
    void arrived.then(() => session.listen());
  }

  #cancel(id: unknown, bytes: Buffer): void {
    const message = isId(id) ? this.#open.get(id) : undefined;
    if (message?.request === undefined) return;
    this.#close(message.request.id);
    // A modern request is cancelled by closing its stream. A legacy server gets the notification, and then need not answer.
    const abort = () => message.exchange?.abort();
    if (message.headers === undefined) this.#postInOrder({ bytes, onDone: abort });
    else abort();
  }

  /** Posts a message; a session message waits until the session is open. */
  #postInOrder(message: OutgoingMessage): void {
    const ready = message.headers === undefined ? (this.#handshake ?? this.#session?.reopening) : undefined;
    if (ready === undefined) return this.#post(message);
    if (this.#waiting >= MAX_WAITING) {
      return this.#fail(message, new HubError("Overloaded", "Too many messages are waiting"));
    }
    this.#waiting++;
    const release = () => void this.#waiting--;
    void ready.finally(release).then(
      () => this.#post(message),
      (error: unknown) => this.#fail(message, toHubError(error)),
    );
  }

  #post(message: OutgoingMessage): void {
    const { bytes, request, headers } = message;
    if (request !== undefined && !this.#isOpen(message)) return; // cancelled in the meantime
    const session = headers === undefined ? this.#session : undefined;
    message.exchange = new Exchange(this.#options.endpoint, {
      bytes,
      headers: headers ?? session?.headers ?? {},
      inSession: session?.hasId === true,
      isOpen: () => this.#isOpen(message),
      onHeaders: (received) => {
        if (request?.method === "initialize" && headers === undefined) this.#session?.learnId(received);
      },
      onMessage: (received) => this.#onMessage(received),
      onEnd: (error) => this.#onEnd(message, error),
    });
  }

  /** The client waits for the answer to this request. */
  #isOpen(message: OutgoingMessage): boolean {
    return message.request !== undefined && this.#open.get(message.request.id) === message;
  }

  #onEnd(message: OutgoingMessage, error: HubError | undefined): void {
    const subscription = this.#subscriptionOf(message);
    if (subscription !== undefined && !isRefusal(error)) return this.#listenAgain(message, subscription);
    if (error === undefined || (message.request !== undefined && !this.#isOpen(message))) return message.onDone?.();
    const isUntouched = error.delivery === "unsent" || error.delivery === "forgotten";
    if (!isUntouched || message.isRetried === true) return this.#fail(message, error);
    message.isRetried = true;
    this.#recover(error).then(
      () => this.#post(message),
      (failed: unknown) => this.#fail(message, toHubError(failed)),
    );
  }

  #subscriptionOf(message: OutgoingMessage): Subscription | undefined {
    return message.request !== undefined && this.#isOpen(message)
      ? this.#subscriptions.get(message.request.id)
      : undefined;
  }

  /** The stream of a subscription ended although the client still wants it. */
  #listenAgain(message: OutgoingMessage, subscription: Subscription): void {
    subscription.streamEnded();
    const again = () => {
      if (!this.#isOpen(message)) return;
      this.#options.endpoint.relocate().then(
        () => this.#post(message),
        () => this.#listenAgain(message, subscription),
      );
    };
    setTimeout(again, subscription.nextBackoffMs()).unref();
  }

  /** The client gets the first acknowledgement. Later ones are for streams that the bridge reopened. */
  #acknowledged(bytes: Buffer): void {
    const message = readMessage(bytes);
    const params = message.kind === "notification" ? (message.params?.value ?? {}) : {};
    const id = subscriptionIdIn(params);
    const listen = isId(id) ? this.#open.get(id) : undefined;
    if (listen?.request?.method !== LISTEN || !isId(id)) return this.#send(bytes);
    const subscription = this.#subscriptions.get(id);
    if (subscription === undefined) {
      this.#subscriptions.set(id, new Subscription(id, params));
      return this.#send(bytes);
    }
    for (const notification of subscription.reopened(params)) this.#send(notification);
    if (subscription.isComplete) return;
    setTimeout(() => {
      if (this.#subscriptionOf(listen) === subscription) listen.exchange?.abort();
    }, subscription.nextBackoffMs()).unref();
  }

  /** The endpoint has not accepted a message: looks up its address, and opens another session if that one is lost. */
  async #recover({ delivery }: HubError): Promise<void> {
    if (delivery === "unsent" && (await this.#options.endpoint.relocate()) === "same") return;
    if (this.#session?.version !== undefined) await this.#session.reopen();
  }

  #fail(message: OutgoingMessage, error: HubError): void {
    const { request } = message;
    if (request !== undefined && this.#isOpen(message)) {
      this.#close(request.id);
      message.deliver?.(writeReply(request.id, toReply(error)));
    } else if (request === undefined) {
      this.#options.log("debug", `a message of the client was not delivered: ${error.message}`);
    }
    message.onDone?.();
  }

  /** Handles a message of the server, from any stream. */
  #onMessage(bytes: Buffer): void {
    const message = readMessage(bytes, { outline: true });
    switch (message.kind) {
      case "malformed": {
        const batch = readBatch(bytes, { max: MAX_OPEN });
        if (batch?.kind === "batch") return batch.members.forEach((member) => this.#onMessage(member));
        return this.#options.log("debug", `invalid message from the server: ${message.message}`);
      }
      case "request":
        if (this.#serverRequests.size < MAX_OPEN) this.#serverRequests.add(message.id);
        return this.#send(bytes);
      case "notification":
        if (message.method === ACKNOWLEDGED) return this.#acknowledged(bytes);
        if (message.method.endsWith("/list_changed")) void this.#session?.restore();
        return this.#send(bytes);
      case "response":
        return this.#answer(message.id, message.reply, bytes);
    }
  }

  #answer(id: Id, reply: Reply, bytes: Buffer): void {
    const message = this.#open.get(id);
    if (message === undefined) return; // cancelled, or never sent
    // A hub that stops answers its subscriptions: they are reopened when the stream ends.
    if (reply.ok && this.#options.isHub === true && this.#subscriptionOf(message) !== undefined) return;
    this.#close(id);
    const method = message.request?.method;
    if (method === "initialize" && message.headers === undefined) this.#session?.initialized(reply);
    if (method === "tools/list" && message.headers !== undefined && reply.ok) {
      this.#toolHeaders.learn(bytes, reply.result.value);
    }
    message.deliver?.(bytes);
  }

  #close(id: Id): void {
    this.#open.delete(id);
    this.#subscriptions.delete(id);
    if (this.#open.size === 0) this.#onEmpty?.();
  }

  readonly #send: Deliver = (message) => {
    this.#writer.write(message);
    const { input, output, endpoint } = this.#options;
    if (this.#isPaused || this.#writer.unwrittenBytes < MAX_UNREAD_BYTES) return;
    this.#isPaused = true;
    input.pause();
    endpoint.pause();
    output.once("drain", () => {
      this.#isPaused = false;
      endpoint.resume();
      input.resume();
    });
  };

  /** The client has closed its side, and may still read. */
  async #finish(): Promise<void> {
    for (const { request, bytes } of this.#open.values()) {
      // A subscription would never end.
      if (request?.method === LISTEN) this.#cancel(request.id, bytes);
    }
    for (const id of this.#serverRequests) {
      this.#postInOrder({ bytes: writeReply(id, toReply(new HubError("Cancelled", "The client has disconnected"))) });
    }
    await new Promise<void>((resolve) => {
      this.#onEmpty = resolve;
      if (this.#open.size === 0) resolve();
    });
    this.#writer.flush();
  }
}
