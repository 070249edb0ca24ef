// Who is told when a group's lists change: legacy sessions unasked, modern clients on the subscription they opened.
// Changes of a short while are told together, and only if the lists really differ from what was told last.

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

export class Watchers {
  readonly #current: () => Group;
  readonly #sessions = new Set<Session>();
  readonly #subscriptions = new Set<Subscription>();
  #told: Group;
  #timer: NodeJS.Timeout | undefined;

  constructor(current: () => Group) {
    this.#current = current;
    this.#told = current();
  }

  get sessions(): ReadonlySet<Session> {
    return this.#sessions;
  }

  add(session: Session): void {
    this.#sessions.add(session);
  }

  remove(session: Session): void {
    this.#sessions.delete(session);
  }

  /** The catalog was replaced. Whether that means anything here shows when it has calmed down. */
  changed(): void {
    this.#timer ??= setTimeout(() => this.#tell(), COALESCE_MS);
  }

  close(): void {
    clearTimeout(this.#timer);
  }

  /** `subscriptions/listen`: lasts until the client, or the hub, ends it. */
  listen(exchange: Exchange): Promise<Reply> {
    const wanted = exchange.request.params?.value["notifications"];
    const kinds = KINDS.filter((kind) => isObject(wanted) && wanted[`${kind}ListChanged`] === true);
    const subscription = { kinds: new Set(kinds), exchange };
    const _meta = { [META.subscriptionId]: exchange.request.id };
    const notifications = Object.fromEntries(kinds.map((kind) => [`${kind}ListChanged`, true]));
    exchange.notify("notifications/subscriptions/acknowledged", raw({ notifications, _meta }));
    this.#subscriptions.add(subscription);
    return new Promise((resolve) => {
      const end = () => {
        this.#subscriptions.delete(subscription);
        resolve(success({ resultType: "complete", _meta }));
      };
      if (exchange.signal.aborted) end();
      else exchange.signal.addEventListener("abort", end, { once: true });
    });
  }

  #tell(): void {
    this.#timer = undefined;
    const group = this.#find();
    if (group === undefined) return;
    const differs = group.differs(this.#told);
    this.#told = group;
    for (const kind of KINDS) {
      if (!differs[kind]) continue;
      const method = `notifications/${kind}/list_changed`;
      for (const session of this.#sessions) session.notify(method);
      for (const { kinds, exchange } of this.#subscriptions) {
        if (kinds.has(kind)) exchange.notify(method, raw(subscriptionMeta(exchange)));
      }
    }
  }

  /** Not there any more where the config has just lost it. Its clients hear of that when they ask. */
  #find(): Group | undefined {
    try {
      return this.#current();
    } catch (error) {
      if (error instanceof HubError && error.kind === "GroupNotFound") return undefined;
      throw error;
    }
  }
}

function subscriptionMeta({ request }: Exchange): JsonObject {
  return { _meta: { [META.subscriptionId]: request.id } };
}
