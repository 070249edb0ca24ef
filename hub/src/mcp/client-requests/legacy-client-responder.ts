// Answers a server's requests by asking a legacy client. Requests of a legacy server are passed on unchanged. For a modern
// server, each entry of an `input_required` result becomes a request to the client, and the call is repeated with the answers.

import { randomUUID } from "node:crypto";
import { setTimeout as sleep } from "node:timers/promises";
import { HubError } from "../../errors.ts";
import type { ClientResponder } from "../../servers/connection/client-responder.ts";
import { Stopwatch } from "../../lib/stopwatch.ts";
import { toAbortSignal } from "../../lib/cancellation.ts";
import { modernCapabilities, type Era } from "../../protocol/revisions/era.ts";
import { isObject, type JsonObject } from "../../lib/json/json.ts";
import { raw, RPC, type Raw, type RawParams, type Reply, type RequestMessage } from "../../protocol/rpc/jsonrpc.ts";
import type { OpenServerRequest } from "../../protocol/connect/pending-request.ts";
import type { IncomingRequest } from "../../protocol/serve/service.ts";
import { withServerLabel } from "./server-label.ts";
import {
  cannotBeAsked,
  missingCapability,
  nameOf,
  unsupported,
  type ClientRequest,
  type UnsupportedRequest,
} from "./client-capabilities.ts";
import { readInputRequired, withInput, type InputRequired } from "./input-required.ts";
import { clientKey } from "../principal.ts";
import { wrongTaskOwner, type Tasks } from "../tasks/tasks.ts";

const ELICIT = "elicitation/create";
/** The first revision in which an elicitation has a mode. */
const WITH_MODES = "2025-11-25";
const MAX_ROUNDS = 10;
/** Pause before a call is repeated whose server asked for nothing. */
const REPEAT_PAUSE_MS = 250;

export class LegacyClientResponder implements ClientResponder {
  wasAsked = false;
  /** The first request that the client does not support. */
  unsupported: UnsupportedRequest | undefined;
  readonly #incoming: IncomingRequest;
  readonly #asked = new Stopwatch();
  #rounds = 0;
  /** Ids that the hub gave to URL elicitations of a modern server, which has no such ids. */
  readonly #elicitationIds: string[] = [];
  #isAnswered = false;

  readonly #tasks: Tasks;
  readonly #server: string;
  readonly #isLabelled: boolean;
  /** The era of the connection to the server. */
  #era: Era | undefined;

  /** `isLabelled`: requests to the client name the server. */
  constructor(
    incoming: IncomingRequest,
    tasks: Tasks,
    server: string,
    { isLabelled = false }: { isLabelled?: boolean } = {},
  ) {
    this.#incoming = incoming;
    this.#tasks = tasks;
    this.#server = server;
    this.#isLabelled = isLabelled;
  }

  sentIn(era: Era): void {
    this.#era = era;
  }

