// MCP over Streamable HTTP, the server's side, both eras on one endpoint: decided per request, by the body.
// Host, Origin and authentication are checked before; what the requests mean is the service's.

import { InFlight } from "./in-flight.ts";
import { isAnswered, isArray, readClientBatch } from "./batch.ts";
import { Cancellable } from "./cancellation.ts";
import { classifyIncoming, SUPPORTED_VERSIONS, type Envelope } from "./era.ts";
import { headerMismatch } from "./headers.ts";
import { HttpAnswer, onceClosed, sendStatus, type HttpResponse } from "./http-answer.ts";
import { accept, accepts, headerOf, MAX_DEPTH, readPost, refuse, type HttpRequest } from "./http-request.ts";
import { HttpSession, HttpSessions } from "./http-session.ts";
import { isObject, type JsonObject } from "./json.ts";
import { failure, failureOf, isId, readMessage, RPC } from "./jsonrpc.ts";
import type { Id, Malformed, Message, NotificationMessage, Reply, RequestMessage } from "./jsonrpc.ts";
import type { Service } from "./server.ts";
import { SessionAnswer } from "./session-answer.ts";
import { sessionInit } from "./session-init.ts";
import type { SessionRecords } from "./session-records.ts";

const NO_SESSION = {
  code: RPC.invalidRequest,
  message: "No session: send `initialize` first, then its Mcp-Session-Id",
};

const FULL = "There are too many sessions: end those that are not needed any more (DELETE), or try again later";
/** When a session may have run out. */
const RETRY_AFTER_S = "60";
/** What changes a session beyond the request itself. */
const SETTINGS: ReadonlySet<string> = new Set(["logging/setLevel", "resources/subscribe", "resources/unsubscribe"]);

/** Refusals of the hub that HTTP shows in its status in the modern era; all others are answers like any other. */
const STATUS_OF_CODE: ReadonlyMap<number, number> = new Map([
  [RPC.methodNotFound, 404],
  [RPC.headerMismatch, 400],
  [RPC.missingClientCapability, 400],
  [RPC.unsupportedVersion, 400],
]);

export class StreamableHttpServer {
  readonly #service: Service;
  readonly #sessions: HttpSessions;
  /** Requests without a session (modern), by a number of our own: ended with the endpoint. */
  readonly #open = new InFlight<number, Cancellable>();
  #opened = 0;

