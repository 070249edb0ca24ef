// Calls of modern clients that are suspended while their legacy server waits for input. The client gets the server's requests
// and a sealed state; the same request with that state, in time, resumes the call. A state can be used once.

import { createHash, randomUUID } from "node:crypto";
import { HubError } from "../../errors.ts";
import { isObject } from "../../lib/json/json.ts";
import type { Reply } from "../../protocol/rpc/jsonrpc.ts";
import type { IncomingRequest } from "../../protocol/serve/service.ts";
import { inputRequired, readInputResponses } from "./input-required.ts";
import { InteractiveCall, type Notify, type CallStep } from "./interactive-call.ts";
import { ownerOf } from "../principal.ts";
import { SealedState } from "./sealed-state.ts";

export interface SuspendedCallsOptions {
  readonly notify: Notify;
  /** How long a client may take to send the input. */
  readonly inputTimeoutMs?: number;
  readonly maxSuspended?: number;
}

interface Suspended {
  readonly call: InteractiveCall;
  readonly timer: NodeJS.Timeout;
}

/** Users may have to look something up. */
const INPUT_TIMEOUT_MS = 600_000;
const MAX_SUSPENDED = 256;

export class SuspendedCalls {
  readonly #notify: Notify;
  readonly #inputTimeoutMs: number;
  readonly #maxSuspended: number;
  readonly #seal = new SealedState();
  /** By an id that is new for every suspension, so that a state can be used once. */
  readonly #suspended = new Map<string, Suspended>();
  #isClosed = false;

  constructor({ notify, inputTimeoutMs = INPUT_TIMEOUT_MS, maxSuspended = MAX_SUSPENDED }: SuspendedCallsOptions) {
    this.#notify = notify;
    this.#inputTimeoutMs = inputTimeoutMs;
    this.#maxSuspended = maxSuspended;
  }

  /** Whether a state was made by this class, here or in another group. */
  static owns(state: unknown): boolean {
    return SealedState.looksSealed(state);
  }

  get size(): number {
    return this.#suspended.size;
  }

  /** Begins a call that may be suspended. */
  begin(incoming: IncomingRequest, send: (call: InteractiveCall) => Promise<Reply>): Promise<Reply> {
    const call = new InteractiveCall(incoming, this.#notify, send);
    return this.#replyOrSuspend(call, incoming, call.nextStep(incoming));
  }

  /** Resumes the call that the client's state names, with its answers. */
  async resume(incoming: IncomingRequest): Promise<Reply> {
    const params = incoming.request.params?.value;
    const answers = readInputResponses(params);
    if (answers === undefined) {
      throw new HubError("InvalidArgument", "`inputResponses` must contain an object for each answer", {
        field: "inputResponses",
      });
    }
    const id = this.#check(params?.["requestState"], incoming);
    const suspended = this.#suspended.get(id);
    if (suspended === undefined) throw refused("was used already, or its call has ended");
    this.#suspended.delete(id);
    clearTimeout(suspended.timer);
    return this.#replyOrSuspend(suspended.call, incoming, suspended.call.resume(incoming, answers));
  }

  /** Cancels all suspended calls. From now on none is suspended. */
  close(): void {
    this.#isClosed = true;
    for (const { call, timer } of this.#suspended.values()) {
      clearTimeout(timer);
      call.cancel();
    }
    this.#suspended.clear();
  }

  async #replyOrSuspend(call: InteractiveCall, incoming: IncomingRequest, next: Promise<CallStep>): Promise<Reply> {
    const step = await next;
    if (step.is === "answered") return step.reply;
    if (this.#isClosed || this.#suspended.size >= this.#maxSuspended) {
      call.cancel();
      throw new HubError("Overloaded", "The server requests input, but too many calls already wait for input");
    }
    const id = randomUUID();
    const timer = setTimeout(() => {
      this.#suspended.delete(id);
      call.cancel();
    }, this.#inputTimeoutMs);
    this.#suspended.set(id, { call, timer });
    const state = this.#seal.seal({
      id,
      principal: ownerOf(incoming),
      request: digestOf(incoming),
      expiresAt: Date.now() + this.#inputTimeoutMs,
    });
    return inputRequired(step.requests, state);
  }

  /** The id of the suspended call. Throws unless the state was made for this client and request. */
  #check(state: unknown, incoming: IncomingRequest): string {
    const claims = typeof state === "string" ? this.#seal.open(state) : undefined;
    if (claims === undefined) throw refused("is invalid");
    const { id, principal, request, expiresAt } = claims;
    if (principal !== ownerOf(incoming)) throw refused("belongs to another client");
    if (request !== digestOf(incoming)) throw refused("belongs to another request");
    if (!(Number(expiresAt) > Date.now())) throw refused("has expired");
    return String(id);
  }
}

function refused(why: string): HubError {
  return new HubError("InvalidArgument", `The requestState ${why}`, {
    field: "requestState",
    hint: "Make the call again, without it",
  });
}

/** Equal for equal requests, independent of the order of arguments. */
function digestOf({ request: { method, params } }: IncomingRequest): string {
  const { name, uri, arguments: args } = params?.value ?? {};
  return createHash("sha256")
    .update(JSON.stringify([method, name, uri, sorted(args)]))
    .digest("base64url");
}

function sorted(value: unknown): unknown {
  if (Array.isArray(value)) return value.map(sorted);
  if (!isObject(value)) return value;
  return Object.keys(value)
    .toSorted()
    .map((key) => [key, sorted(value[key])]);
}
