// Calls of modern clients whose legacy server waits for an answer of the user. The client is told what is wanted and given a
// sealed state; who brings it back, in time, for the same request, goes on with the call that is parked here. Once.

import { createHash, randomUUID } from "node:crypto";
import { HubError } from "../errors.ts";
import { isObject } from "../wire/json.ts";
import type { Reply } from "../wire/jsonrpc.ts";
import type { Exchange } from "../wire/server.ts";
import { inputRequired, readInputResponses } from "./input-required.ts";
import { InteractiveCall, type Notify, type Turn } from "./interactive-call.ts";
import { principalOf } from "./principal.ts";
import { SealedState } from "./sealed-state.ts";

export interface ParkingOptions {
  readonly notify: Notify;
  /** How long a client may take to come back. */
  readonly patienceMs?: number;
  readonly maxParked?: number;
}

interface Parked {
  readonly call: InteractiveCall;
  readonly timer: NodeJS.Timeout;
}

/** A person reads, thinks, and may have to look something up. */
const PATIENCE_MS = 600_000;
const MAX_PARKED = 256;

export class Parking {
  readonly #notify: Notify;
  readonly #patienceMs: number;
  readonly #maxParked: number;
  readonly #seal = new SealedState();
  /** By an id that is new every time, so that a state can be used once. */
  readonly #parked = new Map<string, Parked>();
  #isClosed = false;

  constructor({ notify, patienceMs = PATIENCE_MS, maxParked = MAX_PARKED }: ParkingOptions) {
    this.#notify = notify;
    this.#patienceMs = patienceMs;
    this.#maxParked = maxParked;
  }

  /** Whether a state was given out by a parking, this one or another. */
  static owns(state: unknown): boolean {
    return SealedState.looksSealed(state);
  }

  get size(): number {
    return this.#parked.size;
  }

  /** A call that may be parked. */
  begin(exchange: Exchange, call: (call: InteractiveCall) => Promise<Reply>): Promise<Reply> {
    const begun = new InteractiveCall(exchange, this.#notify, call);
    return this.#park(begun, exchange, begun.turn(exchange));
  }

  /** The client is back with its state, and perhaps with answers. */
  async resume(exchange: Exchange): Promise<Reply> {
    const params = exchange.request.params?.value;
    const answers = readInputResponses(params);
    if (answers === undefined) {
      throw new HubError("InvalidConfig", "`inputResponses` must hold an object for each answer", {
        field: "inputResponses",
      });
    }
    const id = this.#check(params?.["requestState"], exchange);
    const parked = this.#parked.get(id);
    if (parked === undefined) throw refused("was used already, or its call has ended");
    this.#parked.delete(id);
    clearTimeout(parked.timer);
    return this.#park(parked.call, exchange, parked.call.resume(exchange, answers));
  }

  /** Ends every parked call; none is parked any more. */
  close(): void {
    this.#isClosed = true;
    for (const { call, timer } of this.#parked.values()) {
      clearTimeout(timer);
      call.cancel();
    }
    this.#parked.clear();
  }

  async #park(call: InteractiveCall, exchange: Exchange, until: Promise<Turn>): Promise<Reply> {
    const turn = await until;
    if (turn.is === "answered") return turn.reply;
    if (this.#isClosed || this.#parked.size >= this.#maxParked) {
      call.cancel();
      throw new HubError("Overloaded", "The server asks for something, and too many calls wait for an answer already");
    }
    const id = randomUUID();
    const timer = setTimeout(() => {
      this.#parked.delete(id);
      call.cancel();
    }, this.#patienceMs);
    this.#parked.set(id, { call, timer });
    const state = this.#seal.seal({
      id,
      principal: principalOf(exchange),
      request: digestOf(exchange),
      expiresAt: Date.now() + this.#patienceMs,
    });
    return inputRequired(turn.questions, state);
  }

  /** The id of the parked call that a state is good for. */
  #check(state: unknown, exchange: Exchange): string {
    const claims = typeof state === "string" ? this.#seal.open(state) : undefined;
    if (claims === undefined) throw refused("is not one that was given out here, or was changed");
    const { id, principal, request, expiresAt } = claims;
    if (principal !== principalOf(exchange)) throw refused("was given to another client");
    if (request !== digestOf(exchange)) throw refused("belongs to another request");
    if (!(Number(expiresAt) > Date.now())) throw refused("has expired");
    return String(id);
  }
}

function refused(why: string): HubError {
  return new HubError("InvalidConfig", `The requestState ${why}`, {
    field: "requestState",
    hint: "Make the call again, without it",
  });
}

/** What makes two requests the same one, in whatever order their arguments are written. */
function digestOf({ request: { method, params } }: Exchange): string {
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
