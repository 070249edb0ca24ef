// The open requests of one connection to a server, and which of them an incoming message belongs to.

import { evictOldest } from "@plugboard/shared/evict";
import { isObject } from "../../lib/json/json.ts";
import { META } from "../revisions/era.ts";
import type { NotificationMessage, RequestMessage } from "../rpc/jsonrpc.ts";
import { relatedTask } from "../rpc/related-task.ts";
import { SmallMap } from "../../lib/small-map.ts";
import type { PendingRequest } from "./pending-request.ts";

/** A request that we no longer wait for, while the server may still work on it. */
interface AbandonedRequest {
  readonly method: string;
  readonly until: number;
  readonly caller: string | undefined;
}

interface HasMethod {
  readonly method: string;
}

/** After a cancellation, a server may for this long still send requests that belong to the cancelled request. */
const ABANDONED_MS = 30_000;
const MAX_ABANDONED = 1000;
/** Server requests that arrive within this time of each other may belong to one request. */
const SIBLINGS_MS = 20;

export class RequestTable {
  readonly #open = new SmallMap<number, PendingRequest>();
  readonly #abandoned = new Map<number, AbandonedRequest>();

  get size(): number {
    return this.#open.size;
  }

  /** No request is open. Subscriptions do not count: they never end. */
  get isIdle(): boolean {
    return this.#open.values().every(isSubscription);
  }

  has(id: number): boolean {
    return this.#open.has(id);
  }

  values(): PendingRequest[] {
    return this.#open.values();
  }

  add(request: PendingRequest): void {
    this.#open.set(request.id, request);
  }

  /** Removes a request. The caller that gets it settles it, so it is settled once. */
  take(id: number): PendingRequest | undefined {
    const request = this.#open.get(id);
    if (request === undefined) return undefined;
    this.#open.delete(id);
    request.settle();
    return request;
  }

