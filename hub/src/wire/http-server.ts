// MCP over Streamable HTTP, the server's side, both eras on one endpoint: decided per request, by the body.
// Host, Origin and authentication are checked before; what the requests mean is the service's.

import type { IncomingMessage, ServerResponse } from "node:http";
import { classifyIncoming, negotiate, SUPPORTED_VERSIONS, type Envelope } from "./era.ts";
import { headerMismatch } from "./headers.ts";
import { HttpAnswer, sendJson } from "./http-answer.ts";
import { HttpSession, HttpSessions } from "./http-session.ts";
import { isObject, type JsonObject } from "./json.ts";
import { Pieces } from "./pieces.ts";
import { failure, isId, readMessage, RPC, writeReply } from "./jsonrpc.ts";
import type { Id, Malformed, Message, NotificationMessage, Reply, RequestMessage } from "./jsonrpc.ts";
import type { Service } from "./server.ts";

const MAX_BODY_BYTES = 4 << 20;
const MAX_DEPTH = 64;

/** Errors of the modern era that HTTP shows in its status; all others are answers like any other. */
const STATUS_OF_CODE: ReadonlyMap<number, number> = new Map([
  [RPC.methodNotFound, 404],
  [RPC.headerMismatch, 400],
  [RPC.missingClientCapability, 400],
  [RPC.unsupportedVersion, 400],
]);

export class StreamableHttpServer {
  readonly #service: Service;
  readonly #sessions: HttpSessions;
  /** Requests without a session (modern): ended with the endpoint. */
  readonly #open = new Set<AbortController>();

  constructor(service: Service) {
    this.#service = service;
    this.#sessions = new HttpSessions((session) => service.onSessionEnd(session));
  }

  handle(request: IncomingMessage, response: ServerResponse): void {
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
    for (const controller of this.#open) controller.abort();
    this.#sessions.close();
  }

  #post(request: IncomingMessage, response: ServerResponse): void {
    const problem = unacceptable(request);
    if (problem !== undefined) return refuse(response, problem.status, RPC.invalidRequest, problem.message);
    readBody(request, (body) => {
      if (body === undefined) {
        return refuse(response, 413, RPC.invalidRequest, `The body is larger than ${MAX_BODY_BYTES} bytes`);
      }
      this.#message(readMessage(body, { maxDepth: MAX_DEPTH }), request, response);
    });
  }

  #message(message: Message | Malformed, request: IncomingMessage, response: ServerResponse): void {
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

