// The callers of one group. What a caller holds open there ends with its grant, or when the group is no longer open to it.

import type { GrantLimit, GrantLimits } from "../auth/grant-limits.ts";
import type { Grant } from "../auth/grant.ts";
import { may, type ProtectedGroup } from "../auth/policy.ts";
import { Lifetime } from "../lib/lifetime.ts";
import type { Requester } from "../protocol/serve/service.ts";

export class GroupRequesters {
  readonly #limits: GrantLimits | undefined;
  readonly #requesters = new Map<Grant, GroupRequester>();

  constructor(limits?: GrantLimits) {
    this.#limits = limits;
  }

  /** Undefined: a program without credentials of the hub. Such are told apart by those that they send to others. */
  of(grant: Grant): Requester | undefined {
    if (grant.kind === "anonymous") return undefined;
    const known = this.#requesters.get(grant);
    if (known !== undefined) return known;
    const requester = new GroupRequester(grant, this.#limits?.of(grant));
    this.#requesters.set(grant, requester);
    grant.onceEnded((why) => {
      this.#requesters.delete(grant);
      requester.end(why);
    });
    return requester;
  }

  /** `group`: as it is now; undefined if it is gone. */
  check(group: ProtectedGroup | undefined): void {
    for (const [grant, requester] of this.#requesters) {
      if (group !== undefined && may(grant, { to: "use", group })) continue;
      this.#requesters.delete(grant);
      requester.end();
    }
  }
}

class GroupRequester extends Lifetime implements Requester {
  readonly principal: string;
  readonly owner: string;
  readonly client: string | undefined;
  readonly limit: GrantLimit | undefined;
  declare readonly clientName?: string;

  constructor({ principal, owner, client, clientName }: Grant, limit: GrantLimit | undefined) {
    super();
    this.limit = limit;
    this.principal = principal;
    this.owner = owner;
    this.client = client;
    if (clientName !== undefined) this.clientName = clientName;
  }
}
