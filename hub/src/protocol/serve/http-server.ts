// MCP over Streamable HTTP, server side. Serves both eras on one endpoint; the body of each request decides.
// Host, Origin and authentication are checked before.

import { SmallMap } from "../../lib/small-map.ts";
import { isAnswered, isArray, readClientBatch } from "../rpc/batch.ts";
import { Cancellable } from "../../lib/cancellation.ts";
import { classifyIncoming, SUPPORTED_VERSIONS, type Envelope } from "../revisions/era.ts";
import { headerMismatch } from "../revisions/headers.ts";
import { HttpAnswer, type HttpResponse } from "./http-response.ts";
import { accept, accepts, headerOf, MAX_DEPTH, readPost, refuse, type HttpRequest } from "./http-request.ts";
import { HttpSessions, type HttpSession } from "./http-session.ts";
import { isObject, type JsonObject } from "../../lib/json/json.ts";
import { failure, failureOf, isId, readMessage, RPC } from "../rpc/jsonrpc.ts";
import type { Id, Malformed, Message, NotificationMessage, Reply, RequestMessage } from "../rpc/jsonrpc.ts";
import type { IncomingRequest, Requester, Service, SessionOrigin } from "./service.ts";
import { SessionAnswer } from "./session-answer.ts";
import { sessionInit } from "./session-init.ts";
import type { SessionRecords } from "./session-records.ts";

interface Exchange {
  readonly request: HttpRequest;
  readonly response: HttpResponse;
  readonly requester: Requester | undefined;
}

const NO_SESSION = {
  code: RPC.invalidRequest,
  message: "No session: send `initialize` first, then its Mcp-Session-Id",
};

const TOO_MANY_SESSIONS = "Too many sessions: end unused ones (DELETE), or try again later";
/** When a session may have expired. */
const RETRY_AFTER_S = "60";
/** Requests that change the record of a session. */
const SETTINGS: ReadonlySet<string> = new Set(["logging/setLevel", "resources/subscribe", "resources/unsubscribe"]);

/** Errors of the hub that have an HTTP status in the modern era; all others are sent with 200. */
const STATUS_OF_CODE: ReadonlyMap<number, number> = new Map([
  [RPC.methodNotFound, 404],
  [RPC.headerMismatch, 400],
  [RPC.missingClientCapability, 400],
  [RPC.unsupportedVersion, 400],
  [RPC.rateLimited, 429],
]);

export class StreamableHttpServer {
  readonly #service: Service;
  readonly #sessions: HttpSessions;
  /** Open requests without a session (modern), by an internal number. */
  readonly #open = new SmallMap<number, Cancellable>();
  #opened = 0;

