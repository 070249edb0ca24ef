// The client side of McpClient: declares the capabilities of the program, and answers requests of the server by its handlers.

import { HubError } from "../errors.ts";
import {
  cannotBeAsked,
  missingCapability,
  nameOf,
  unsupported,
  type ClientRequest,
} from "../mcp/client-requests/client-capabilities.ts";
import { readInputRequired, withInput, type InputRequired } from "../mcp/client-requests/input-required.ts";
import type { ClientInfo } from "../servers/connection/handshake.ts";
import type { ClientResponder } from "../servers/connection/client-responder.ts";
import { Stopwatch } from "../lib/stopwatch.ts";
import type { SoleClient } from "../servers/context.ts";
import { toAbortSignal, type Cancellation } from "../lib/cancellation.ts";
import { modernCapabilities, type Era } from "../protocol/revisions/era.ts";
import { isObject, type JsonObject } from "../lib/json/json.ts";
import { failure, raw, RPC, success } from "../protocol/rpc/jsonrpc.ts";
import type { Raw, RawParams, Reply, RequestMessage } from "../protocol/rpc/jsonrpc.ts";
import type { OpenServerRequest } from "../protocol/connect/pending-request.ts";

/** Gets the params of a server's request, and returns its result. */
export type QuestionHandler = (
  params: JsonObject,
  options: { readonly signal: AbortSignal },
) => JsonObject | Promise<JsonObject>;

/**
 * Handlers for requests of the server. Only capabilities with a handler are declared. If a handler throws, the server gets
 * an error.
 */
export interface QuestionHandlers {
  /** `elicitation/create` with a form: `{ action: "accept", content: { … } }`. */
  readonly elicitation?: QuestionHandler;
  /** `elicitation/create` with an address for the user to open: `{ action: "accept" }`. */
  readonly urlElicitation?: QuestionHandler;
  /** `sampling/createMessage`. */
  readonly sampling?: QuestionHandler;
  /** `roots/list`: `{ roots: [{ uri: "file:///work" }] }`. */
  readonly roots?: QuestionHandler;
}

/** Bounds the rounds of input that a modern server can request during one call. */
const MAX_ROUNDS = 10;

export class ProgramClient implements SoleClient {
  readonly isProgram = true;
  readonly clientInfo: ClientInfo;
  readonly capabilities: JsonObject;
  readonly #handlers: QuestionHandlers;

  constructor(clientInfo: ClientInfo, handlers: QuestionHandlers) {
    this.clientInfo = clientInfo;
    this.#handlers = handlers;
    this.capabilities = capabilitiesOf(handlers);
  }

  readonly ask: SoleClient["ask"] = (method, params, { signal } = {}) => {
    const question = { method, params: isObject(params?.value) ? params.value : undefined };
    return this.answer(question, signal ?? new AbortController().signal);
  };

  async answer(question: ClientRequest, signal: Cancellation): Promise<Reply> {
    const missing = missingCapability(question, this.capabilities);
    if (missing !== undefined) return unsupported(question, missing);
    try {
      const result = await this.#handlerOf(question)?.(question.params ?? {}, { signal: toAbortSignal(signal) });
      return success(result ?? {});
    } catch (thrown) {
      return failure({ code: RPC.internalError, message: thrown instanceof Error ? thrown.message : String(thrown) });
    }
  }

  #handlerOf({ method, params }: ClientRequest): QuestionHandler | undefined {
    const { elicitation, urlElicitation, sampling, roots } = this.#handlers;
    if (method === "elicitation/create") return params?.["mode"] === "url" ? urlElicitation : elicitation;
    return method === "sampling/createMessage" ? sampling : roots;
  }
}

function capabilitiesOf({ elicitation, urlElicitation, sampling, roots }: QuestionHandlers): JsonObject {
  const modes = { ...(elicitation && { form: {} }), ...(urlElicitation && { url: {} }) };
  return {
    ...(Object.keys(modes).length > 0 && { elicitation: modes }),
    ...(sampling && { sampling: {} }),
    ...(roots && { roots: {} }),
  };
}

/** One call of the program. The server may send requests during the call, or in its answer. */
export class ProgramCall implements ClientResponder {
  wasAsked = false;
  readonly #client: ProgramClient;
  readonly #params: RawParams;
  readonly #signal: AbortSignal;
  readonly #handlerTime = new Stopwatch();
  #era: Era | undefined;
  #rounds = 0;

  constructor(client: ProgramClient, params: RawParams, signal: AbortSignal = new AbortController().signal) {
    this.#client = client;
    this.#params = params;
    this.#signal = signal;
  }

  get capabilities(): JsonObject {
    return modernCapabilities(this.#client.capabilities);
  }

  get askedMs(): number {
    return this.#handlerTime.totalMs;
  }

  caller(): string {
    return "program";
  }

  sentIn(era: Era): void {
    this.#era = era;
  }

  answer({ method, params }: RequestMessage, { signal }: OpenServerRequest): Promise<Reply> {
    return this.#put({ method, params: params?.value }, signal);
  }

  completed(): void {
    // Nothing to do: the URL elicitation has ended when the call returns its result.
  }

  next(reply: Reply): Promise<RawParams> | undefined {
    const needed = this.#era === "modern" ? readInputRequired(reply) : undefined;
    return needed && this.#round(needed);
  }

  async #round({ requests, state }: InputRequired): Promise<RawParams> {
    if (++this.#rounds > MAX_ROUNDS) {
      throw new HubError("ProtocolError", `The server requested input more than ${MAX_ROUNDS} times`);
    }
    for (const question of requests.values()) {
      const missing = missingCapability(question, this.#client.capabilities);
      if (missing === undefined) continue;
      const hint = "Pass a handler for it to McpClient.connect";
      throw new HubError("ClientRefused", cannotBeAsked(question.method, missing), { detail: nameOf(missing), hint });
    }
    const answers = [...requests].map(async ([key, question]) => [key, await this.#resultOf(question)] as const);
    return withInput(this.#params, await Promise.all(answers), state);
  }

  /** A modern server accepts only results: a failed elicitation becomes `cancel`, any other failure fails the call. */
  async #resultOf(question: ClientRequest): Promise<Raw> {
    const reply = await this.#put(question, this.#signal);
    if (reply.ok) return reply.result;
    if (question.method === "elicitation/create") return raw({ action: "cancel" });
    const { message } = isObject(reply.error.value) ? reply.error.value : {};
    throw new HubError("ClientRefused", `The handler of ${question.method} failed`, { detail: String(message) });
  }

  #put(question: ClientRequest, signal: AbortSignal): Promise<Reply> {
    this.wasAsked = true;
    return this.#handlerTime.during(this.#client.answer(question, signal));
  }
}