  /** With records, sessions go on that an earlier process had. */
  constructor(service: Service, { records }: { readonly records?: SessionRecords | undefined } = {}) {
    this.#service = service;
    this.#sessions = new HttpSessions({
      records,
      onEnd: (session) => service.onSessionEnd(session),
      onRevived: (session) => {
        service.onSession(session);
        service.onSessionRevived?.(session, [...session.watched]);
      },
    });
  }

  /** Of legacy clients; modern ones have none. */
  get sessionCount(): number {
    return this.#sessions.count;
  }

  handle(request: HttpRequest, response: HttpResponse): void {
    if (request.method === "POST") this.#post(request, response);
    else if (request.method === "GET") this.#get(request, response);
    else if (request.method === "DELETE") this.#delete(request, response);
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

  #post(request: HttpRequest, response: HttpResponse): void {
    readPost(request, response, { accept: ["application/json", "text/event-stream"] }, (body) => {
      if (isArray(body)) this.#batch(body, request, response);
      else this.#message(readMessage(body, { maxDepth: MAX_DEPTH }), request, response);
    });
  }

  /** Its requests run side by side, and are answered together. */
  #batch(body: Buffer, request: HttpRequest, response: HttpResponse): void {
    const isNamed = headerOf(request, "mcp-session-id") !== undefined;
    const session = isNamed ? this.#sessionOf(request, response) : undefined;
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
      else if (message.kind === "response") session.questions.answer(message.id, message.reply);
      else if (answer !== undefined) this.#runLegacy(message, request, answer, session);
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

  #message(message: Message | Malformed, request: HttpRequest, response: HttpResponse): void {
    switch (message.kind) {
      case "malformed":
        return refuse(response, 400, message.code, message.message, {}, message.id);
      case "request":
        return this.#request(message, request, response);
      case "notification":
        return this.#notification(message, request, response);
      case "response": {
        const session = this.#sessionOf(request, response);
        if (session === undefined) return;
        session.questions.answer(message.id, message.reply);
        accept(response);
      }
    }
  }

  #request(message: RequestMessage, request: HttpRequest, response: HttpResponse): void {
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
      return this.#runModern(message, request, response, verdict.envelope);
    }
    if (message.method === "initialize") return this.#initialize(message, request, response);
    const session = this.#sessionOf(request, response, message.id);
    if (session !== undefined) this.#runLegacy(message, request, this.#answer(response, session), session);
  }

  #runModern(
    message: RequestMessage,
    request: HttpRequest,
    response: HttpResponse,
    { capabilities, logLevel }: Envelope,
  ): void {
    const controller = new Cancellable();
    const answer = new HttpAnswer(response);
    const number = ++this.#opened;
    this.#open.set(number, controller);
    // In the modern era a client cancels by closing the stream.
    onceClosed(response, () => {
      if (this.#open.delete(number)) controller.abort();
    });
    void this.#service
      .handle({
        request: message,
        era: "modern",
        transport: "http",
        session: undefined,
        capabilities,
        logLevel,
        headers: request.headers,
        signal: controller,
        notify: (method, params) => answer.notify(method, params),
      })
      .then((reply) => {
        this.#open.delete(number);
        answer.finish(message.id, reply, statusOf(reply));
      });
  }

  #initialize(message: RequestMessage, request: HttpRequest, response: HttpResponse): void {
    const params = message.params?.value ?? {};
    const session = new HttpSession(sessionInit(params), this.#sessions.space);
    if (!this.#sessions.add(session)) {
      return refuse(response, 503, RPC.invalidRequest, FULL, { "retry-after": RETRY_AFTER_S }, message.id);
    }
    this.#service.onSession(session);
    const answer = this.#answer(response, session, { headers: { "mcp-session-id": session.id } });
    this.#runLegacy(message, request, answer, session);
  }

  #runLegacy(message: RequestMessage, request: HttpRequest, answer: SessionAnswer, session: HttpSession): void {
    if (session.open.has(message.id)) {
      return answer.finish(
        message.id,
        failure({ code: RPC.invalidRequest, message: `Request id ${message.id} is still in use` }),
        400,
      );
    }
    const controller = new Cancellable();
    session.open.set(message.id, controller);
    void this.#service
      .handle({
        request: message,
        era: "legacy",
        transport: "http",
        session,
        capabilities: session.capabilities,
        logLevel: session.logLevel,
        headers: request.headers,
        signal: controller,
        notify: (method, params) => answer.notify(method, params),
        ask: (method, params, options) => session.askWithin({ id: message.id, answer }, method, params, options),
      })
      .then((reply) => {
        session.open.delete(message.id);
        session.questions.endWithin(message.id);
        if (reply.ok && SETTINGS.has(message.method)) this.#noteSetting(message, session);
        answer.finish(message.id, reply);
      });
  }

  #noteSetting({ method, params }: RequestMessage, session: HttpSession): void {
    const uri = params?.value["uri"];
    if (typeof uri === "string" && method === "resources/subscribe") session.watched.add(uri);
    if (typeof uri === "string" && method === "resources/unsubscribe") session.watched.delete(uri);
    this.#sessions.note(session);
  }

  #notification(message: NotificationMessage, request: HttpRequest, response: HttpResponse): void {
    const verdict = classifyIncoming(message.method, message.params?.value, headerOf(request, "mcp-protocol-version"));
    if (verdict.era === "modern" || headerOf(request, "mcp-session-id") === undefined) {
      this.#service.onNotification(message, undefined);
      return accept(response);
    }
    const session = this.#sessionOf(request, response);
    if (session === undefined) return;
    this.#notify(message, session);
    accept(response);
  }

  #notify(message: NotificationMessage, session: HttpSession): void {
    if (message.method === "notifications/cancelled") cancel(session, message.params?.value);
    else this.#service.onNotification(message, session);
  }

  #get(request: HttpRequest, response: HttpResponse): void {
    if (!accepts(request, "text/event-stream")) {
      return refuse(response, 406, RPC.invalidRequest, "A GET needs the header Accept: text/event-stream");
    }
    const session = this.#sessionOf(request, response);
    if (session === undefined) return;
    const lastEventId = headerOf(request, "last-event-id");
    if (lastEventId !== undefined) return this.#resume(session, lastEventId, response);
    if (session.hasStream) return refuse(response, 409, RPC.invalidRequest, "This session has a stream already");
    session.attach(response);
  }

  #resume(session: HttpSession, lastEventId: string, response: HttpResponse): void {
    const outcome = session.resume(lastEventId, response);
    // Nothing is left to be had: an empty stream would only be asked for again.
    if (outcome === "over") sendStatus(response, 204);
    if (outcome === "unknown") {
      refuse(response, 400, RPC.invalidRequest, "The stream of this event is not kept any more");
    }
  }

  #delete(request: HttpRequest, response: HttpResponse): void {
    const session = this.#sessionOf(request, response);
    if (session === undefined) return;
    this.#sessions.end(session);
    sendStatus(response, 204);
  }

  /** The session that a request names. Without one the request is answered: 400 for none given, 404 for one that ended. */
  #sessionOf(request: HttpRequest, response: HttpResponse, id?: Id): HttpSession | undefined {
    const given = headerOf(request, "mcp-session-id");
    const version = headerOf(request, "mcp-protocol-version");
    const session = given === undefined ? undefined : this.#sessions.find(given);
    if (version !== undefined && !SUPPORTED_VERSIONS.includes(version)) {
      refuse(response, 400, RPC.invalidRequest, `Protocol version ${version} is not supported`, {}, id);
    } else if (given === undefined) {
      refuse(response, 400, NO_SESSION.code, NO_SESSION.message, {}, id);
    } else if (session === undefined) {
      refuse(
        response,
        404,
        RPC.invalidRequest,
        "This session does not exist or has ended: send `initialize` again",
        {},
        id,
      );
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

/** A server's own error is an answer like any other: the hub itself has done what it was asked. */
function statusOf(reply: Reply): number {
  if (reply.ok || !isObject(reply.error.value)) return 200;
  const { code } = reply.error.value;
  // A server is told the capabilities of the client that calls, so what it misses is that client's to mend.
  if (reply.isOurs !== true && code !== RPC.missingClientCapability) return 200;
  return (typeof code === "number" ? STATUS_OF_CODE.get(code) : undefined) ?? 200;
}