  /** With records, sessions of an earlier process continue. */
  constructor(service: Service, { records }: { readonly records?: SessionRecords | undefined } = {}) {
    this.#service = service;
    this.#sessions = new HttpSessions({
      records,
      onEnd: (session) => service.onSessionEnd(session),
      onRevived: (session) => {
        service.onSession(session, this.#originOf(session, {}));
        service.onSessionRevived?.(session, { watched: [...session.watched], requester: session.requester });
      },
    });
  }

  /** Legacy only: modern clients have no session. */
  get sessionCount(): number {
    return this.#sessions.count;
  }

  hasSession(id: string): boolean {
    return this.#sessions.has(id);
  }

  endSession(id: string): void {
    this.#sessions.endOf(id);
  }

  /** `requester`: as the edge has authenticated it. */
  handle(request: HttpRequest, response: HttpResponse, requester?: Requester): void {
    const exchange = { request, response, requester };
    if (request.method === "POST") this.#post(exchange);
    else if (request.method === "GET") this.#get(exchange);
    else if (request.method === "DELETE") this.#delete(exchange);
    else
      refuse(response, 405, RPC.invalidRequest, `${request.method} is not allowed here`, {
        allow: "POST, GET, DELETE",
      });
  }

  /** Ends all sessions, streams and open requests. */
  close(): void {
    for (const controller of this.#open.values()) controller.abort();
    this.#sessions.close();
  }

  #post(exchange: Exchange): void {
    const { request, response } = exchange;
    readPost(request, response, { accept: ["application/json", "text/event-stream"] }, (body) => {
      if (isArray(body)) this.#batch(body, exchange);
      else this.#message(readMessage(body, { maxDepth: MAX_DEPTH }), exchange);
    });
  }

  /** Runs the requests concurrently and sends their replies together. */
  #batch(body: Buffer, exchange: Exchange): void {
    const { request, response } = exchange;
    const isNamed = headerOf(request, "mcp-session-id") !== undefined;
    const session = isNamed ? this.#sessionOf(exchange) : undefined;
    if (isNamed && session === undefined) return;
    const headerVersion = headerOf(request, "mcp-protocol-version");
    const batch = readClientBatch(body, { version: session?.version, headerVersion, maxDepth: MAX_DEPTH });
    if (batch.kind === "refused" || session === undefined) {
      const { code, message } = batch.kind === "refused" ? batch : NO_SESSION;
      return refuse(response, 400, code, message);
    }
    const expected = batch.messages.filter(isAnswered).length;
    const answer = expected === 0 ? undefined : this.#answer(response, session, { batch: expected });
    for (const message of batch.messages) {
      if (message.kind === "malformed") answer?.finish(message.id ?? null, failureOf(message));
      else if (message.kind === "notification") this.#notify(message, session);
      else if (message.kind === "response") session.clientRequests.answer(message.id, message.reply);
      else if (answer !== undefined) this.#runLegacy(message, exchange, answer, session);
    }
    if (answer === undefined) accept(response);
  }

  #answer(
    response: HttpResponse,
    session: HttpSession,
    options: { headers?: Record<string, string>; batch?: number } = {},
  ): SessionAnswer {
    return new SessionAnswer(response, { ...options, openStream: () => session.openStream() });
  }

  #message(message: Message | Malformed, exchange: Exchange): void {
    const { response } = exchange;
    switch (message.kind) {
      case "malformed":
        return refuse(response, 400, message.code, message.message, {}, message.id);
      case "request":
        return this.#request(message, exchange);
      case "notification":
        return this.#notification(message, exchange);
      case "response": {
        const session = this.#sessionOf(exchange);
        if (session === undefined) return;
        session.clientRequests.answer(message.id, message.reply);
        accept(response);
      }
    }
  }

  #request(message: RequestMessage, exchange: Exchange): void {
    const { request, response } = exchange;
    const verdict = classifyIncoming(message.method, message.params?.value, headerOf(request, "mcp-protocol-version"));
    if (verdict.era === "refused") {
      const { code, message: text, data } = verdict.error;
      return refuse(response, 400, code, text, {}, message.id, data);
    }
    if (verdict.era === "modern") {
      const mismatch =
        headerOf(request, "mcp-protocol-version") === undefined
          ? "The header mcp-protocol-version is missing"
          : headerMismatch(request.headers, message.method, message.params?.value);
      if (mismatch !== undefined) return refuse(response, 400, RPC.headerMismatch, mismatch, {}, message.id);
      return this.#runModern(message, exchange, verdict.envelope);
    }
    if (message.method === "initialize") return this.#initialize(message, exchange);
    const session = this.#sessionOf(exchange, message.id);
    if (session !== undefined) this.#runLegacy(message, exchange, this.#answer(response, session), session);
  }

  #runModern(
    message: RequestMessage,
    { request, response, requester }: Exchange,
    { capabilities, logLevel }: Envelope,
  ): void {
    const controller = new Cancellable();
    const answer = new HttpAnswer(response);
    const number = ++this.#opened;
    this.#open.set(number, controller);
    const release = requester?.onceEnded(() => controller.abort());
    // A modern client cancels by closing the stream.
    response.onceClosed(() => {
      if (this.#open.delete(number)) controller.abort();
      release?.();
    });
    void this.#service
      .handle({
        request: message,
        era: "modern",
        transport: "http",
        session: undefined,
        capabilities,
        logLevel,
        requester,
        headers: request.headers,
        signal: controller,
        notify: (method, params) => answer.notify(method, params),
      })
      .then((reply) => {
        this.#open.delete(number);
        release?.();
        answer.finish(message.id, reply, statusOf(reply));
      });
  }

  #initialize(message: RequestMessage, exchange: Exchange): void {
    const { request, response, requester } = exchange;
    const init = { ...sessionInit(message.params?.value ?? {}), owner: requester?.owner };
    const session = this.#sessions.create(init);
    if (!this.#sessions.add(session, requester)) {
      return refuse(response, 503, RPC.invalidRequest, TOO_MANY_SESSIONS, { "retry-after": RETRY_AFTER_S }, message.id);
    }
    this.#service.onSession(session, this.#originOf(session, request.headers));
    const answer = this.#answer(response, session, { headers: { "mcp-session-id": session.id } });
    const run = () => this.#runLegacy(message, exchange, answer, session);
    const saved = this.#sessions.saved;
    if (saved === undefined) run();
    else void saved.then(run);
  }

  #originOf(session: HttpSession, headers: IncomingRequest["headers"]): SessionOrigin {
    return { transport: "http", headers, end: () => this.#sessions.end(session) };
  }

  #runLegacy(
    message: RequestMessage,
    { request, requester }: Exchange,
    answer: SessionAnswer,
    session: HttpSession,
  ): void {
    if (session.open.has(message.id)) {
      return answer.finish(
        message.id,
        failure({ code: RPC.invalidRequest, message: `Request id ${message.id} is still in use` }),
        400,
      );
    }
    const controller = new Cancellable();
    session.open.set(message.id, controller);
    const release = requester?.onceEnded(() => controller.abort());
    void this.#service
      .handle({
        request: message,
        era: "legacy",
        transport: "http",
        session,
        capabilities: session.capabilities,
        logLevel: session.logLevel,
        requester,
        headers: request.headers,
        signal: controller,
        notify: (method, params) => answer.notify(method, params),
        ask: (method, params, options) => session.askWithin({ id: message.id, answer }, method, params, options),
      })
      .then((reply) => {
        session.open.delete(message.id);
        release?.();
        session.clientRequests.endWithin(message.id);
        if (reply.ok && SETTINGS.has(message.method)) this.#recordSetting(message, session);
        answer.finish(message.id, reply);
      });
  }

  #recordSetting({ method, params }: RequestMessage, session: HttpSession): void {
    const uri = params?.value["uri"];
    if (typeof uri === "string" && method === "resources/subscribe") session.watched.add(uri);
    if (typeof uri === "string" && method === "resources/unsubscribe") session.watched.delete(uri);
    this.#sessions.saveRecord(session);
  }

  #notification(message: NotificationMessage, exchange: Exchange): void {
    const { request, response } = exchange;
    const verdict = classifyIncoming(message.method, message.params?.value, headerOf(request, "mcp-protocol-version"));
    if (verdict.era === "modern" || headerOf(request, "mcp-session-id") === undefined) {
      this.#service.onNotification(message, undefined);
      return accept(response);
    }
    const session = this.#sessionOf(exchange);
    if (session === undefined) return;
    this.#notify(message, session);
    accept(response);
  }

  #notify(message: NotificationMessage, session: HttpSession): void {
    if (message.method === "notifications/cancelled") cancel(session, message.params?.value);
    else this.#service.onNotification(message, session);
  }

  #get(exchange: Exchange): void {
    const { request, response } = exchange;
    if (!accepts(request, "text/event-stream")) {
      return refuse(response, 406, RPC.invalidRequest, "A GET needs the header Accept: text/event-stream");
    }
    const session = this.#sessionOf(exchange);
    if (session === undefined) return;
    const release = exchange.requester?.onceEnded(() => response.stream().end());
    response.onceClosed(() => release?.());
    const lastEventId = headerOf(request, "last-event-id");
    if (lastEventId !== undefined) return this.#resume(session, lastEventId, response);
    if (session.hasStream) return refuse(response, 409, RPC.invalidRequest, "This session already has a stream");
    session.attach(response);
  }

  #resume(session: HttpSession, lastEventId: string, response: HttpResponse): void {
    const outcome = session.resume(lastEventId, response);
    // 204 means that there is nothing left; a client would resume an empty stream again.
    if (outcome === "over") response.send(204);
    if (outcome === "unknown") {
      refuse(response, 400, RPC.invalidRequest, "The stream of this event is no longer available");
    }
  }

  #delete(exchange: Exchange): void {
    const session = this.#sessionOf(exchange);
    if (session === undefined) return;
    this.#sessions.end(session);
    exchange.response.send(204);
  }

  /**
   * The session that a request names. Otherwise sends an error: 400 without a session id, 404 for an unknown one, and for one of
   * another requester.
   */
  #sessionOf({ request, response, requester }: Exchange, id?: Id): HttpSession | undefined {
    const given = headerOf(request, "mcp-session-id");
    const version = headerOf(request, "mcp-protocol-version");
    const session = given === undefined ? undefined : this.#sessions.find(given, requester);
    if (version !== undefined && !SUPPORTED_VERSIONS.includes(version)) {
      refuse(response, 400, RPC.invalidRequest, `Protocol version ${version} is not supported`, {}, id);
    } else if (given === undefined) {
      refuse(response, 400, NO_SESSION.code, NO_SESSION.message, {}, id);
    } else if (session === undefined) {
      refuse(response, 404, RPC.invalidRequest, "Unknown session: send `initialize` again", {}, id);
    } else {
      return session;
    }
    return undefined;
  }
}

function cancel(session: HttpSession, params: JsonObject | undefined): void {
  const id = params?.["requestId"];
  if (isId(id)) session.open.get(id)?.abort();
}

/** The HTTP status of a modern reply. A server's own error is sent with 200. */
function statusOf(reply: Reply): number {
  if (reply.ok || !isObject(reply.error.value)) return 200;
  const { code } = reply.error.value;
  // Servers know the calling client's capabilities, so this error of a server is the client's fault too.
  if (reply.isOurs !== true && code !== RPC.missingClientCapability) return 200;
  return (typeof code === "number" ? STATUS_OF_CODE.get(code) : undefined) ?? 200;
}