  #request(message: RequestMessage, request: IncomingMessage, response: ServerResponse): void {
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
    if (session !== undefined) this.#runLegacy(message, request, new HttpAnswer(response), session);
  }

  #runModern(
    message: RequestMessage,
    request: IncomingMessage,
    response: ServerResponse,
    { capabilities, logLevel }: Envelope,
  ): void {
    const controller = new AbortController();
    const answer = new HttpAnswer(response);
    this.#open.add(controller);
    // In the modern era a client cancels by closing the stream.
    response.once("close", () => {
      if (this.#open.delete(controller)) controller.abort();
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
        signal: controller.signal,
        notify: (method, params) => answer.notify(method, params),
      })
      .then((reply) => {
        this.#open.delete(controller);
        answer.finish(message.id, reply, statusOf(reply));
      });
  }

  #initialize(message: RequestMessage, request: IncomingMessage, response: ServerResponse): void {
    const params = message.params?.value ?? {};
    const session = new HttpSession({
      version: negotiate(params["protocolVersion"]),
      clientInfo: isObject(params["clientInfo"]) ? params["clientInfo"] : undefined,
      capabilities: isObject(params["capabilities"]) ? params["capabilities"] : {},
    });
    this.#sessions.add(session);
    this.#service.onSession(session);
    this.#runLegacy(message, request, new HttpAnswer(response, { "mcp-session-id": session.id }), session);
  }

  #runLegacy(message: RequestMessage, request: IncomingMessage, answer: HttpAnswer, session: HttpSession): void {
    if (session.open.has(message.id)) {
      return answer.finish(
        message.id,
        failure({ code: RPC.invalidRequest, message: `Request id ${message.id} is still in use` }),
        400,
      );
    }
    const controller = new AbortController();
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
        signal: controller.signal,
        notify: (method, params) => answer.notify(method, params),
        ask: (method, params, options) => session.askWithin({ id: message.id, answer }, method, params, options),
      })
      .then((reply) => {
        session.open.delete(message.id);
        session.questions.endWithin(message.id);
        answer.finish(message.id, reply);
      });
  }

  #notification(message: NotificationMessage, request: IncomingMessage, response: ServerResponse): void {
    const verdict = classifyIncoming(message.method, message.params?.value, headerOf(request, "mcp-protocol-version"));
    if (verdict.era === "modern" || headerOf(request, "mcp-session-id") === undefined) {
      this.#service.onNotification(message, undefined);
      return accept(response);
    }
    const session = this.#sessionOf(request, response);
    if (session === undefined) return;
    if (message.method === "notifications/cancelled") cancel(session, message.params?.value);
    else this.#service.onNotification(message, session);
    accept(response);
  }

  #get(request: IncomingMessage, response: ServerResponse): void {
    if (!accepts(request, "text/event-stream")) {
      return refuse(response, 406, RPC.invalidRequest, "A GET needs the header Accept: text/event-stream");
    }
    const session = this.#sessionOf(request, response);
    if (session === undefined) return;
    if (session.hasStream) return refuse(response, 409, RPC.invalidRequest, "This session has a stream already");
    session.attach(response);
  }

  #delete(request: IncomingMessage, response: ServerResponse): void {
    const session = this.#sessionOf(request, response);
    if (session === undefined) return;
    this.#sessions.end(session);
    response.writeHead(204).end();
  }

  /** The session that a request names. Without one the request is answered: 400 for none given, 404 for one that ended. */
  #sessionOf(request: IncomingMessage, response: ServerResponse, id?: Id): HttpSession | undefined {
    const given = headerOf(request, "mcp-session-id");
    const version = headerOf(request, "mcp-protocol-version");
    const session = given === undefined ? undefined : this.#sessions.find(given);
    if (version !== undefined && !SUPPORTED_VERSIONS.includes(version)) {
      refuse(response, 400, RPC.invalidRequest, `Protocol version ${version} is not supported`, {}, id);
    } else if (given === undefined) {
      refuse(response, 400, RPC.invalidRequest, "No session: send `initialize` first, then its Mcp-Session-Id", {}, id);
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

function statusOf(reply: Reply): number {
  if (reply.ok || !isObject(reply.error.value)) return 200;
  const { code } = reply.error.value;
  return (typeof code === "number" ? STATUS_OF_CODE.get(code) : undefined) ?? 200;
}

function unacceptable(request: IncomingMessage): { status: number; message: string } | undefined {
  const type = headerOf(request, "content-type");
  if (type === undefined || !/^application\/json\s*(;|$)/i.test(type)) {
    return { status: 415, message: "A POST needs the header Content-Type: application/json" };
  }
  if (request.headers["content-encoding"] !== undefined)
    return { status: 415, message: "Compressed bodies are not accepted" };
  if (!accepts(request, "application/json") || !accepts(request, "text/event-stream")) {
    return { status: 406, message: "A POST needs the header Accept: application/json, text/event-stream" };
  }
  return undefined;
}

function accepts(request: IncomingMessage, type: string): boolean {
  const accepted = headerOf(request, "accept");
  return accepted === undefined || accepted.includes(type) || accepted.includes("*/*");
}

/**
 * Gives the whole body, or undefined as soon as it is larger than allowed. Calls back once; never if the client left
 * before. What is too much is still read, and dropped: a connection closed in the middle would take the answer with it.
 * How long that may go on is the listener's to say.
 */
function readBody(request: IncomingMessage, done: (body: Buffer | undefined) => void): void {
  const pieces = new Pieces();
  const onData = (chunk: Buffer) => {
    pieces.add(chunk);
    if (pieces.size <= MAX_BODY_BYTES) return;
    request.off("data", onData).off("end", onEnd).resume();
    done(undefined);
  };
  const onEnd = () => done(pieces.take());
  request.on("data", onData).on("end", onEnd);
}

function headerOf(request: IncomingMessage, name: string): string | undefined {
  const value = request.headers[name];
  return typeof value === "string" ? value : undefined;
}

function accept(response: ServerResponse): void {
  response.writeHead(202).end();
}

/** Answers a request that never reaches the service. */
function refuse(
  response: ServerResponse,
  status: number,
  code: number,
  message: string,
  headers: Record<string, string> = {},
  id?: Id,
  data?: unknown,
): void {
  const reply = failure({ code, message, ...(data === undefined ? {} : { data }) });
  sendJson(response, status, writeReply(id ?? null, reply), headers);
}
