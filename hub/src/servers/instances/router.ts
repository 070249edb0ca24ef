// Picks the process or connection of a server that serves a request: the main one, or an instance beside it. Decides by the
// server's settings, the caller's era, and the known requests of the server to its clients.

import { isObject } from "../../lib/json/json.ts";
import type { HubError } from "../../errors.ts";
import type { Era } from "../../protocol/revisions/era.ts";
import type { ClientFeature } from "../connection/era-memory.ts";
import { knowsNoLegacy } from "../connection/handshake.ts";
import type { ForwardRequest } from "../connection/upstream.ts";
import type { Offer } from "../offer.ts";
import type { ServerState } from "../server-state.ts";
import { CallTracker, type TrackedCall } from "./call-tracker.ts";
import { canAnswer, instanceKey, LOCAL, sessionKey, type Caller } from "./caller.ts";
import type { Instances } from "./instances.ts";

export type Route =
  | { readonly to: "main"; readonly isShared: boolean }
  /** An instance for this request alone. */
  | { readonly to: "once"; readonly legacyOnly: boolean; readonly isShared: false }
  | {
      readonly to: "instance";
      readonly key: string;
      readonly legacyOnly: boolean;
      /** It serves one client alone. */
      readonly isOwn: boolean;
      /** The main connection is used if it cannot be opened. */
      readonly isOptional: boolean;
      /** A legacy connection of several clients, on which a request of the server may not say which call it belongs to. */
      readonly isShared: boolean;
    };

/** After a second process or connection failed to open: the server may hold something exclusively, such as a port. */
const RETRY_MS = 60_000;
/** The instance of all legacy callers, if the main connection is modern. */
const LEGACY_KEY = "legacy";
const MAIN: Route = { to: "main", isShared: false };
const SHARED_MAIN: Route = { to: "main", isShared: true };

export class Router {
  readonly #state: ServerState;
  readonly #offer: Offer;
  readonly #instances: Instances;
  readonly #calls = new CallTracker();
  /** The known requests of the server to its clients. */
  readonly #requested: Set<ClientFeature>;
  #mayKnowLegacy: boolean;
  #noInstanceBefore = 0;
  /**
   * The client that has the main connection, among those that the server can send requests to. The first one that it sent a
   * request to stays there, so that the server keeps its state for it.
   */
  #mainClient: string | undefined;

  constructor(state: ServerState, offer: Offer, instances: Instances) {
    this.#state = state;
    this.#offer = offer;
    this.#instances = instances;
    const { eras } = state.context;
    this.#requested = new Set(eras.requestedFeatures(state.config.transport));
    this.#mayKnowLegacy = eras.mayKnowLegacy(state.config.transport);
  }