  /** A server that obeys a cancellation never replies, so its end is unknown; one that does not may still send requests. */
  abandon({ id, method, caller }: PendingRequest): void {
    this.#abandoned.set(id, { method, until: performance.now() + ABANDONED_MS, caller });
    evictOldest(this.#abandoned, MAX_ABANDONED);
  }

  /** The server replied to an abandoned request: it is done with it. */
  forgetAbandoned(id: number): void {
    this.#abandoned.delete(id);
  }

  /**
   * Progress names its request. Other notifications belong to the stream on which they arrived (`via`); without one, to the
   * subscription in them, or to the only open request.
   */
  ownerOfNotification({ method, params }: NotificationMessage, via: number | undefined): PendingRequest | undefined {
    if (method === "notifications/progress") {
      const token = params?.value["progressToken"];
      return typeof token === "number" ? this.#open.get(token) : undefined;
    }
    const stream = via === undefined ? undefined : this.#open.get(via);
    // Server-wide notifications belong to a subscription, never to the call on whose stream they arrived.
    if (stream !== undefined && isServerWide(method)) return isSubscription(stream) ? stream : undefined;
    if (via !== undefined) return stream;
    const subscription = this.#subscriptionOf(params?.value["_meta"]);
    if (subscription !== undefined) return subscription;
    if (method !== "notifications/message") return undefined;
    // A subscription is always open, and gets no log messages.
    return this.#onlyOne((request) => !isSubscription(request));
  }

  /**
   * The owner of a server request: the request on whose stream it arrived, or that waits for its task, or the only one that can
   * have caused it. (A progress token in its `_meta` is the server's, and does not identify our requests.)
   */
  ownerOfRequest({ params }: RequestMessage, via: number | undefined): PendingRequest | undefined {
    if (via !== undefined) return this.#open.get(via);
    const task = relatedTask(params?.value);
    const named = task === undefined ? undefined : this.#open.values().find(({ options }) => options.task === task);
    return named ?? this.#onlyOne(isForwarded);
  }

  /** The requests that a server request may belong to, newest first, if all of them belong to one client. */
  openOfOneClient(): PendingRequest[] {
    const open = this.#open.values().filter(isForwarded);
    const caller = open[0]?.caller;
    const abandoned = this.#stillAbandoned().filter(isForwarded);
    const isOneClient =
      caller !== undefined &&
      open.every((request) => request.options.isOneClient === true && request.caller === caller) &&
      abandoned.every((other) => other.caller === caller);
    return isOneClient ? open.toSorted((a, b) => b.id - a.id) : [];
  }

  /** Whether any request of a client is open. */
  get hasForwarded(): boolean {
    return this.#open.values().some(isForwarded);
  }

  /**
   * Whether a server request that comes now may belong to another client than this one: to one that is being asked, or to one
   * whose request is abandoned. Clients without a key may be different ones.
   */
  isContested(caller: string | undefined): boolean {
    const isOther = (request: HasMethod & { readonly caller: string | undefined }) =>
      isForwarded(request) && (caller === undefined || request.caller !== caller);
    const isAsked = (request: PendingRequest) => request.openServerRequests > 0 && isOther(request);
    return this.#open.values().some(isAsked) || this.#stillAbandoned().some(isOther);
  }

  #onlyOne(counts: (request: HasMethod) => boolean): PendingRequest | undefined {
    const open = this.#open.values().filter(counts);
    const [first] = open;
    if (first === undefined) return undefined;
    const abandoned = this.#stillAbandoned().filter(counts);
    if (open.length === 1 && abandoned.length === 0) return first;
    const { caller } = first;
    const isOnlyCaller =
      open.every((other) => other.caller === caller) && abandoned.every((other) => other.caller === caller);
    // Requests of unknown callers may belong to different clients.
    if (caller === undefined || !isOnlyCaller) return undefined;
    // A request whose server request is open sends nothing more until it is answered, except siblings of that one.
    const pausedSince = performance.now() - SIBLINGS_MS;
    const active = open.filter(
      ({ openServerRequests, pausedAt }) => openServerRequests === 0 || pausedAt > pausedSince,
    );
    return open.length === 1 ? first : active.length === 1 ? active[0] : undefined;
  }

  /** The open subscription that a notification names: on stdio they cannot be distinguished otherwise. */
  #subscriptionOf(meta: unknown): PendingRequest | undefined {
    const id = isObject(meta) ? meta[META.subscriptionId] : undefined;
    const request = typeof id === "number" ? this.#open.get(id) : undefined;
    return request !== undefined && isSubscription(request) ? request : undefined;
  }

  #stillAbandoned(): AbandonedRequest[] {
    const now = performance.now();
    for (const [id, { until }] of this.#abandoned) if (until < now) this.#abandoned.delete(id);
    return [...this.#abandoned.values()];
  }
}

function isSubscription({ method }: HasMethod): boolean {
  return method === "subscriptions/listen";
}

/** Whether the request was sent on behalf of a client, which could answer a server request. */
function isForwarded({ method }: HasMethod): boolean {
  return !HUB_METHODS.has(method);
}

/** Requests that the hub sends for itself, or for all subscribers of a resource. */
const HUB_METHODS: ReadonlySet<string> = new Set([
  "initialize",
  "server/discover",
  "ping",
  "tools/list",
  "prompts/list",
  "resources/list",
  "resources/templates/list",
  "logging/setLevel",
  "resources/subscribe",
  "resources/unsubscribe",
  "subscriptions/listen",
]);

/** Whether a notification is about the server as a whole, and not about one request. */
function isServerWide(method: string): boolean {
  return method.endsWith("/list_changed") || SERVER_WIDE.has(method);
}

/** The end of an elicitation or of a task may concern a request other than the one on whose stream it arrived. */
const SERVER_WIDE: ReadonlySet<string> = new Set([
  "notifications/resources/updated",
  "notifications/elicitation/complete",
  "notifications/tasks/status",
]);
