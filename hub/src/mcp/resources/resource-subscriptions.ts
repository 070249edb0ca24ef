// The resource subscriptions of a group's clients: of legacy sessions, and of the `subscriptions/listen` streams of modern clients.
// servers/connection/upstream-subscriptions.ts subscribes at the servers, once for all clients.

import type { Group } from "../../catalog/group.ts";
import { HubError } from "../../errors.ts";
import type { Caller } from "../../servers/instances/caller.ts";
import type { Supervisor } from "../../servers/supervisor.ts";
import { isObject } from "../../lib/json/json.ts";
import { rawParams, success, type RawParams, type Reply, type RequestMessage } from "../../protocol/rpc/jsonrpc.ts";
import type { IncomingRequest, Session } from "../../protocol/serve/service.ts";
import { withTimeout } from "../../lib/with-timeout.ts";
import { lastingCallerOf } from "../principal.ts";
import { withSubscriptionId, ResourceSubscription } from "./resource-subscription.ts";
import type { ListenGrant } from "../lists/list-changed.ts";

const MAX_PER_CLIENT = 1000;
/** A modern client waits for its acknowledgement; resources whose server takes longer are omitted from it. */
const ACKNOWLEDGE_MS = 10_000;
const UPDATED = "notifications/resources/updated";

/** The subscriptions of one client, by the client's URI. */
type SubscriptionMap = Map<string, ResourceSubscription>;

/** Where a resource is looked for, and on whose behalf. */
interface Place {
  readonly group: Group;
  readonly caller: Caller;
}

interface Unrestored {
  readonly uris: Set<string>;
  readonly caller: Caller;
}

export class ResourceSubscriptions {
  readonly #supervisor: Supervisor;
  readonly #sessions = new Map<Session, SubscriptionMap>();
  readonly #streams = new Set<SubscriptionMap>();
  /** Subscriptions of sessions of an earlier process that no server has accepted yet. */
  readonly #unrestored = new Map<Session, Unrestored>();

  constructor(supervisor: Supervisor) {
    this.#supervisor = supervisor;
  }

  /** `resources/subscribe` of a legacy client. Idempotent. */
  async subscribe(session: Session, uri: string, { group, caller }: Place): Promise<Reply> {
    const watched = this.#sessions.get(session) ?? new Map<string, ResourceSubscription>();
    let subscription = watched.get(uri);
    if (subscription === undefined) {
      if (watched.size >= MAX_PER_CLIENT) throw tooMany();
      subscription = this.#open(uri, { group, caller }, (params) => session.notify(UPDATED, params));
      this.#sessions.set(session, watched.set(uri, subscription));
    }
    try {
      const reply = await subscription.opened;
      if (!reply.ok) drop(watched, subscription);
      return reply.ok ? success({}) : reply;
    } catch (error) {
      drop(watched, subscription);
      throw error;
    }
  }

  /** `resources/unsubscribe`. Succeeds also without a subscription. */
  unsubscribe(session: Session, uri: string): Reply {
    this.#unrestored.get(session)?.uris.delete(uri);
    const watched = this.#sessions.get(session);
    const subscription = watched?.get(uri);
    if (watched !== undefined && subscription !== undefined) drop(watched, subscription);
    return success({});
  }

  /** Restores the subscriptions of a session of an earlier process, each when its server is up. */
  restore(session: Session, uris: readonly string[], { group, caller }: Partial<Place> & Pick<Place, "caller">): void {
    if (uris.length === 0) return;
    this.#unrestored.set(session, { uris: new Set(uris.slice(0, MAX_PER_CLIENT)), caller });
    this.#retryRestore(session, group);
  }

  /** Number of resources that a session is subscribed to. */
  count(session: Session): number {
    return this.#sessions.get(session)?.size ?? 0;
  }

