// An MCP client (revision 2025-11-25, with sessions) for the browser: requests and their answers, progress, cancellation. It knows no
// screen: questions of the server go to `onRequest`, and every message to `onTraffic`.

import { toJsonText, type Json, type JsonObject } from "../text/json.ts";
import {
  CANCELLED,
  ConnectionError,
  idOf,
  McpError,
  paramsOf,
  PROGRESS,
  readMessages,
  toAnswer,
  type Answer,
  type Received,
  type RequestId,
  type ServerRequest,
} from "./messages.ts";
import { Transport, type TransportOptions } from "./transport.ts";

const REVISION = "2025-11-25";
export interface Traffic {
  readonly direction: "sent" | "received";
  readonly at: number;
  readonly message: JsonObject;
  readonly text: string;
  /** The call of ours to which it belongs, where the transport shows it. */
  readonly call: RequestId | undefined;
}

export interface McpOptions extends TransportOptions {
  readonly clientInfo: { readonly name: string; readonly version: string };
  readonly capabilities: JsonObject;
  /** Answers a request of the server. An McpError that it throws is sent as the error. */
  readonly onRequest?: (request: ServerRequest, call: RequestId | undefined) => Promise<JsonObject>;
  readonly onNotification?: (method: string, params: JsonObject, call: RequestId | undefined) => void;
  readonly onTraffic?: (traffic: Traffic) => void;
}

export interface RequestOptions {
  readonly signal?: AbortSignal;
  /** What the server is told when the signal is aborted. */
  readonly reason?: string;
  readonly onProgress?: (progress: Progress) => void;
  /** Called with the id before the request is sent. */
  readonly onId?: (id: RequestId) => void;
}

export interface Progress {
  readonly progress: number;
  readonly total: number | undefined;
  readonly message: string | undefined;
}

interface Pending {
  readonly onProgress: ((progress: Progress) => void) | undefined;
  readonly settle: (answer: Answer) => void;
}

export class McpClient {
  readonly #options: McpOptions;
  readonly #transport: Transport;
  readonly #closed = new AbortController();
  readonly #pending = new Map<RequestId, Pending>();
  readonly #asked = new Map<RequestId, AbortController>();
  #opening: Promise<JsonObject> | undefined;
  #isListening = false;
  #nextId = 1;

