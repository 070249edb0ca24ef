// Who is told when a group's lists change: legacy sessions unasked, modern clients on the subscription they opened.
// Changes of a short while are told together, and only if the lists differ from what was told last, or from what
// somebody was given since.

import type { Group } from "../catalog/group.ts";
import { HubError } from "../errors.ts";
import { META } from "../wire/era.ts";
import { isObject, type JsonObject } from "../wire/json.ts";
import { raw, success, type Reply } from "../wire/jsonrpc.ts";
import type { Exchange, Session } from "../wire/server.ts";

const COALESCE_MS = 100;
const KINDS = ["tools", "prompts", "resources"] as const;
type Kind = (typeof KINDS)[number];

interface Subscription {
  readonly kinds: ReadonlySet<Kind>;
  readonly exchange: Exchange;
}

/** What else a `subscriptions/listen` is given. */
export interface Granted {
  /** Members for its acknowledgement. */
  readonly notifications: JsonObject;
  /** It is acknowledged. */
  begin(): void;
  end(): void;
}

export class Watchers {
  readonly #current: () => Group;
  readonly #sessions = new Set<Session>();
  readonly #subscriptions = new Set<Subscription>();
  #told: Group;
  /** Snapshots whose lists were given out since something changed. */
  readonly #served = new Set<Group>();
  #timer: NodeJS.Timeout | undefined;

  constructor(current: () => Group) {
    this.#current = current;
    this.#told = current();
  }

  add(session: Session): void {
    this.#sessions.add(session);
  }

  /** Nobody knows which lists this client has: it is told to look again. */
  announceAll(session: Session): void {
    for (const kind of KINDS) session.notify(`notifications/${kind}/list_changed`);
  }

  remove(session: Session): void {
    this.#sessions.delete(session);
  }

  /** The catalog was replaced. Whether that means anything here shows when it has calmed down. */
  changed(): void {
    this.#timer ??= setTimeout(() => this.#tell(), COALESCE_MS);
  }

  /** A client was given lists of this snapshot. What has changed back by the time it is told, this client must hear of. */
  served(group: Group): void {
    if (this.#timer !== undefined) this.#served.add(group);
  }

  close(): void {
    clearTimeout(this.#timer);
  }

  /** `subscriptions/listen`: lasts until the client, or the hub, ends it. */
  listen(exchange: Exchange, granted: readonly Granted[] = []): Promise<Reply> {
    const wanted = exchange.request.params?.value["notifications"];
    const kinds = KINDS.filter((kind) => isObject(wanted) && wanted[`${kind}ListChanged`] === true);
    const subscription = { kinds: new Set(kinds), exchange };
    const _meta = { [META.subscriptionId]: exchange.request.id };
    const notifications = Object.fromEntries(kinds.map((kind) => [`${kind}ListChanged`, true]));
    exchange.notify(
      "notifications/subscriptions/acknowledged",
      raw({ notifications: Object.assign(notifications, ...granted.map((each) => each.notifications)), _meta }),
    );
    this.#subscriptions.add(subscription);
    for (const each of granted) each.begin();
    return new Promise((resolve) => {
      const end = () => {
        this.#subscriptions.delete(subscription);
        for (const each of granted) each.end();
        resolve(success({ resultType: "complete", _meta }));
      };
      if (exchange.signal.aborted) end();
      else exchange.signal.addEventListener("abort", end, { once: true });
    });
  }

  #tell(): void {
    this.#timer = undefined;
    // Where it is lost, its clients hear of that when they ask.
    const group = findGroup(this.#current);
    if (group === undefined) return;
    const differs = [this.#told, ...this.#served].map((known) => group.differs(known));
    this.#told = group;
    this.#served.clear();
    for (const kind of KINDS) {
      if (!differs.some((differences) => differences[kind])) continue;
      const method = `notifications/${kind}/list_changed`;
      for (const session of this.#sessions) session.notify(method);
      for (const { kinds, exchange } of this.#subscriptions) {
        if (kinds.has(kind)) exchange.notify(method, raw(subscriptionMeta(exchange)));
      }
    }
  }
}

/** Undefined where the config has just lost it. */
export function findGroup(current: () => Group): Group | undefined {
  try {
    return current();
  } catch (error) {
    if (error instanceof HubError && error.kind === "GroupNotFound") return undefined;
    throw error;
  }
}

function subscriptionMeta({ request }: Exchange): JsonObject {
  return { _meta: { [META.subscriptionId]: request.id } };
}