  caller(): string | undefined {
    return clientKey(this.#incoming);
  }

  get askedMs(): number {
    return this.#asked.totalMs;
  }

  get isOneClient(): boolean {
    return this.#incoming.session !== undefined || this.#incoming.connection !== undefined;
  }

  get capabilities(): JsonObject {
    return modernCapabilities(this.#incoming.capabilities);
  }

  async answer({ method, params }: RequestMessage, { signal }: OpenServerRequest): Promise<Reply> {
    const request = { method, params: params?.value };
    const missing = missingCapability(request, this.#incoming.capabilities);
    if (missing !== undefined) {
      this.unsupported ??= { method, missing };
      return unsupported(request, missing);
    }
    const translated = params && this.#tasks.toClient(params, this.#incoming, this.#server);
    if (params !== undefined && translated === undefined) return wrongTaskOwner(method);
    const reply = await this.#ask(method, translated, signal);
    return reply.ok ? { ok: true, result: this.#tasks.toServer(reply.result, this.#incoming) } : reply;
  }

  confirm(params: JsonObject, { signal }: Pick<OpenServerRequest, "signal">): Promise<Reply> | undefined {
    const { ask, capabilities, session } = this.#incoming;
    if (ask === undefined || missingCapability({ method: ELICIT, params }, capabilities) !== undefined)
      return undefined;
    const { mode: _, ...oldForm } = params;
    // The member came with 2025-11-25.
    return ask(ELICIT, raw(session !== undefined && session.version < WITH_MODES ? oldForm : params), { signal });
  }

  completed(params: Raw): void {
    const { session } = this.#incoming;
    const method = "notifications/elicitation/complete";
    if (this.#isAnswered && session !== undefined) session.notify(method, params);
    else this.#incoming.notify(method, params);
  }

  next(reply: Reply): Promise<RawParams> | undefined {
    // In a legacy server's result, `input_required` has no meaning: repeating the call would be a second call.
    const wanted = this.#era === "legacy" ? undefined : readInputRequired(reply);
    if (wanted !== undefined) return this.#round(wanted);
    this.#isAnswered = true;
    for (const elicitationId of this.#elicitationIds) {
      this.#incoming.notify("notifications/elicitation/complete", raw({ elicitationId }));
    }
    const lacking = lackingCapability(reply);
    if (lacking !== undefined) throw refused("The server needs a capability that this client lacks", nameOf(lacking));
    return undefined;
  }

  async #round({ requests, state }: InputRequired): Promise<RawParams> {
    if (++this.#rounds > MAX_ROUNDS) {
      throw new HubError("ProtocolError", `The server still requests input after ${MAX_ROUNDS} rounds`);
    }
    for (const request of requests.values()) this.#requireSupport(request);
    const signal = toAbortSignal(this.#incoming.signal);
    if (requests.size === 0) await sleep(REPEAT_PAUSE_MS, undefined, { signal }).catch(() => undefined); // the repeated request fails
    // If one of them fails, the others are cancelled.
    const failed = new AbortController();
    const either = AbortSignal.any([signal, failed.signal]);
    const asked = [...requests].map(async ([key, request]) => [key, await this.#resultOf(request, either)] as const);
    try {
      return withInput(this.#incoming.request.params, await Promise.all(asked), state);
    } catch (error) {
      failed.abort();
      await Promise.allSettled(asked);
      throw error;
    }
  }

  #requireSupport(request: ClientRequest): void {
    const missing = missingCapability(request, this.#incoming.capabilities);
    if (missing === undefined) return;
    const { url } = request.params ?? {};
    // The user can still open the URL by hand.
    const where = request.params?.["mode"] === "url" && typeof url === "string" ? `. Open ${url}` : "";
    const message = cannotBeAsked(request.method, missing);
    throw refused(`${message}${where}`, nameOf(missing));
  }

  /** The bare result that a modern server expects. */
  async #resultOf({ method, params }: ClientRequest, signal: AbortSignal): Promise<Raw> {
    const reply = await this.#ask(method, params && raw(this.#withId(params)), signal);
    if (reply.ok) return reply.result;
    if (method === "elicitation/create") return raw({ action: "cancel" });
    const { message } = isObject(reply.error.value) ? reply.error.value : {};
    throw refused(`The client refused ${method}`, String(message));
  }

  /** Legacy clients match `notifications/elicitation/complete` by this id. */
  #withId(params: JsonObject): JsonObject {
    if (params["mode"] !== "url" || params["elicitationId"] !== undefined) return params;
    const elicitationId = randomUUID();
    this.#elicitationIds.push(elicitationId);
    return { ...params, elicitationId };
  }

  #ask(method: string, params: Raw | undefined, signal: AbortSignal): Promise<Reply> {
    this.wasAsked = true;
    const { ask } = this.#incoming;
    if (ask === undefined) throw refused("This client supports no requests from servers", method);
    const labelled = this.#isLabelled ? withServerLabel(method, params, this.#server) : params;
    return this.#asked.during(ask(method, labelled, { signal }));
  }
}

/**
 * The capability that a modern server requires. Its error code does not exist for legacy clients, which declare capabilities
 * once.
 */
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
