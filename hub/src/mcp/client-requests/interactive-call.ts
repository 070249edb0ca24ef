// A modern client's call of a legacy server that may ask for input. It spans several requests of the client: each returns the
// server's open requests, and the next one has their answers. Between them the call is suspended.

import { setTimeout as sleep } from "node:timers/promises";
import { HubError } from "../../errors.ts";
import type { ClientResponder } from "../../servers/connection/client-responder.ts";
import { Stopwatch } from "../../lib/stopwatch.ts";
import { editObject, isObject, type JsonObject } from "../../lib/json/json.ts";
import { raw, type Id, type Raw, type Reply, type RequestMessage } from "../../protocol/rpc/jsonrpc.ts";
import type { OpenServerRequest } from "../../protocol/connect/pending-request.ts";
import { relatedTask } from "../../protocol/rpc/related-task.ts";
import type { IncomingRequest } from "../../protocol/serve/service.ts";
import {
  missingCapability,
  unsupported,
  withCapabilityError,
  type ClientRequest,
  type UnsupportedRequest,
} from "./client-capabilities.ts";
import { APPROVAL_KEY } from "./server-label.ts";
import { clientKey } from "../principal.ts";
import { wrongTaskOwner } from "../tasks/tasks.ts";

interface WaitingClient {
  readonly incoming: IncomingRequest;
  resolve(step: CallStep): void;
}

interface OpenRequest extends ClientRequest {
  resolve(reply: Reply): void;
}

/** The result of a client's request: the reply to the call, or requests that the client has to answer first. */
export type CallStep =
  | { readonly is: "answered"; readonly reply: Reply }
  | { readonly is: "asking"; readonly requests: ReadonlyMap<string, ClientRequest> };

export type Notify = (incoming: IncomingRequest, method: string, params: Raw) => void;

/** Server requests within this time of each other are sent to the client together. */
const BATCH_MS = 20;
const MAX_KEY_LENGTH = 128;
const OUR_KEY = /^q\d+$|^approval$/;

export class InteractiveCall implements ClientResponder {
  readonly capabilities: JsonObject;
  wasAsked = false;
  /** The request that the call began with. */
  readonly #first: Pick<IncomingRequest, "headers" | "session" | "connection">;
  readonly #notify: Notify;
  readonly #requests = new Map<string, OpenRequest>();
  readonly #asked = new Stopwatch();
  readonly #reply: Promise<Reply>;
  /** The client's open request; undefined while the call is suspended. */
  #waiting: WaitingClient | undefined;
  #batchTimer: NodeJS.Timeout | undefined;
  #cancelOwner: (() => void) | undefined;
  #count = 0;
  /** The first request that the client does not support. */
  #unsupported: UnsupportedRequest | undefined;
  /** Unsupported requests, refused when the client has answered the others. */
  readonly #refusals: (() => void)[] = [];

  /** Begins the call. Until the server asks, the signal of `first` cancels it like any other call. */
  constructor(first: IncomingRequest, notify: Notify, begin: (call: InteractiveCall) => Promise<Reply>) {
    this.capabilities = first.capabilities;
    this.#first = first;
    this.#notify = notify;
    this.#reply = begin(this).then((reply) => withCapabilityError(reply, this.#unsupported));
  }