  constructor(options: McpOptions) {
    this.#options = options;
    this.#transport = new Transport(options, {
      onText: (text, call) => readMessages(text).forEach((received) => this.#take(received, call)),
      isWaiting: (call) => this.#pending.has(call),
    });
  }

  /** The result of `initialize`. The first request connects by itself. */
  connect(): Promise<JsonObject> {
    this.#opening ??= this.#open().catch((error: unknown) => {
      this.#opening = undefined;
      throw error;
    });
    return this.#opening;
  }

  /** Resolves with the server's answer, also if it is an error. Throws ConnectionError if there is none, or the signal's reason. */
  async request(method: string, params: JsonObject, options: RequestOptions = {}): Promise<Answer> {
    options.signal?.throwIfAborted();
    await this.connect();
    try {
      return await this.#send(method, params, options);
    } catch (error) {
      // The hub does not know the session any more, so it has not begun the work: a new session can take it.
      if (!(error instanceof ConnectionError) || error.status !== 404 || this.#closed.signal.aborted) throw error;
      this.#opening = undefined;
      this.#transport.forgetSession();
      await this.connect();
      return await this.#send(method, params, options);
    }
  }

  /** The result, or an McpError. */
  async get(method: string, params: JsonObject, options: RequestOptions = {}): Promise<JsonObject> {
    const answer = await this.request(method, params, options);
    if (answer.kind === "result") return answer.result;
    throw new McpError(answer.error.code, answer.error.message, answer.error.data);
  }

  async notify(method: string, params: JsonObject): Promise<void> {
    await this.connect();
    await this.#post({ jsonrpc: "2.0", method, params }, undefined);
  }

  /**
   * Keeps a stream open for messages that belong to no call: changes of lists, updates of resources. Not by default, because a
   * browser has only six connections to a hub.
   */
  async listen(): Promise<void> {
    await this.connect();
    if (this.#isListening) return;
    this.#isListening = true;
    this.#listen();
  }

  /** Ends the session. Open requests fail. */
  close(): void {
    if (this.#closed.signal.aborted) return;
    this.#closed.abort(new ConnectionError("The connection was closed"));
    this.#transport.endSession();
  }

  async #open(): Promise<JsonObject> {
    this.#transport.revision = undefined;
    const answer = await this.#send(
      "initialize",
      {
        protocolVersion: REVISION,
        capabilities: this.#options.capabilities,
        clientInfo: { ...this.#options.clientInfo },
      },
      {},
    );
    if (answer.kind === "error") throw new McpError(answer.error.code, answer.error.message, answer.error.data);
    const { protocolVersion } = answer.result;
    this.#transport.revision = typeof protocolVersion === "string" ? protocolVersion : REVISION;
    await this.#post({ jsonrpc: "2.0", method: "notifications/initialized" }, undefined);
    if (this.#isListening) this.#listen();
    return answer.result;
  }

  async #send(method: string, params: JsonObject, options: RequestOptions): Promise<Answer> {
    const id = this.#nextId++;
    const meta = options.onProgress === undefined ? {} : { _meta: { ...asObject(params["_meta"]), progressToken: id } };
    const streamOver = new AbortController();
    let reject!: (reason: unknown) => void;
    const answered = new Promise<Answer>((resolve, refuse) => {
      reject = refuse;
      this.#pending.set(id, { onProgress: options.onProgress, settle: resolve });
    });
    const cancel = () => {
      const reason = options.reason ?? "The user cancelled the request";
      const message: JsonObject = { jsonrpc: "2.0", method: CANCELLED, params: { requestId: id, reason } };
      // The server is told on its own connection; then the stream of the call ends, whether or not that worked.
      this.#post(message, id)
        .catch(() => undefined)
        .finally(() => streamOver.abort());
      reject(options.signal?.reason);
    };
    const fail = () => reject(this.#closed.signal.reason);
    options.signal?.addEventListener("abort", cancel, { once: true });
    this.#closed.signal.addEventListener("abort", fail, { once: true });
    options.onId?.(id);
    const signal = AbortSignal.any([streamOver.signal, this.#closed.signal]);
    this.#post({ jsonrpc: "2.0", id, method, params: { ...params, ...meta } }, id, signal).then(
      () => reject(new ConnectionError("The stream ended without an answer")),
      reject,
    );
    try {
      return await answered;
    } finally {
      this.#pending.delete(id);
      options.signal?.removeEventListener("abort", cancel);
      this.#closed.signal.removeEventListener("abort", fail);
    }
  }

  async #post(message: JsonObject, call: RequestId | undefined, signal = this.#closed.signal): Promise<void> {
    const text = toJsonText(message);
    this.#options.onTraffic?.({ direction: "sent", at: Date.now(), message, text, call });
    await this.#transport.post(text, call, signal);
  }

  #listen(): void {
    // Without this stream the calls still work.
    this.#transport.listen(this.#closed.signal).catch(() => undefined);
  }

  #take(received: Received, call: RequestId | undefined): void {
    const { message } = received;
    const id = idOf(message);
    const answer = toAnswer(received);
    const owner = answer !== undefined && id !== undefined && this.#pending.has(id) ? id : call;
    this.#options.onTraffic?.({ direction: "received", at: Date.now(), ...received, call: owner });
    if (answer !== undefined) {
      if (id !== undefined) this.#pending.get(id)?.settle(answer);
      // An error that names no request is about the one of this stream.
      else if (call !== undefined) this.#pending.get(call)?.settle(answer);
      return;
    }
    const { method } = message;
    if (typeof method !== "string") return;
    const params = paramsOf(message);
    if (id !== undefined) this.#answer(id, method, params, call);
    else this.#notice(method, params, call);
  }

  #notice(method: string, params: JsonObject, call: RequestId | undefined): void {
    const { progressToken, requestId } = params;
    if (method === PROGRESS && (typeof progressToken === "number" || typeof progressToken === "string")) {
      this.#pending.get(progressToken)?.onProgress?.(toProgress(params));
    } else if (method === CANCELLED && (typeof requestId === "number" || typeof requestId === "string")) {
      this.#asked.get(requestId)?.abort();
    }
    this.#options.onNotification?.(method, params, call);
  }

  #answer(id: RequestId, method: string, params: JsonObject, call: RequestId | undefined): void {
    const controller = new AbortController();
    this.#asked.set(id, controller);
    const signal = AbortSignal.any([controller.signal, this.#closed.signal]);
    const run = async (): Promise<JsonObject> => {
      if (method === "ping") return {};
      const { onRequest } = this.#options;
      if (onRequest === undefined) throw new McpError(-32601, `${method} is not supported`);
      return await onRequest({ id, method, params, signal }, call);
    };
    run()
      .then(
        (result): JsonObject => ({ jsonrpc: "2.0", id, result }),
        (error: unknown): JsonObject => ({ jsonrpc: "2.0", id, error: toErrorObject(error) }),
      )
      .then(async (message) => {
        this.#asked.delete(id);
        // A request that was taken back gets no answer.
        if (!signal.aborted) await this.#post(message, call);
      })
      // The stream of the call ends with an error of its own if the hub is gone.
      .catch(() => undefined);
  }
}

function toErrorObject(error: unknown): JsonObject {
  const code = error instanceof McpError ? error.code : -32603;
  const message = error instanceof Error ? error.message : "The client failed";
  const data: Json | undefined = error instanceof McpError ? error.data : undefined;
  return data === undefined ? { code, message } : { code, message, data };
}

function toProgress({ progress, total, message }: JsonObject): Progress {
  return {
    progress: typeof progress === "number" ? progress : 0,
    total: typeof total === "number" ? total : undefined,
    message: typeof message === "string" ? message : undefined,
  };
}

function asObject(value: Json | undefined): JsonObject {
  return typeof value === "object" && value !== null && !Array.isArray(value) ? (value as JsonObject) : {};
}
