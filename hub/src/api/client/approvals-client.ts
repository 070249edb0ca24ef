// The part of the client about calls that wait for approval.

import type { CallApproval, Denial } from "../schemas/approval.ts";
import type { Connection } from "./connection.ts";

export class ApprovalsClient {
  readonly #hub: Connection;

  constructor(hub: Connection) {
    this.#hub = hub;
  }

  /** Oldest first. */
  list(): Promise<CallApproval[]> {
    return this.#hub.request("/calls/approvals");
  }

  approve(id: string): Promise<void> {
    return this.#hub.request(`/calls/approvals/${encodeURIComponent(id)}/approve`, { method: "POST" });
  }

  /** The reason is told to the client. */
  deny(id: string, body: Denial = {}): Promise<void> {
    return this.#hub.request(`/calls/approvals/${encodeURIComponent(id)}/deny`, { method: "POST", body });
  }
}
