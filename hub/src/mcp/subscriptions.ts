// The resources that each client of a group watches: the subscriptions of legacy sessions, and those on the streams of
// modern clients. Subscribing at the servers, once for all clients, is left to servers/resource-watches.ts.

import type { Group } from "../catalog/group.ts";
import { HubError } from "../errors.ts";
import type { Supervisor } from "../servers/supervisor.ts";
import { isObject } from "../wire/json.ts";
import { rawParams, success, type RawParams, type Reply, type RequestMessage } from "../wire/jsonrpc.ts";
import type { Exchange, Session } from "../wire/server.ts";
import { within } from "./patience.ts";
import { stamped, Subscription } from "./subscription.ts";
import type { Granted } from "./watchers.ts";

const MAX_PER_CLIENT = 1000;
/** A modern client waits for its acknowledgement, so a server that takes longer is left out of it. */
const ACKNOWLEDGE_MS = 10_000;
const UPDATED = "notifications/resources/updated";

/** What one client watches, by the URI that it knows. */
type Watched = Map<string, Subscription>;

export class Subscriptions {
  readonly #supervisor: Supervisor;
  readonly #sessions = new Map<Session, Watched>();
  readonly #streams = new Set<Watched>();
  /** What sessions of an earlier process watched, and no server has taken yet. */
  readonly #lost = new Map<Session, Set<string>>();

  constructor(supervisor: Supervisor) {
    this.#supervisor = supervisor;
  }

  /** `resources/subscribe` of a legacy client: once, however often it asks. */
  async subscribe(session: Session, uri: string, group: Group): Promise<Reply> {
    const watched = this.#sessions.get(session) ?? new Map<string, Subscription>();
    let subscription = watched.get(uri);
    if (subscription === undefined) {
      if (watched.size >= MAX_PER_CLIENT) throw tooMany();
      subscription = this.#open(uri, group, (params) => session.notify(UPDATED, params));
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

  /** `resources/unsubscribe`: what is not watched is as good as ended. */
  unsubscribe(session: Session, uri: string): Reply {
    this.#lost.get(session)?.delete(uri);
    const watched = this.#sessions.get(session);
    const subscription = watched?.get(uri);
    if (watched !== undefined && subscription !== undefined) drop(watched, subscription);
    return success({});
  }

  /** A session goes on that another process had. A server that is still starting is asked when it is there. */
  restore(session: Session, uris: readonly string[], group: Group | undefined): void {
    if (uris.length === 0) return;
    this.#lost.set(session, new Set(uris.slice(0, MAX_PER_CLIENT)));
    this.#findLost(session, group);
  }

  endSession(session: Session): void {
    this.#lost.delete(session);
    closeAll(this.#sessions.get(session));
    this.#sessions.delete(session);
  }

  /** The resources of a `subscriptions/listen`; nothing where it asks for none. Those that cannot be watched are left out. */
  grant(exchange: Exchange, group: Group): Promise<Granted> | undefined {
    const uris = wantedUris(exchange.request);
    return uris.length === 0 ? undefined : this.#grant(exchange, group, uris);
  }

  /** The catalog was replaced: a resource may have another owner now, or none. */
  catalogChanged(group: Group | undefined): void {
    for (const watched of [...this.#sessions.values(), ...this.#streams]) {
      for (const subscription of watched.values()) subscription.follow(group);
    }
    for (const session of this.#lost.keys()) this.#findLost(session, group);
  }

  #findLost(session: Session, group: Group | undefined): void {
    const lost = this.#lost.get(session);
    if (lost === undefined || group === undefined) return;
    const watched: Watched = this.#sessions.get(session) ?? new Map<string, Subscription>();
    this.#sessions.set(session, watched);
    for (const uri of lost) {
      const tell = (params: RawParams) => session.notify(UPDATED, params);
      const subscription = watched.get(uri) ?? this.#tryOpen(uri, group, tell);
      if (subscription === undefined) continue;
      lost.delete(uri);
      watched.set(uri, subscription);
      const again = () => {
        drop(watched, subscription);
        if (this.#lost.get(session) === lost) lost.add(uri);
      };
      // What happened to it meanwhile, nobody knows.
      void subscription.opened.then((reply) => (reply.ok ? tell(rawParams({ uri })) : again()), again);
    }
  }

  async #grant(exchange: Exchange, group: Group, uris: readonly string[]): Promise<Granted> {
    const { signal, request } = exchange;
    const watched: Watched = new Map();
    const tell = (params: RawParams) => exchange.notify(UPDATED, stamped(params, request.id));
    // What comes before the acknowledgement is told after it, once.
    const early = new Set<string>();
    let isAcknowledged = false;
    for (const uri of uris.slice(0, MAX_PER_CLIENT)) {
      const onUpdate = (params: RawParams) => (isAcknowledged ? tell(params) : early.add(uri));
      const subscription = this.#tryOpen(uri, group, onUpdate);
      if (subscription !== undefined) watched.set(uri, subscription);
    }
    this.#streams.add(watched);
    const all = [...watched.values()];
    await within(Promise.allSettled(all.map(({ opened }) => opened)), { ms: ACKNOWLEDGE_MS, signal });
    for (const subscription of all) if (!subscription.isOpen) drop(watched, subscription);
    return {
      notifications: watched.size === 0 ? {} : { resourceSubscriptions: [...watched.keys()] },
      begin: () => {
        isAcknowledged = true;
        for (const uri of early) if (watched.has(uri)) tell(rawParams({ uri }));
      },
      end: () => {
        this.#streams.delete(watched);
        closeAll(watched);
      },
    };
  }

  #open(uri: string, group: Group, onUpdate: (params: RawParams) => void): Subscription {
    return new Subscription({ uri, owner: group.resolveResource(uri), supervisor: this.#supervisor, onUpdate });
  }

  /** Undefined where nobody has such a resource, or its server is down. */
  #tryOpen(uri: string, group: Group, onUpdate: (params: RawParams) => void): Subscription | undefined {
    try {
      return this.#open(uri, group, onUpdate);
    } catch (error) {
      if (error instanceof HubError) return undefined;
      throw error;
    }
  }
}

/** The resources that a `subscriptions/listen` asks for. */
export function wantedUris({ params }: RequestMessage): string[] {
  const wanted = params?.value["notifications"];
  const uris = isObject(wanted) ? wanted["resourceSubscriptions"] : undefined;
  return Array.isArray(uris) ? [...new Set(uris.filter((uri) => typeof uri === "string"))] : [];
}

function drop(watched: Watched, subscription: Subscription): void {
  subscription.close();
  if (watched.get(subscription.uri) === subscription) watched.delete(subscription.uri);
}

function closeAll(watched: Watched | undefined): void {
  for (const subscription of watched?.values() ?? []) subscription.close();
  watched?.clear();
}

function tooMany(): HubError {
  return new HubError("Overloaded", `A client may watch ${MAX_PER_CLIENT} resources at once`, {
    hint: "End subscriptions that are not needed any more",
  });
}
