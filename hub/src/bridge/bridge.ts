// Carries one client's messages between its pipe and an endpoint over HTTP, both ways and as they are: every message of the
// client is a POST of its own. The era is the client's; what differs between them here is where a request's headers come
// from and how it is cancelled. Sessions are for session.ts.

import type { Readable, Writable } from "node:stream";
import { HubError, toHubError } from "../errors.ts";
import { isAnswered, isArray, readBatch, readClientBatch, writeBatch } from "../wire/batch.ts";
import { classifyIncoming, META } from "../wire/era.ts";
import { encodeHeader, requestHeaders } from "../wire/headers.ts";
import { HttpStatusError } from "../wire/http-failure.ts";
import { InFlight } from "../wire/in-flight.ts";
import { isObject } from "../wire/json.ts";
import { failure, failureOf, isId, readMessage, RPC, writeReply } from "../wire/jsonrpc.ts";
import type { Id, Malformed, Message, NotificationMessage, Reply, RequestMessage } from "../wire/jsonrpc.ts";
import { LineWriter } from "../wire/line-writer.ts";
import { LineReader } from "../wire/lines.ts";
import type { Endpoint } from "./endpoint.ts";
import { Exchange } from "./exchange.ts";
import { toFields } from "./fields.ts";
import { Parcel, type Carrier, type Deliver } from "./parcel.ts";
import { Session } from "./session.ts";
import { ACKNOWLEDGED, LISTEN, Standing, subscriptionIn } from "./standing.ts";
import { ToolHeaders } from "./tool-headers.ts";
import type { Headers } from "./response-reader.ts";

export interface BridgeOptions {
  readonly input: Readable;
  readonly output: Writable;
  readonly endpoint: Endpoint;
  /** It is a hub: one that ends a subscription by itself stops, and will be back. */
  readonly isHub?: boolean;
  log(level: "debug" | "info" | "warn", message: string): void;
}

const MAX_LINE_BYTES = 4 << 20;
const MAX_DEPTH = 64;
const MAX_OPEN = 1000;
/** Notifications and answers included. */
const MAX_HELD = 2000;
/** More than this is not kept for a client that does not read. */
const MAX_UNREAD_BYTES = 1 << 20;

export class Bridge implements Carrier {
  /** Resolves when the client closed its side and every open request is answered. */
  readonly ended: Promise<void>;
  readonly #options: BridgeOptions;
  readonly #writer: LineWriter;
  readonly #open = new InFlight<Id, Parcel>();
  /** What the client was asked and has not answered. */
  readonly #questions = new Set<Id>();
  readonly #toolHeaders = new ToolHeaders();
  /** Subscriptions of a modern client, by their requests. */
  readonly #standing = new Map<Id, Standing>();
  #session: Session | undefined;
  /** Until the endpoint has taken a part of the handshake, nothing may overtake that. */
  #hold: Promise<void> | undefined;
  /** How many messages wait for that. */
  #held = 0;
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
          this.#refuse(null, RPC.invalidRequest, `A line is longer than ${MAX_LINE_BYTES} bytes`);
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

  /** Its messages go one by one, and are answered together. */
  #batch(bytes: Buffer): void {
    const batch = readClientBatch(bytes, { version: this.#session?.version, maxDepth: MAX_DEPTH });
    if (batch.kind === "refused") return this.#refuse(null, batch.code, batch.message);
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
        this.#questions.delete(message.id);
        return this.#carry(new Parcel(this, { bytes }));
    }
  }

  #request(request: RequestMessage, bytes: Buffer, deliver: Deliver): void {
    const { id, method, params } = request;
    const verdict = classifyIncoming(method, params?.value);
    // Another revision than ours is for the endpoint to judge.
    if (verdict.era === "refused" && verdict.error.code !== RPC.unsupportedVersion) {
      return deliver(writeReply(id, failure(verdict.error)));
    }
    if (this.#open.has(id)) return deliver(refusal(id, RPC.invalidRequest, `Request id ${id} is still in use`));
    if (this.#open.size >= MAX_OPEN) {
      return deliver(writeReply(id, toReply(new HubError("Overloaded", `More than ${MAX_OPEN} requests are open`))));
    }
    if (verdict.era !== "legacy") {
      return this.#post(this.#opened(request, { bytes, deliver, fields: this.#modernFields(request) }));
    }
    if (method === "initialize") return this.#initialize(request, bytes, deliver);
    this.#session?.handshake.note(request, bytes);
    this.#carry(this.#opened(request, { bytes, deliver, fields: undefined }));
  }

