// The part of the client about approvals of servers and their tools.

import type { Approval, ApprovalDetail, ApprovalInput } from "../schemas/server-approval.ts";
import type { Connection } from "./connection.ts";

export class ServerApprovalsClient {
  readonly #hub: Connection;

  constructor(hub: Connection) {
    this.#hub = hub;
  }

  list(): Promise<Approval[]> {
    return this.#hub.request("/server-approvals");
  }

  /** What a server runs, and how its tools differ from those approved. */
  get(id: string): Promise<ApprovalDetail> {
    return this.#hub.request(`/servers/${encodeURIComponent(id)}/approval`);
  }

  approve(id: string, input: ApprovalInput = {}): Promise<ApprovalDetail> {
    return this.#hub.request(`/servers/${encodeURIComponent(id)}/approve`, { method: "POST", body: input });
  }
}