  caller(): string | undefined {
    return clientKey(this.#first);
  }

  get askedMs(): number {
    return this.#asked.totalMs;
  }

  /** Cancels the call at the server. Only a call that has asked can be without a waiting client. */
  cancel(): void {
    this.#cancelOwner?.();
  }

  /** Resolves with the reply, or when the server asks for input. Rejects if the call fails. */
  nextStep(incoming: IncomingRequest): Promise<CallStep> {
    return new Promise((resolve, reject) => {
      this.#waiting = { incoming, resolve };
      void this.#reply.then((reply) => resolve({ is: "answered", reply }), reject).finally(() => this.#stopWaiting());
      if (this.#requests.size > 0) this.#scheduleBatch();
    });
  }

  /** The client is back with answers. Requests left open are sent again; if the client leaves, the call is cancelled. */
  resume(incoming: IncomingRequest, answers: ReadonlyMap<string, JsonObject>): Promise<CallStep> {
    for (const [key, answer] of answers) {
      const request = this.#requests.get(key);
      this.#requests.delete(key);
      request?.resolve({ ok: true, result: raw(answer) });
    }
    for (const refuse of this.#refusals.splice(0)) refuse();
    if (incoming.signal.aborted) this.cancel();
    else incoming.signal.addEventListener("abort", () => this.cancel(), { once: true });
    return this.nextStep(incoming);
  }

  /** Passes a notification of the server to the client's open request, with the progress token of that request. */
  notify(method: string, params: Raw): void {
    const incoming = this.#waiting?.incoming;
    if (incoming === undefined) return;
    if (method !== "notifications/progress") return this.#notify(incoming, method, params);
    const meta = incoming.request.params?.value["_meta"];
    const token = isObject(meta) ? meta["progressToken"] : undefined;
    if (token === undefined || !isObject(params.value)) return;
    const bytes = editObject(params.bytes, { progressToken: JSON.stringify(token) });
    this.#notify(incoming, method, { bytes, value: { ...params.value, progressToken: token } });
  }

  async answer({ id, method, params }: RequestMessage, { signal, cancelOwner }: OpenServerRequest): Promise<Reply> {
    if (relatedTask(params?.value) !== undefined) return wrongTaskOwner(method);
    const request = { method, params: params?.value };
    const missing = missingCapability(request, this.capabilities);
    if (missing !== undefined) {
      this.#unsupported ??= { method, missing };
      await this.#othersAnswered(signal);
      return unsupported(request, missing);
    }
    this.wasAsked = true;
    return this.#asked.during(this.#ask(this.#keyFor(id), request, { signal, cancelOwner }));
  }

  confirm(params: JsonObject, open: Pick<OpenServerRequest, "signal" | "cancelOwner">): Promise<Reply> | undefined {
    const request = { method: "elicitation/create", params };
    return missingCapability(request, this.capabilities) === undefined
      ? this.#ask(APPROVAL_KEY, request, open)
      : undefined;
  }

  #ask(
    key: string,
    request: ClientRequest,
    { signal, cancelOwner }: Pick<OpenServerRequest, "signal" | "cancelOwner">,
  ): Promise<Reply> {
    this.#cancelOwner = cancelOwner;
    return new Promise<Reply>((resolve, reject) => {
      const onAbort = () => {
        this.#requests.delete(key);
        reject(new HubError("Cancelled", `${request.method} was cancelled by the server`));
      };
      signal.addEventListener("abort", onAbort, { once: true });
      this.#requests.set(key, { ...request, resolve });
      this.#scheduleBatch();
    });
  }

  /**
   * The server's own request id if it is a short text, which is more informative than a number and cannot equal one of our keys.
   */
  #keyFor(id: Id): string {
    const isName = typeof id === "string" && id !== "" && id.length <= MAX_KEY_LENGTH && !OUR_KEY.test(id);
    return isName ? id : `q${++this.#count}`;
  }

  /** A modern client finds out by repeating its call. */
  completed(): void {}

  /** A refusal may end the call at the server, so supported requests that arrive with it are answered first. */
  async #othersAnswered(signal: AbortSignal): Promise<void> {
    await sleep(BATCH_MS, undefined, { ref: false });
    if (this.#requests.size === 0 || signal.aborted) return;
    await new Promise<void>((resolve) => {
      this.#refusals.push(resolve);
      signal.addEventListener("abort", () => resolve(), { once: true });
    });
  }

  #scheduleBatch(): void {
    if (this.#waiting === undefined) return;
    this.#batchTimer ??= setTimeout(() => {
      this.#batchTimer = undefined;
      if (this.#requests.size === 0) return;
      const waiting = this.#waiting;
      this.#stopWaiting();
      waiting?.resolve({ is: "asking", requests: new Map(this.#requests) });
    }, BATCH_MS);
  }

  #stopWaiting(): void {
    clearTimeout(this.#batchTimer);
    this.#batchTimer = undefined;
    this.#waiting = undefined;
  }
}
