// The resource subscriptions of one server, which outlive its replacement by a changed one.

import { UpstreamSubscriptions, WatchBudget } from "./connection/upstream-subscriptions.ts";
import { PersonalSubscriptions } from "./instances/personal-subscriptions.ts";

export class ServerSubscriptions {
  /** On the main connection: for all callers. */
  readonly shared: UpstreamSubscriptions;
  /** On the connections of callers that have credentials of their own. */
  readonly personal: PersonalSubscriptions;

  constructor(budget = new WatchBudget()) {
    this.shared = new UpstreamSubscriptions(budget);
    this.personal = new PersonalSubscriptions(budget);
  }
}