  route(request: ForwardRequest): Route {
    const { caller = LOCAL } = request;
    const info = this.#state.upstream?.info ?? this.#offer.info;
    const { isolation } = this.#state;
    const legacyOnly = this.#needsLegacy(caller, info?.era);
    if (isolation === "per-call") return { to: "once", legacyOnly, isShared: false };
    if (isolation === "per-session" || isolation === "per-principal") {
      const isOwn = isolation === "per-session" && caller.session !== undefined;
      const callerKey = instanceKey(caller, isolation);
      const key = legacyOnly && !isOwn ? `${LEGACY_KEY} ${callerKey}` : callerKey;
      return { to: "instance", key, legacyOnly, isOwn, isOptional: false, isShared: false };
    }
    // A modern server sends no requests, and tasks exist only on the connection that made them.
    const hasTasks = isObject(info?.capabilities["tasks"]);
    const isLegacy = legacyOnly || info?.era === "legacy";
    const isContested = isolation === undefined && isLegacy && this.#isContested(request);
    const isAuto = isolation === undefined && isLegacy && (!hasTasks || (isContested && isTaskFree(request)));
    const shared: Route = legacyOnly
      ? { to: "instance", key: LEGACY_KEY, legacyOnly, isOwn: false, isOptional: true, isShared: isAuto }
      : isAuto
        ? SHARED_MAIN
        : MAIN;
    if (!isAuto || this.#requested.size === 0 || !this.#mayOpen || !canAnswer(caller, this.#requested)) return shared;
    if (!isContested && this.#isMainClient(caller, request)) return shared;
    const { session } = caller;
    const key = session === undefined ? this.#freeKey(caller, this.mayCallBack(request)) : sessionKey(session);
    return { to: "instance", key, legacyOnly, isOwn: session !== undefined, isOptional: true, isShared: false };
  }

  /** A promise if the request has to wait, after which the route must be picked again. */
  wait(route: Route, request: ForwardRequest, since: number): Promise<void> | undefined {
    return route.isShared ? this.#calls.wait(request, since) : undefined;
  }

  /** Whether calls of this route have to be tracked with `begin` and `end`. */
  tracks(route: Route): boolean {
    return route.isShared || (this.#state.isolation === undefined && route.to !== "main");
  }

  begin(request: ForwardRequest, route: Route): TrackedCall {
    return this.#calls.begin(request, route);
  }

  end(call: TrackedCall, result: { readonly isAnswered: boolean }): void {
    this.#calls.end(call, result);
  }

  /** Whether the server may send requests to the client during this request. */
  mayCallBack(request: ForwardRequest): boolean {
    return this.#calls.mayCallBack(request);
  }

  /** The server sends a request to its client. `hasOwnStream`: on the stream of the request that it belongs to. */
  onClientRequest(feature: ClientFeature, { hasOwnStream }: { readonly hasOwnStream: boolean }): void {
    if (!hasOwnStream) this.#learn(feature, this.#calls.onlyCaller);
    this.#calls.calledBack({ hasOwnStream });
  }

  sessionEnded(session: string): void {
    if (this.#mainClient === sessionKey(session)) this.#mainClient = undefined;
  }

  /** An instance could not be opened: whether another route may be tried. */
  mayTryAnother(route: Route, error: HubError): boolean {
    if (route.to === "main" || error.kind === "Cancelled") return false;
    if (route.legacyOnly && knowsNoLegacy(error)) {
      this.#mayKnowLegacy = false;
      this.#state.context.eras.refusedLegacy(this.#state.config.transport);
      return true;
    }
    if (route.to !== "instance" || !route.isOptional) return false;
    // If all instances are busy, one will be free soon.
    if (error.kind !== "Overloaded") this.#noInstanceBefore = performance.now() + RETRY_MS;
    return true;
  }

  /** After a failed instance. If the limit was reached, the same route would fail again. */
  nextRoute(failed: Route & { to: "instance" | "once" }, request: ForwardRequest): Route {
    const next = this.route(request);
    const isSame = next.to === failed.to && next.legacyOnly === failed.legacyOnly;
    return isSame && this.#state.isolation === undefined ? MAIN : next;
  }

  #learn(feature: ClientFeature, caller: Caller | undefined): void {
    const isFirst = this.#requested.size === 0;
    this.#requested.add(feature);
    if (isFirst && caller !== undefined && canAnswer(caller, this.#requested)) this.#mainClient = clientKey(caller);
    this.#state.context.eras.featureRequested(this.#state.config.transport, feature);
  }

  #isMainClient(caller: Caller, request: ForwardRequest): boolean {
    // The roots of one client must not be left behind for the next one.
    if (this.#mainClient === undefined && this.#requested.has("roots")) return false;
    const key = clientKey(caller);
    this.#mainClient ??= key;
    return this.#mainClient === key && (caller.session !== undefined || this.#calls.isUnambiguous(request));
  }

  /** On the main connection a request of the server could be taken for one that belongs to another client. */
  #isContested(request: ForwardRequest): boolean {
    if (this.#requested.size === 0 || !this.mayCallBack(request)) return false;
    return this.#state.upstream?.isContested(request.responder?.caller()) === true;
  }

  #needsLegacy(caller: Caller, era: Era | undefined): boolean {
    if (caller.era !== "legacy" || era !== "modern" || !this.#mayKnowLegacy || !this.#mayOpen) return false;
    return this.#state.config.era === undefined;
  }

  get #mayOpen(): boolean {
    return this.#noInstanceBefore === 0 || performance.now() >= this.#noInstanceBefore;
  }

  /**
   * Clients without a session cannot be distinguished. Their calls share one instance, which keeps its state, as long as no two
   * calls during which the server may send requests are open at once: those are spread over several instances.
   */
  #freeKey(caller: Caller, mayCallBack: boolean): string {
    const first = `principal ${caller.principal()}`;
    for (let n = 1; n <= this.#state.resilience.instances.max; n++) {
      const key = n === 1 ? first : `${first} ${n}`;
      if (this.#instances.isFree(key, { mayCallBack })) return key;
    }
    return first;
  }
}

/** No task comes of it, which would exist only on the connection that made it. */
function isTaskFree({ method, tool, params, replace }: ForwardRequest): boolean {
  if (method.startsWith("tasks/") || { ...params?.value, ...replace }["task"] !== undefined) return false;
  const execution = tool?.["execution"];
  return !isObject(execution) || execution["taskSupport"] !== "required";
}

function clientKey(caller: Caller): string {
  return instanceKey(caller, "per-session");
}