  #opened(request: RequestMessage, { bytes, deliver, fields }: Pick<Parcel, "bytes" | "deliver" | "fields">): Parcel {
    const parcel = new Parcel(this, { bytes, request, deliver, fields });
    this.#open.set(request.id, parcel);
    return parcel;
  }

  #modernFields({ method, params }: RequestMessage | NotificationMessage): string {
    const meta = params?.value["_meta"];
    const version = isObject(meta) ? meta[META.version] : undefined;
    return toFields({
      ...requestHeaders(method, params?.value, this.#toolHeaders.of(method, params?.value["name"])),
      "mcp-method": encodeHeader(method),
      "mcp-protocol-version": encodeHeader(String(version)),
    });
  }

  #initialize(request: RequestMessage, bytes: Buffer, deliver: Deliver): void {
    void this.#session?.end();
    this.#session = new Session({
      endpoint: this.#options.endpoint,
      initialize: bytes,
      onMessage: (message) => this.onMessage(message),
      send: this.#send,
      onReopened: () => this.#options.log("info", "the session was lost, and another one is open in its place"),
    });
    const answered = new Promise<void>((resolve) => {
      const delivered: Deliver = (answer) => {
        deliver(answer);
        resolve();
      };
      this.#post(this.#opened(request, { bytes, deliver: delivered, fields: undefined }));
    });
    this.#holdUntil(answered);
  }

  #holdUntil(done: Promise<void>): void {
    this.#hold = done;
    void done.then(() => {
      if (this.#hold === done) this.#hold = undefined;
    });
  }

  #notification(message: NotificationMessage, bytes: Buffer): void {
    const { method, params } = message;
    if (method === "notifications/cancelled") return this.#cancel(params?.value["requestId"], bytes);
    if (method === "notifications/initialized" && this.#session !== undefined) {
      return this.#initialized(this.#session, bytes);
    }
    const isModern = classifyIncoming(method, params?.value).era === "modern";
    this.#carry(new Parcel(this, { bytes, fields: isModern ? this.#modernFields(message) : undefined }));
  }

  #initialized(session: Session, bytes: Buffer): void {
    session.handshake.initialized = bytes;
    const arrived = new Promise<void>((resolve) => this.#carry(new Parcel(this, { bytes, onDone: resolve })));
    this.#holdUntil(arrived);
    void arrived.then(() => session.listen());
  }

  /** Nobody waits for its answer any more. */
  #cancel(id: unknown, bytes: Buffer): void {
    const parcel = isId(id) ? this.#open.get(id) : undefined;
    if (parcel?.request === undefined) return;
    this.#close(parcel.request.id);
    // In the modern era a closed stream says it all. A legacy server is told, and then need not answer.
    const abort = () => parcel.exchange?.abort();
    if (parcel.fields === undefined) this.#carry(new Parcel(this, { bytes, onDone: abort }));
    else abort();
  }

  /** Sends what belongs to the session, when that can take it. */
  #carry(parcel: Parcel): void {
    const hold = parcel.fields === undefined ? (this.#hold ?? this.#session?.reopening) : undefined;
    if (hold === undefined) return this.#post(parcel);
    if (this.#held >= MAX_HELD) return this.#fail(parcel, new HubError("Overloaded", "Too many messages are waiting"));
    this.#held++;
    const release = () => void this.#held--;
    void hold.finally(release).then(
      () => this.#post(parcel),
      (error: unknown) => this.#fail(parcel, toHubError(error)),
    );
  }

  #post(parcel: Parcel): void {
    if (parcel.request !== undefined && !this.isOpen(parcel)) return; // cancelled meanwhile
    const session = parcel.fields === undefined ? this.#session : undefined;
    const fields = parcel.fields ?? session?.fields ?? "";
    const isNamed = session?.isNamed === true;
    parcel.exchange = new Exchange(this.#options.endpoint, parcel, { fields, isNamed }).post();
  }

  isOpen(parcel: Parcel): boolean {
    return parcel.request !== undefined && this.#open.get(parcel.request.id) === parcel;
  }

  onHeaders({ request, fields }: Parcel, headers: Headers): void {
    if (request?.method === "initialize" && fields === undefined) this.#session?.learnId(headers);
  }

  onEnd(parcel: Parcel, error: HubError | undefined): void {
    const standing = this.#standingOf(parcel);
    if (standing !== undefined && !isRefusal(error)) return this.#listenAgain(parcel, standing);
    if (error === undefined || (parcel.request !== undefined && !this.isOpen(parcel))) return parcel.onDone?.();
    const isUntouched = error.delivery === "unsent" || error.delivery === "forgotten";
    if (!isUntouched || parcel.isRetried) return this.#fail(parcel, error);
    parcel.isRetried = true;
    this.#recover(error).then(
      () => this.#post(parcel),
      (failed: unknown) => this.#fail(parcel, toHubError(failed)),
    );
  }

  #standingOf(parcel: Parcel): Standing | undefined {
    return parcel.request !== undefined && this.isOpen(parcel) ? this.#standing.get(parcel.request.id) : undefined;
  }

  /** Its stream is over, and the client has not asked for that. */
  #listenAgain(parcel: Parcel, standing: Standing): void {
    standing.lost();
    const again = () => {
      if (!this.isOpen(parcel)) return;
      this.#options.endpoint.find().then(
        () => this.#post(parcel),
        () => this.#listenAgain(parcel, standing),
      );
    };
    setTimeout(again, standing.pauseMs()).unref();
  }

  /** The first one is the client's; later ones are of a stream that was opened in its name. */
  #acknowledged(bytes: Buffer): void {
    const message = readMessage(bytes);
    const params = message.kind === "notification" ? (message.params?.value ?? {}) : {};
    const id = subscriptionIn(params);
    const parcel = isId(id) ? this.#open.get(id) : undefined;
    if (parcel?.request?.method !== LISTEN || !isId(id)) return this.#send(bytes);
    const standing = this.#standing.get(id);
    if (standing === undefined) {
      this.#standing.set(id, new Standing(id, params));
      return this.#send(bytes);
    }
    for (const told of standing.regained(params)) this.#send(told);
    if (standing.isComplete) return;
    setTimeout(() => {
      if (this.#standingOf(parcel) === standing) parcel.exchange?.abort();
    }, standing.pauseMs()).unref();
  }

  /** The endpoint did not take a message: looks for it, and opens another session where that one is gone. */
  async #recover({ delivery }: HubError): Promise<void> {
    if (delivery === "unsent" && (await this.#options.endpoint.find()) === "same") return;
    if (this.#session?.version !== undefined) await this.#session.reopen();
  }

  #fail(parcel: Parcel, error: HubError): void {
    if (parcel.request !== undefined && this.isOpen(parcel)) {
      this.#close(parcel.request.id);
      parcel.deliver(writeReply(parcel.request.id, toReply(error)));
    } else if (parcel.request === undefined) {
      this.#options.log("debug", `a message of the client did not arrive: ${error.message}`);
    }
    parcel.onDone?.();
  }

  /** From the server, whatever it belongs to. */
  onMessage(bytes: Buffer): void {
    const message = readMessage(bytes, { outline: true });
    switch (message.kind) {
      case "malformed": {
        const batch = readBatch(bytes, { max: MAX_OPEN });
        if (batch?.kind === "batch") return batch.members.forEach((member) => this.onMessage(member));
        return this.#options.log("debug", `what came from the server is no message: ${message.message}`);
      }
      case "request":
        if (this.#questions.size < MAX_OPEN) this.#questions.add(message.id);
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
    const parcel = this.#open.get(id);
    // Cancelled, or never asked.
    if (parcel === undefined) return;
    // The end of its stream follows, and then another one.
    if (reply.ok && this.#options.isHub === true && this.#standingOf(parcel) !== undefined) return;
    this.#close(id);
    const method = parcel.request?.method;
    if (method === "initialize" && parcel.fields === undefined) this.#session?.answered(reply);
    if (method === "tools/list" && parcel.fields !== undefined && reply.ok) {
      this.#toolHeaders.learn(bytes, reply.result.value);
    }
    parcel.deliver(bytes);
  }

  #close(id: Id): void {
    this.#open.delete(id);
    this.#standing.delete(id);
    if (this.#open.size === 0) this.#onEmpty?.();
  }

  #refuse(id: Id | null, code: number, message: string): void {
    this.#send(refusal(id, code, message));
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

  /** The client says nothing more, but still listens. */
  async #finish(): Promise<void> {
    for (const parcel of this.#open.values()) {
      // It would never end by itself.
      if (parcel.request?.method === LISTEN) this.#cancel(parcel.request.id, parcel.bytes);
    }
    for (const id of this.#questions) {
      const reply = toReply(new HubError("Cancelled", "The client has left"));
      this.#carry(new Parcel(this, { bytes: writeReply(id, reply) }));
    }
    await new Promise<void>((resolve) => {
      this.#onEmpty = resolve;
      if (this.#open.size === 0) resolve();
    });
    this.#writer.flush();
  }
}

/** The endpoint is there, and does not want it. */
function isRefusal(error: HubError | undefined): boolean {
  return error instanceof HttpStatusError && error.rpcError !== undefined;
}

function refusal(id: Id | null, code: number, message: string): Buffer {
  return writeReply(id, failure({ code, message }));
}

/** What the client is told of a request that was not answered. */
function toReply(error: HubError): Reply {
  if (error instanceof HttpStatusError && error.rpcError !== undefined) return failure(error.rpcError);
  const isUnknown = error.delivery === "unknown";
  const message = isUnknown ? `${error.message}: whether the request was carried out is not known` : error.message;
  return failure({ code: error.meaning.rpc, message, data: { ...error.toJSON(), message } });
}
