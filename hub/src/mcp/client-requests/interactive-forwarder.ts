// Forwards a request during which the server may ask the client for input. A legacy client is asked while the call runs; between
// two modern peers the reply itself asks. Only a modern client of a legacy server needs a suspended call (suspended-calls.ts).
// If the server needs a login first, the hub itself asks for it (login-offers.ts).

import type { ServerRequest } from "../../calls/call.ts";
import type { Group } from "../../catalog/group.ts";
import type { ClientResponder } from "../../servers/connection/client-responder.ts";
import { HubError } from "../../errors.ts";
import type { Era } from "../../protocol/revisions/era.ts";
import type { JsonObject } from "../../lib/json/json.ts";
import type { Reply, RequestMessage } from "../../protocol/rpc/jsonrpc.ts";
import type { IncomingRequest } from "../../protocol/serve/service.ts";
import { withServerLabels } from "./server-label.ts";
import {
  canBeAsked,
  missingCapability,
  unsupported,
  withCapabilityError,
  withCapabilityNote,
  type UnsupportedRequest,
} from "./client-capabilities.ts";
import { readLoginRetry, type LoginOffers, type LoginRetry } from "./login-offers.ts";
import { SuspendedCalls, type SuspendedCallsOptions } from "./suspended-calls.ts";
import { clientKey } from "../principal.ts";
import { LegacyClientResponder } from "./legacy-client-responder.ts";
import type { Tasks } from "../tasks/tasks.ts";
import { forModern, requireAccepted } from "./url-elicitation.ts";

export interface InteractiveForwarderOptions extends SuspendedCallsOptions {
  /** Undefined while a server is down or suspended. */
  eraOf(server: string): Era | undefined;
  readonly tasks: Tasks;
  readonly loginOffers: LoginOffers;
}

interface Target {
  readonly server: string;
  readonly group: Pick<Group, "namesAsker">;
}

type Send<Q extends ServerRequest> = (request: Q) => Promise<Reply>;

export class InteractiveForwarder {
  readonly #options: InteractiveForwarderOptions;
  readonly #suspended: SuspendedCalls;

  constructor(options: InteractiveForwarderOptions) {
    this.#options = options;
    this.#suspended = new SuspendedCalls(options);
  }

  /** Answers the requests that the server sends in the course of this one request. */
  responderFor(incoming: IncomingRequest, server: string, group: Pick<Group, "namesAsker">): ClientResponder {
    if (incoming.era === "modern") return new ModernClientResponder(incoming);
    return new LegacyClientResponder(incoming, this.#options.tasks, server, { isLabelled: group.namesAsker });
  }

  /** `request` has the responder of `incoming`; `send` sends it to the server. */
  async forward<Q extends ServerRequest>(
    incoming: IncomingRequest,
    { server, group }: Target,
    request: Q,
    send: Send<Q>,
  ): Promise<Reply> {
    const isModern = incoming.era === "modern";
    const retry = isModern ? readLoginRetry(request.params) : undefined;
    try {
      if (!isModern) return await forwardLegacy(request, send);
      if (retry !== undefined) await this.#options.loginOffers.resume(incoming, server, retry, incoming.signal);
      const resumed = retry === undefined ? request : { ...request, params: retry.params };
      const reply = await this.#forwardModern(incoming, server, resumed, send);
      return group.namesAsker ? withServerLabels(reply, server) : reply;
    } catch (thrown) {
      return this.#offerLogin(incoming, server, thrown, retry);
    }
  }

  /** Asks for the login that the request needs. Throws again if that is not why it failed, or the client cannot be asked. */
  #offerLogin(incoming: IncomingRequest, server: string, thrown: unknown, retry: LoginRetry | undefined): Reply {
    const offer =
      thrown instanceof HubError ? this.#options.loginOffers.reply(incoming, server, thrown, retry) : undefined;
    if (offer === undefined) throw thrown;
    return offer;
  }

  async #forwardModern<Q extends ServerRequest>(
    incoming: IncomingRequest,
    server: string,
    request: Q,
    send: Send<Q>,
  ): Promise<Reply> {
    const era = this.#options.eraOf(server);
    const { requestState } = request.params?.value ?? {};
    const isOurs = SuspendedCalls.owns(requestState) || (era === "legacy" && requestState !== undefined);
    if (isOurs) return forModern(await this.#suspended.resume(incoming), incoming.capabilities);
    // A call that needs approval is suspended until its user has decided, whatever the era of its server.
    const asksFirst = request.approval !== undefined && canBeAsked(incoming.capabilities);
    if (era === "modern" && !asksFirst) return send(request);
    const sent = era === "legacy" ? withoutInput(request) : request;
    const reply = canBeAsked(incoming.capabilities)
      ? await this.#suspended.begin(incoming, (call) =>
          send({ ...sent, responder: call, onNotification: (method, params) => call.notify(method, params) }),
        )
      : await sendUnasked(incoming, sent, send);
    return forModern(reply, incoming.capabilities);
  }

  /** Cancels all suspended calls: their clients can no longer resume them. */
  close(): void {
    this.#suspended.close();
  }
}

/** Input without a state belongs to a URL elicitation error; a legacy server does not have such a member. */
function withoutInput<Q extends ServerRequest>(request: Q): Q {
  if (request.params?.value["inputResponses"] === undefined) return request;
  requireAccepted(request.params.value);
  return { ...request, replace: { ...request.replace, inputResponses: undefined } };
}

async function forwardLegacy<Q extends ServerRequest>(request: Q, send: Send<Q>): Promise<Reply> {
  const reply = await send(request);
  const { responder } = request;
  return responder instanceof LegacyClientResponder ? withCapabilityNote(reply, responder.unsupported) : reply;
}

/** For a legacy server whose client supports none of the client requests. */
async function sendUnasked<Q extends ServerRequest>(
  incoming: IncomingRequest,
  request: Q,
  send: Send<Q>,
): Promise<Reply> {
  const responder = new ModernClientResponder(incoming);
  return withCapabilityError(await send({ ...request, responder }), responder.unsupported);
}

/** A modern client. A modern server knows its capabilities and asks in the reply; a legacy server cannot ask it anything. */
class ModernClientResponder implements ClientResponder {
  readonly wasAsked = false;
  readonly askedMs = 0;
  /** The first request that the client does not support. */
  unsupported: UnsupportedRequest | undefined;
  readonly #incoming: IncomingRequest;

  constructor(incoming: IncomingRequest) {
    this.#incoming = incoming;
  }

  caller(): string | undefined {
    return clientKey(this.#incoming);
  }

  get capabilities(): JsonObject {
    return this.#incoming.capabilities;
  }

  async answer({ method, params }: RequestMessage): Promise<Reply> {
    const request = { method, params: params?.value };
    const missing = missingCapability(request, this.capabilities) ?? {};
    this.unsupported ??= { method, missing };
    return unsupported(request, missing);
  }

  completed(): void {}
}
