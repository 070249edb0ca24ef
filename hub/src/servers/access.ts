// Requests to one managed server: limits them, picks the connection (the main one or an instance), waits for a start in progress,
// and forwards them. lifecycle.ts starts and stops the server.

import { withheldError } from "../catalog/withheld.ts";
import { HubError, toHubError } from "../errors.ts";
import { isObject } from "../lib/json/json.ts";
import type { Reply } from "../protocol/rpc/jsonrpc.ts";
import type { ForwardRequest, Upstream } from "./connection/upstream.ts";
import type { OnUpdate } from "./connection/upstream-subscriptions.ts";
import { instanceKey, type Caller } from "./instances/caller.ts";
import type { HeldConnection } from "./instances/instance.ts";
import type { Instances } from "./instances/instances.ts";
import type { Route, Router } from "./instances/router.ts";
import type { Lifecycle } from "./lifecycle.ts";
import type { Offer } from "./offer.ts";
import { explainAuthError, isAuthError } from "./resilience/auth-errors.ts";
import type { CallLimits } from "./resilience/call-limits.ts";
import { redactError } from "./server-redaction.ts";
import type { ServerState } from "./server-state.ts";
import type { ServerSubscriptions } from "./server-subscriptions.ts";

export interface AccessParts {
  readonly state: ServerState;
  readonly offer: Offer;
  readonly lifecycle: Lifecycle;
  readonly limits: CallLimits;
  readonly subscriptions: ServerSubscriptions;
  readonly instances: Instances;
  readonly router: Router;
}

/** A subscription to one resource. */
export interface Watching {
  /** The server's URI. */
  readonly uri: string;
  readonly caller: Caller;
  readonly onUpdate: OnUpdate;
}

/** A subscription stream of one client. */
export type Listening = Pick<ForwardRequest, "params" | "signal" | "onNotification"> & { readonly caller: Caller };

export class Access {
  readonly #parts: AccessParts;
  readonly #state: ServerState;

