// A legacy client as the one whom a server may ask back: a legacy server's questions are put to it as they are, a modern
// server's answers that ask for something become questions, and the server is asked again with what it wanted.

import { randomUUID } from "node:crypto";
import { setTimeout as sleep } from "node:timers/promises";
import { HubError } from "../errors.ts";
import type { Respondent } from "../servers/respondent.ts";
import { Stopwatch } from "../servers/stopwatch.ts";
import { toAbortSignal } from "../wire/cancellation.ts";
import { modernCapabilities, type Era } from "../wire/era.ts";
import { isObject, type JsonObject } from "../wire/json.ts";
import { raw, RPC, type Raw, type RawParams, type Reply, type RequestMessage } from "../wire/jsonrpc.ts";
import type { OpenInquiry } from "../wire/peer.ts";
import type { Exchange } from "../wire/server.ts";
import { withAsker } from "./asker.ts";
import { cannotBeAsked, missingCapability, nameOf, unsupported, type Question, type Unasked } from "./capabilities.ts";
import { readInputRequired, withInput, type InputRequired } from "./input-required.ts";
import { clientKey } from "./principal.ts";
import { notTheirs, type Tasks } from "./tasks.ts";

const MAX_ROUNDS = 10;
/** Before a server that wants nothing but to be asked again is asked again. */
const PACE_MS = 250;

export class Relay implements Respondent {
  wasAsked = false;
  /** What the client could not be asked. */
  unasked: Unasked | undefined;
  readonly #exchange: Exchange;
  readonly #asked = new Stopwatch();
  #rounds = 0;
  /** Where the client was sent on behalf of a modern server, which knows no such ids. */
  readonly #sentElsewhere: string[] = [];
  #isAnswered = false;

  readonly #tasks: Tasks;
  readonly #server: string;
  readonly #isNamed: boolean;
  /** What the server that answers is spoken to in. */
  #era: Era | undefined;

  /** `isNamed`: the client is told which server asks. */
  constructor(exchange: Exchange, tasks: Tasks, server: string, { isNamed = false }: { isNamed?: boolean } = {}) {
    this.#exchange = exchange;
    this.#tasks = tasks;
    this.#server = server;
    this.#isNamed = isNamed;
  }

  sentIn(era: Era): void {
    this.#era = era;
  }

  caller(): string | undefined {
    return clientKey(this.#exchange);
  }

  get askedMs(): number {
    return this.#asked.totalMs;
  }

  get capabilities(): JsonObject {
    return modernCapabilities(this.#exchange.capabilities);
  }

  async answer({ method, params }: RequestMessage, { signal }: OpenInquiry): Promise<Reply> {
    const question = { method, params: params?.value };
    const missing = missingCapability(question, this.#exchange.capabilities);
    if (missing !== undefined) {
      this.unasked ??= { method, missing };
      return unsupported(question, missing);
    }
    const heard = params && this.#tasks.heard(params, this.#exchange, this.#server);
    if (params !== undefined && heard === undefined) return notTheirs(method);
    const reply = await this.#ask(method, heard, signal);
    return reply.ok ? { ok: true, result: this.#tasks.said(reply.result, this.#exchange) } : reply;
  }

  completed(params: Raw): void {
    const { session } = this.#exchange;
    const method = "notifications/elicitation/complete";
    if (this.#isAnswered && session !== undefined) session.notify(method, params);
    else this.#exchange.notify(method, params);
  }

  next(reply: Reply): Promise<RawParams> | undefined {
    // What a legacy server calls so is a result like any other: to call it again would be a second call.
    const wanted = this.#era === "legacy" ? undefined : readInputRequired(reply);
    if (wanted !== undefined) return this.#round(wanted);
    this.#isAnswered = true;
    for (const elicitationId of this.#sentElsewhere) {
      this.#exchange.notify("notifications/elicitation/complete", raw({ elicitationId }));
    }
    const lacking = lackingCapability(reply);
    if (lacking !== undefined) throw refused("The server needs what this client cannot do", nameOf(lacking));
    return undefined;
  }

  async #round({ questions, state }: InputRequired): Promise<RawParams> {
    if (++this.#rounds > MAX_ROUNDS) {
      throw new HubError("ProtocolError", `The server still asks for something after ${MAX_ROUNDS} rounds`);
    }
    for (const question of questions.values()) this.#check(question);
    const { request } = this.#exchange;
    const signal = toAbortSignal(this.#exchange.signal);
    if (questions.size === 0) await sleep(PACE_MS, undefined, { signal }).catch(() => undefined); // the next request says why
    // Where one of them fails, the others need not be asked any longer.
    const failed = new AbortController();
    const either = AbortSignal.any([signal, failed.signal]);
    const asked = [...questions].map(async ([key, question]) => [key, await this.#put(question, either)] as const);
    try {
      return withInput(request.params, await Promise.all(asked), state);
    } catch (error) {
      failed.abort();
      await Promise.allSettled(asked);
      throw error;
    }
  }

  #check(question: Question): void {
    const missing = missingCapability(question, this.#exchange.capabilities);
    if (missing === undefined) return;
    const { url } = question.params ?? {};
    // The user can still go there himself, if somebody shows him.
    const where = question.params?.["mode"] === "url" && typeof url === "string" ? `. Open ${url}` : "";
    const message = cannotBeAsked(question.method, missing);
    throw refused(`${message}${where}`, nameOf(missing));
  }

  /** The bare result that a modern server expects. */
  async #put({ method, params }: Question, signal: AbortSignal): Promise<Raw> {
    const reply = await this.#ask(method, params && raw(this.#withId(params)), signal);
    if (reply.ok) return reply.result;
    if (method === "elicitation/create") return raw({ action: "cancel" });
    const { message } = isObject(reply.error.value) ? reply.error.value : {};
    throw refused(`The client refused ${method}`, String(message));
  }

  /** Legacy clients know by an id which visit to an address has come to its end. */
  #withId(params: JsonObject): JsonObject {
    if (params["mode"] !== "url" || params["elicitationId"] !== undefined) return params;
    const elicitationId = randomUUID();
    this.#sentElsewhere.push(elicitationId);
    return { ...params, elicitationId };
  }

  #ask(method: string, params: Raw | undefined, signal: AbortSignal): Promise<Reply> {
    this.wasAsked = true;
    const { ask } = this.#exchange;
    if (ask === undefined) throw refused("This client cannot be asked anything", method);
    const named = this.#isNamed ? withAsker(method, params, this.#server) : params;
    return this.#asked.during(ask(method, named, { signal }));
  }
}

/** What a modern server says of the client's capabilities means nothing to a legacy client, which declared them long ago. */
function lackingCapability(reply: Reply): JsonObject | undefined {
  if (reply.ok || !isObject(reply.error.value) || reply.error.value["code"] !== RPC.missingClientCapability) {
    return undefined;
  }
  const { data } = reply.error.value;
  const required = isObject(data) ? data["requiredCapabilities"] : undefined;
  return isObject(required) ? required : {};
}

function refused(message: string, detail: string): HubError {
  return new HubError("ClientRefused", message, detail === "" ? {} : { detail });
}
