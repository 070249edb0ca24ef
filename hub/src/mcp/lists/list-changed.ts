// Sends `list_changed` notifications when a group's lists change: to all legacy sessions, and to modern clients on their
// subscription. Debounced, and sent only if the lists differ from the last announced ones, or from those served since.

import type { Group } from "../../catalog/group.ts";
import { HubError } from "../../errors.ts";
import { META } from "../../protocol/revisions/era.ts";
import { isObject, type JsonObject } from "../../lib/json/json.ts";
import { raw, success, type Reply } from "../../protocol/rpc/jsonrpc.ts";
import type { IncomingRequest, Session } from "../../protocol/serve/service.ts";

const DEBOUNCE_MS = 100;
const KINDS = ["tools", "prompts", "resources"] as const;
type Kind = (typeof KINDS)[number];

interface Subscription {
  readonly kinds: ReadonlySet<Kind>;
  readonly incoming: IncomingRequest;
}

/** Resources or tasks that a `subscriptions/listen` was granted. */
export interface ListenGrant {
  /** Members of the acknowledgement. */
  readonly notifications: JsonObject;
  /** Called after the acknowledgement. */
  begin(): void;
  end(): void;
}

export class ListChangedNotifier {
  readonly #current: () => Group;
  readonly #sessions = new Set<Session>();
  readonly #subscriptions = new Set<Subscription>();
  /** The snapshot whose lists were announced last. */
  #announced: Group;
  /** Snapshots whose lists were served while an announcement was pending. */
  readonly #served = new Set<Group>();
  #timer: NodeJS.Timeout | undefined;

  constructor(current: () => Group) {
    this.#current = current;
    this.#announced = current();
  }

  add(session: Session): void {
    this.#sessions.add(session);
  }

  /** For a client whose lists are unknown. */
  announceAll(session: Session): void {
    for (const kind of KINDS) session.notify(`notifications/${kind}/list_changed`);
  }

  remove(session: Session): void {
    this.#sessions.delete(session);
  }

  catalogChanged(): void {
    this.#timer ??= setTimeout(() => this.#announce(), DEBOUNCE_MS);
  }

  /** A client got lists of this snapshot. If they change back before the announcement, it must still be notified. */
  listServed(group: Group): void {
    if (this.#timer !== undefined) this.#served.add(group);
  }

  close(): void {
    clearTimeout(this.#timer);
  }

  /** `subscriptions/listen`: lasts until the client or the hub ends it. */
  listen(incoming: IncomingRequest, granted: readonly ListenGrant[] = []): Promise<Reply> {
    const wanted = incoming.request.params?.value["notifications"];
    const kinds = KINDS.filter((kind) => isObject(wanted) && wanted[`${kind}ListChanged`] === true);
    const subscription = { kinds: new Set(kinds), incoming };
    const _meta = { [META.subscriptionId]: incoming.request.id };
    const notifications = Object.fromEntries(kinds.map((kind) => [`${kind}ListChanged`, true]));
    incoming.notify(
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
      if (incoming.signal.aborted) end();
      else incoming.signal.addEventListener("abort", end, { once: true });
    });
  }

  #announce(): void {
    this.#timer = undefined;
    // Clients of a removed group get an error with their next request.
    const group = findGroup(this.#current);
    if (group === undefined) return;
    const differs = [this.#announced, ...this.#served].map((known) => group.differs(known));
    this.#announced = group;
    this.#served.clear();
    for (const kind of KINDS) {
      if (!differs.some((differences) => differences[kind])) continue;
      const method = `notifications/${kind}/list_changed`;
      for (const session of this.#sessions) session.notify(method);
      for (const { kinds, incoming } of this.#subscriptions) {
        if (kinds.has(kind)) incoming.notify(method, raw(subscriptionMeta(incoming)));
      }
    }
  }
}

/** Undefined if the group was removed from the config. */
export function findGroup(current: () => Group): Group | undefined {
  try {
    return current();
  } catch (error) {
    if (error instanceof HubError && error.kind === "GroupNotFound") return undefined;
    throw error;
  }
}

function subscriptionMeta({ request }: IncomingRequest): JsonObject {
  return { _meta: { [META.subscriptionId]: request.id } };
}