  constructor(parts: AccessParts) {
    this.#parts = parts;
    this.#state = parts.state;
    parts.subscriptions.personal.moveTo((caller) => this.#holdOf(caller));
  }

  /** One request on behalf of a client. */
  async forward(request: ForwardRequest): Promise<Reply> {
    const { limits, lifecycle } = this.#parts;
    const startedAt = performance.now();
    const slot = limits.acquire({ signal: request.signal, limitMs: this.#state.requestMs(request) });
    if (slot !== undefined) await slot;
    try {
      return await this.#forwardRouted(request, startedAt);
    } catch (thrown) {
      const error = toHubError(thrown);
      if (isAuthError(error)) lifecycle.verifyCredentials();
      throw explainAuthError(redactError(error, this.#state.redact), this.#state.config);
    } finally {
      limits.release();
      if (this.#state.resilience.onDemand) lifecycle.restartIdleTimer();
    }
  }

  /** Reports changes of a resource until it is released. Starts a server on standby and keeps it running. */
  async watch(watching: Watching): Promise<{ readonly reply: Reply; readonly release: () => void }> {
    const { uri, caller, onUpdate } = watching;
    const { isPerUser, redact, config } = this.#state;
    const { shared, personal } = this.#parts.subscriptions;
    const { opened, release } = isPerUser ? personal.add(caller, uri, onUpdate) : shared.add(uri, onUpdate);
    try {
      if (!isPerUser) await this.#parts.lifecycle.resume();
      const reply = await opened();
      if (!reply.ok) release();
      return { reply, release };
    } catch (thrown) {
      release();
      throw explainAuthError(redactError(toHubError(thrown), redact), config);
    }
  }

  /** A subscription stream of one client. It stays open, so it occupies no slot. */
  async listen({ caller, ...listening }: Listening): Promise<Reply> {
    const request: ForwardRequest = { ...listening, method: "subscriptions/listen", timeoutMs: 0 };
    if (!this.#state.isPerUser) {
      const { upstream } = this.#state;
      if (upstream === undefined) throw this.#parts.lifecycle.unavailable();
      return upstream.forward(request);
    }
    const held = await this.#holdOf(caller);
    try {
      return await held.upstream.forward(request);
    } finally {
      held.release();
    }
  }

  /** The connection with the caller's own credentials. */
  async #holdOf(caller: Caller): Promise<HeldConnection> {
    // The config has changed: the clients' subscriptions follow.
    if (!this.#state.isPerUser) throw this.#parts.lifecycle.unavailable();
    const { instances } = this.#parts;
    const key = instanceKey(caller, "per-principal");
    if (!instances.has(key) && this.#state.connected === undefined) {
      await this.#requireUsable({ method: "subscriptions/listen", params: undefined }, performance.now());
    }
    return instances.hold(key, caller.credentialsOf());
  }

  /** A client's session has ended for good. */
  sessionEnded(session: string): void {
    this.#parts.instances.sessionEnded(session);
    this.#parts.router.sessionEnded(session);
  }

  endInstancesOf(principal: string): void {
    this.#parts.instances.endOf(principal);
  }

  async setLogLevel(level: string): Promise<void> {
    this.#state.logLevel = level;
    await Promise.all([this.#state.upstream?.setLogLevel(level), this.#parts.instances.setLogLevel(level)]);
  }

  /** Waiting for a slot or a start is part of the time that a request has. */
  #withTimeLeft(request: ForwardRequest, startedAt: number): ForwardRequest {
    if (performance.now() - startedAt < 1) return request;
    return { ...request, leftMs: timeLeft(this.#state.requestMs(request), startedAt) };
  }

  async #connect(request: ForwardRequest, startedAt: number): Promise<Upstream> {
    const limited = this.#withTimeLeft(request, startedAt);
    const upstream = await this.#parts.lifecycle.connect(limited, this.#state.requestMs(limited));
    this.#requireApproved(request);
    return upstream;
  }

  /** The server has started for this request, maybe with other tools than those that the caller was shown. */
  #requireApproved({ method, params, replace }: ForwardRequest): void {
    if (method !== "tools/call") return;
    const { config, context } = this.#state;
    const name = String(replace?.["name"] ?? (isObject(params?.value) ? params.value["name"] : undefined));
    const { tools = [] } = this.#parts.offer.listing ?? {};
    const reason = context.approvals?.withheld(config, tools)?.get(name);
    if (reason !== undefined) throw withheldError(config.name, name, reason);
  }

  /** The main connection shows that the server works at all. That its own login is missing says nothing about the caller's. */
  async #requireUsable(request: ForwardRequest, startedAt: number): Promise<void> {
    const { status } = this.#state;
    if (this.#state.isPerUser && status.state === "unauthenticated") return;
    try {
      await this.#connect(request, startedAt);
    } catch (error) {
      if (!this.#state.isPerUser || !isAuthError(toHubError(error))) throw error;
    }
  }

  #credentialsOf({ caller }: ForwardRequest): { readonly principal?: string } {
    if (!this.#state.isPerUser) return {};
    if (caller === undefined) throw new HubError("Unexpected", "A call without a caller has no credentials here");
    return { principal: caller.credentialsOf() };
  }

  async #forwardRouted(request: ForwardRequest, startedAt: number): Promise<Reply> {
    const { router, offer } = this.#parts;
    // The route depends on the server's revision.
    if (!this.#state.isPerUser && this.#state.connected === undefined && offer.info === undefined)
      await this.#connect(request, startedAt);
    const since = performance.now();
    let route = router.route(request);
    for (let wait = router.wait(route, request, since); wait !== undefined; wait = router.wait(route, request, since)) {
      await wait;
      route = router.route(request);
    }
    if (!router.tracks(route)) return this.#forwardVia(route, request, startedAt);
    const tracked = router.begin(request, route);
    let isAnswered = false;
    try {
      const reply = await this.#forwardVia(route, request, startedAt);
      isAnswered = reply.ok;
      return reply;
    } finally {
      router.end(tracked, { isAnswered });
    }
  }

  async #forwardVia(route: Route, request: ForwardRequest, startedAt: number): Promise<Reply> {
    if (route.to === "main") {
      // It has the credentials of one of the people.
      if (this.#state.isPerUser)
        throw new HubError("Unexpected", "A call was about to use another caller's credentials");
      const upstream = this.#state.connected ?? (await this.#connect(request, startedAt));
      return upstream.forward(this.#withTimeLeft(request, startedAt));
    }
    const { instances, router, lifecycle } = this.#parts;
    // An open instance answers even if others have failed. A new one is opened only if the server works at all.
    const isOpen = route.to === "instance" && instances.has(route.key);
    if (!isOpen && this.#state.connected === undefined) await this.#requireUsable(request, startedAt);
    const limited = this.#withTimeLeft(request, startedAt);
    const options = {
      limitMs: this.#state.requestMs(limited),
      legacyOnly: route.legacyOnly,
      ...this.#credentialsOf(request),
    };
    const fallback = (error: HubError) =>
      router.mayTryAnother(route, error)
        ? this.#forwardVia(router.nextRoute(route, request), request, startedAt)
        : undefined;
    const reply =
      route.to === "once"
        ? await instances.forwardOnce(limited, options, fallback)
        : await instances.forward(
            route.key,
            limited,
            {
              ...options,
              mayCallBack: router.mayCallBack(request),
              ...(route.isOwn && request.caller !== undefined ? { client: request.caller } : {}),
            },
            fallback,
          );
    lifecycle.accepted();
    return reply;
  }
}

/** Never 0, which would mean no limit. */
function timeLeft(limitMs: number, startedAt: number): number {
  return limitMs === 0 ? 0 : Math.max(1, limitMs - (performance.now() - startedAt));
}
