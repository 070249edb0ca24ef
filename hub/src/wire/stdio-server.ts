// MCP over this process's own stdin and stdout, the server's side, both eras. The first message that only one era
// knows decides which of them the connection speaks; `server/discover` alone leaves it open.

import type { Readable, Writable } from "node:stream";
import { classifyIncoming, negotiate, type Era } from "./era.ts";
import { isObject, type JsonObject } from "./json.ts";
import { failure, isId, readMessage, RPC, writeNotification, writeReply } from "./jsonrpc.ts";
import type { Id, NotificationMessage, Raw, Reply, RequestMessage } from "./jsonrpc.ts";
import { LineWriter } from "./line-writer.ts";
import { LineReader } from "./lines.ts";
import { Questions, type ClientStream } from "./questions.ts";
import type { AskClient, Service, Session } from "./server.ts";

export interface StdioServerOptions {
  readonly input: Readable;
  readonly output: Writable;
  readonly service: Service;
  readonly maxLineBytes?: number;
}

const MAX_LINE_BYTES = 4 << 20;
const MAX_DEPTH = 64;

/** Who a request comes from: a session (legacy), or what the request itself says (modern). */
interface Sender {
  readonly capabilities: JsonObject;
  readonly logLevel?: string | undefined;
}

/** A client that asks before it has shaken hands. */
const NOBODY: Sender = { capabilities: {} };

export class StdioServer {
  readonly #service: Service;
  readonly #lines: LineWriter;
  readonly #open = new Map<Id, AbortController>();
  /** Open requests that would never end by themselves. */
  readonly #subscriptions = new Set<AbortController>();
  readonly #running = new Set<Promise<void>>();
  readonly #questions = new Questions();
  readonly #stream: ClientStream = { send: (message) => this.#lines.write(message), onceClosed: () => () => {} };
  #session: Session | undefined;
  #pinned: Era | undefined;
  /** Resolves when the client closed its side, every open request is answered, and the answers are written. */
  readonly ended: Promise<void>;

  constructor({ input, output, service, maxLineBytes = MAX_LINE_BYTES }: StdioServerOptions) {
    this.#service = service;
    this.#lines = new LineWriter(output);
    this.ended = new Promise((resolve) => {
      const lines = new LineReader({
        maxBytes: maxLineBytes,
        onLine: (line) => this.#line(line),
        onOverflow: () => {
          this.#refuse(null, RPC.invalidRequest, `A line is longer than ${maxLineBytes} bytes`);
          input.destroy();
          resolve(this.#drain());
        },
      });
      input.on("data", (chunk: Buffer) => lines.push(chunk));
      input.once("end", () => {
        lines.end();
        resolve(this.#drain());
      });
      input.once("error", () => resolve(this.#drain()));
    });
  }

  async #drain(): Promise<void> {
    for (const controller of this.#subscriptions) controller.abort();
    this.#questions.end();
    await Promise.all(this.#running);
    if (this.#session !== undefined) this.#service.onSessionEnd(this.#session);
    this.#lines.flush();
  }

  #line(line: Buffer): void {
    const message = readMessage(line, { maxDepth: MAX_DEPTH });
    switch (message.kind) {
      case "malformed":
        return this.#refuse(message.id ?? null, message.code, message.message);
      case "request":
        return this.#request(message);
      case "notification":
        return this.#notification(message);
      case "response":
        return this.#questions.answer(message.id, message.reply);
    }
  }

  #request(message: RequestMessage): void {
    const verdict = classifyIncoming(message.method, message.params?.value);
    if (verdict.era === "refused") return this.#lines.write(writeReply(message.id, failure(verdict.error)));
    if (this.#pinned !== undefined && verdict.era !== this.#pinned) {
      return this.#refuse(message.id, RPC.invalidRequest, `This connection speaks the ${this.#pinned} protocol`);
    }
    if (this.#open.has(message.id)) {
      return this.#refuse(message.id, RPC.invalidRequest, `Request id ${message.id} is still in use`);
    }
    if (message.method !== "server/discover") this.#pinned = verdict.era;
    if (message.method === "initialize" && verdict.era === "legacy") this.#openSession(message);
    if (verdict.era === "modern") this.#run(message, "modern", verdict.envelope);
    else this.#run(message, "legacy", this.#session ?? NOBODY);
  }

  #openSession(message: RequestMessage): void {
    const params = message.params?.value ?? {};
    if (this.#session !== undefined) this.#service.onSessionEnd(this.#session);
    this.#session = {
      id: "stdio",
      version: negotiate(params["protocolVersion"]),
      clientInfo: isObject(params["clientInfo"]) ? params["clientInfo"] : undefined,
      capabilities: isObject(params["capabilities"]) ? params["capabilities"] : {},
      logLevel: undefined,
      notify: (method, payload) => this.#notify(method, payload),
      ask: (method, payload, options) => this.#questions.ask(method, payload, { ...options, stream: this.#stream }),
    };
    this.#service.onSession(this.#session);
  }

  #run(message: RequestMessage, era: Era, { capabilities, logLevel }: Sender): void {
    const { id } = message;
    const ask: AskClient = (method, params, options) =>
      this.#questions.ask(method, params, { ...options, within: id, stream: this.#stream });
    const controller = new AbortController();
    this.#open.set(message.id, controller);
    if (message.method === "subscriptions/listen") this.#subscriptions.add(controller);
    const running = this.#service
      .handle({
        request: message,
        era,
        transport: "stdio",
        session: this.#session,
        capabilities,
        logLevel,
        headers: {},
        signal: controller.signal,
        notify: (method, params) => this.#notify(method, params),
        ...(era === "legacy" ? { ask } : {}),
      })
      .then((reply) => this.#finish(message.id, reply, controller))
      .finally(() => this.#running.delete(running));
    this.#running.add(running);
  }

  /** A cancelled request gets no answer: the client has forgotten it. A cancelled subscription ends with one. */
  #finish(id: Id, reply: Reply, controller: AbortController): void {
    this.#open.delete(id);
    this.#questions.endWithin(id);
    this.#subscriptions.delete(controller);
    if (!controller.signal.aborted || reply.ok) this.#lines.write(writeReply(id, reply));
  }

  #notification(message: NotificationMessage): void {
    if (message.method !== "notifications/cancelled") return this.#service.onNotification(message, this.#session);
    const id = message.params?.value["requestId"];
    if (isId(id)) this.#open.get(id)?.abort();
  }

  #notify(method: string, params: Raw | undefined): void {
    this.#lines.write(writeNotification(method, params?.bytes));
  }

  #refuse(id: Id | null, code: number, message: string): void {
    this.#lines.write(writeReply(id, failure({ code, message })));
  }
}
