// Which process or connection of a server a caller is served by: the main one, or an instance beside it. By the server's
// settings, the era of the caller and what the server is known to ask. Opening and asking them is left to others.

import type { ServerConfig } from "../config/types.ts";
import type { HubError } from "../errors.ts";
import type { Era } from "../wire/era.ts";
import { canAnswer, instanceKey, LOCAL, sessionKey, type Caller } from "./caller.ts";
import type { Askable, EraMemory } from "./era-memory.ts";
import { knowsNoLegacy } from "./handshake.ts";
import type { Instances } from "./instances.ts";

export type Route =
  | { readonly to: "main"; readonly isShared: boolean }
  /** One that is opened for this request alone. */
  | { readonly to: "once"; readonly legacyOnly: boolean; readonly isShared: false }
  | {
      readonly to: "instance";
      readonly key: string;
      readonly legacyOnly: boolean;
      /** One client's alone. */
      readonly isOwn: boolean;
      /** The main one will do where it cannot be opened. */
      readonly isOptional: boolean;
      /** A legacy connection of several clients, on which nothing may say whose call a question belongs to. */
      readonly isShared: boolean;
    };

/** What of the main connection decides. */
export interface MainConnection {
  readonly era: Era | undefined;
  /** It keeps tasks, which only the connection that made them has. */
  readonly hasTasks: boolean;
}

/** What of a request decides. Asked only where it matters. */
export interface Request {
  /** Whether the server may ask back in the course of it. */
  mayAsk(): boolean;
  /** Whether nobody else's request on the main connection could be taken for the one that asks. */
  isMainFree(): boolean;
}

export interface RoutesOptions {
  readonly config: () => ServerConfig;
  readonly memory: EraMemory;
  readonly instances: Instances;
  readonly maxInstances: () => number;
}

/** After a second process or connection could not be opened: the server may hold something that only one can have. */
const RETRY_MS = 60_000;
function tenantKey(caller: Caller): string {
  return instanceKey(caller, "per-session");
}

/** For callers of the legacy era together, beside a main connection that is modern. */
const LEGACY_KEY = "legacy";
const MAIN: Route = { to: "main", isShared: false };
const SHARED_MAIN: Route = { to: "main", isShared: true };

export class Routes {
  readonly #options: RoutesOptions;
  readonly #asks: Set<Askable>;
  #mayKnowLegacy: boolean;
  #noneBefore = 0;
  /**
   * Who has the main connection, of those that the server can ask: one of them may, and whoever was asked there first stays,
   * so that the server keeps what it knows of them.
   */
  #tenant: string | undefined;

  constructor(options: RoutesOptions) {
    this.#options = options;
    const { memory, config } = options;
    this.#asks = new Set(memory.asks(config().transport));
    this.#mayKnowLegacy = memory.mayKnowLegacy(config().transport);
  }

  of(caller: Caller = LOCAL, { era, hasTasks }: MainConnection, request: Request): Route {
    const { isolation } = this.#options.config();
    const legacyOnly = this.#needsLegacy(caller, era);
    if (isolation === "per-call") return { to: "once", legacyOnly, isShared: false };
    if (isolation === "per-session" || isolation === "per-principal") {
      const isOwn = isolation === "per-session" && caller.session !== undefined;
      const key = instanceKey(caller, isolation);
      const told = legacyOnly && !isOwn ? `${LEGACY_KEY} ${key}` : key;
      return { to: "instance", key: told, legacyOnly, isOwn, isOptional: false, isShared: false };
    }
    // A modern server asks nothing outside of its answers.
    const isAuto = isolation === undefined && (legacyOnly || era === "legacy") && !hasTasks;
    const together: Route = legacyOnly
      ? { to: "instance", key: LEGACY_KEY, legacyOnly, isOwn: false, isOptional: true, isShared: isAuto }
      : isAuto
        ? SHARED_MAIN
        : MAIN;
    if (!isAuto || this.#asks.size === 0 || !this.#mayTry || !canAnswer(caller, this.#asks)) return together;
    if (this.#isTenant(caller, request)) return together;
    const { session } = caller;
    const key = session === undefined ? this.#freeKey(caller, request.mayAsk()) : sessionKey(session);
    return { to: "instance", key, legacyOnly, isOwn: session !== undefined, isOptional: true, isShared: false };
  }

  /** The server asks its clients for this; in the course of whose request, where that is known. */
  asked(kind: Askable, asked: Caller | undefined): void {
    const isFirst = this.#asks.size === 0;
    this.#asks.add(kind);
    if (isFirst && asked !== undefined && canAnswer(asked, this.#asks)) this.#tenant = tenantKey(asked);
    const { memory, config } = this.#options;
    memory.asked(config().transport, kind);
  }

  sessionEnded(session: string): void {
    if (this.#tenant === sessionKey(session)) this.#tenant = undefined;
  }

  /** An instance could not be opened. Whether another way may be tried. */
  failed(route: Route, error: HubError): boolean {
    if (route.to === "main" || error.kind === "Cancelled") return false;
    if (route.legacyOnly && knowsNoLegacy(error)) {
      this.#mayKnowLegacy = false;
      const { memory, config } = this.#options;
      memory.refusedLegacy(config().transport);
      return true;
    }
    if (route.to !== "instance" || !route.isOptional) return false;
    // Where all are at work there will be room again soon.
    if (error.kind !== "Overloaded") this.#noneBefore = performance.now() + RETRY_MS;
    return true;
  }

  #isTenant(caller: Caller, request: Request): boolean {
    // What it was told of folders is one client's alone, and must not be left to the next.
    if (this.#tenant === undefined && this.#asks.has("roots")) return false;
    const key = tenantKey(caller);
    this.#tenant ??= key;
    return this.#tenant === key && (caller.session !== undefined || request.isMainFree());
  }

  #needsLegacy(caller: Caller, era: Era | undefined): boolean {
    if (caller.era !== "legacy" || era !== "modern" || !this.#mayKnowLegacy || !this.#mayTry) return false;
    return this.#options.config().era === undefined;
  }

  get #mayTry(): boolean {
    return this.#noneBefore === 0 || performance.now() >= this.#noneBefore;
  }

  /**
   * Clients without a session cannot be told apart, so one call after another is made in the same instance, which keeps
   * what they did, and calls in which the server may ask at the same time each have one of their own.
   */
  #freeKey(caller: Caller, mayAsk: boolean): string {
    const { instances, maxInstances } = this.#options;
    const first = `principal ${caller.principal()}`;
    for (let n = 1; n <= maxInstances(); n++) {
      const key = n === 1 ? first : `${first} ${n}`;
      if (instances.isFree(key, { mayAsk })) return key;
    }
    return first;
  }
}