  endSession(session: Session): void {
    this.#unrestored.delete(session);
    closeAll(this.#sessions.get(session));
    this.#sessions.delete(session);
  }

  /** The resources of a `subscriptions/listen`; undefined if it wants none. Those that cannot be subscribed are left out. */
  grant(incoming: IncomingRequest, group: Group): Promise<ListenGrant> | undefined {
    const uris = wantedUris(incoming.request);
    return uris.length === 0 ? undefined : this.#grant(incoming, group, uris);
  }

  /** The catalog was replaced: resources may have another owner now, or none. */
  catalogChanged(group: Group | undefined): void {
    for (const watched of [...this.#sessions.values(), ...this.#streams]) {
      for (const subscription of watched.values()) subscription.follow(group);
    }
    for (const session of this.#unrestored.keys()) this.#retryRestore(session, group);
  }

  #retryRestore(session: Session, group: Group | undefined): void {
    const unrestored = this.#unrestored.get(session);
    if (unrestored === undefined || group === undefined) return;
    const { uris, caller } = unrestored;
    const watched: SubscriptionMap = this.#sessions.get(session) ?? new Map<string, ResourceSubscription>();
    this.#sessions.set(session, watched);
    for (const uri of uris) {
      const notify = (params: RawParams) => session.notify(UPDATED, params);
      const subscription = watched.get(uri) ?? this.#tryOpen(uri, { group, caller }, notify);
      if (subscription === undefined) continue;
      uris.delete(uri);
      watched.set(uri, subscription);
      const retryLater = () => {
        drop(watched, subscription);
        if (this.#unrestored.get(session) === unrestored) uris.add(uri);
      };
      // The resource may have changed in the meantime, so the client is notified.
      void subscription.opened.then((reply) => (reply.ok ? notify(rawParams({ uri })) : retryLater()), retryLater);
    }
  }

  async #grant(incoming: IncomingRequest, group: Group, uris: readonly string[]): Promise<ListenGrant> {
    const { signal, request } = incoming;
    const place = { group, caller: lastingCallerOf(incoming) };
    const watched: SubscriptionMap = new Map();
    const notify = (params: RawParams) => incoming.notify(UPDATED, withSubscriptionId(params, request.id));
    // Updates before the acknowledgement are sent after it, once for each resource.
    const early = new Set<string>();
    let isAcknowledged = false;
    for (const uri of uris.slice(0, MAX_PER_CLIENT)) {
      const onUpdate = (params: RawParams) => (isAcknowledged ? notify(params) : early.add(uri));
      const subscription = this.#tryOpen(uri, place, onUpdate);
      if (subscription !== undefined) watched.set(uri, subscription);
    }
    this.#streams.add(watched);
    const all = [...watched.values()];
    const opening = Promise.allSettled(all.map(({ opened }) => opened));
    await withTimeout(opening, { ms: ACKNOWLEDGE_MS, signal }).catch(() => undefined); // `isOpen` has the result
    for (const subscription of all) if (!subscription.isOpen) drop(watched, subscription);
    return {
      notifications: watched.size === 0 ? {} : { resourceSubscriptions: [...watched.keys()] },
      begin: () => {
        isAcknowledged = true;
        for (const uri of early) if (watched.has(uri)) notify(rawParams({ uri }));
      },
      end: () => {
        this.#streams.delete(watched);
        closeAll(watched);
      },
    };
  }

  #open(uri: string, { group, caller }: Place, onUpdate: (params: RawParams) => void): ResourceSubscription {
    const owner = group.resolveResource(uri);
    return new ResourceSubscription({ uri, owner, caller, supervisor: this.#supervisor, onUpdate });
  }

  /** Undefined if no server has the resource, or its server is down. */
  #tryOpen(uri: string, place: Place, onUpdate: (params: RawParams) => void): ResourceSubscription | undefined {
    try {
      return this.#open(uri, place, onUpdate);
    } catch (error) {
      if (error instanceof HubError) return undefined;
      throw error;
    }
  }
}

/** The resources that a `subscriptions/listen` wants. */
export function wantedUris({ params }: RequestMessage): string[] {
  const wanted = params?.value["notifications"];
  const uris = isObject(wanted) ? wanted["resourceSubscriptions"] : undefined;
  return Array.isArray(uris) ? [...new Set(uris.filter((uri) => typeof uri === "string"))] : [];
}

function drop(watched: SubscriptionMap, subscription: ResourceSubscription): void {
  subscription.close();
  if (watched.get(subscription.uri) === subscription) watched.delete(subscription.uri);
}

function closeAll(watched: SubscriptionMap | undefined): void {
  for (const subscription of watched?.values() ?? []) subscription.close();
  watched?.clear();
}

function tooMany(): HubError {
  return new HubError("Overloaded", `A client may subscribe to at most ${MAX_PER_CLIENT} resources`, {
    hint: "End subscriptions that are no longer needed",
  });
}
