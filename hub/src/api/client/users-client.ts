// The part of the client about users and the audit log.

import type { AuditCheck, AuditNote, AuditPage } from "../schemas/audit.ts";
import type { UserPatch, UserView } from "../schemas/user.ts";
import type { Connection } from "./connection.ts";

/** `since`: milliseconds since the epoch. */
export interface AuditFilter {
  readonly who?: string;
  readonly what?: string;
  readonly since?: number;
  readonly before?: number;
  readonly limit?: number;
}

export class UsersClient {
  readonly #hub: Connection;

  constructor(hub: Connection) {
    this.#hub = hub;
  }

  list(): Promise<UserView[]> {
    return this.#hub.request("/users");
  }

  /** By id or verified email address. */
  change(id: string, patch: UserPatch): Promise<UserView> {
    return this.#hub.request(`/users/${encodeURIComponent(id)}`, { method: "PATCH", body: patch });
  }

  remove(id: string): Promise<void> {
    return this.#hub.request(`/users/${encodeURIComponent(id)}`, { method: "DELETE" });
  }
}

export class AuditClient {
  readonly #hub: Connection;

  constructor(hub: Connection) {
    this.#hub = hub;
  }

  search(filter: AuditFilter = {}): Promise<AuditPage> {
    const query = new URLSearchParams();
    for (const [name, value] of Object.entries(filter)) query.set(name, String(value));
    return this.#hub.request(query.size === 0 ? "/audit" : `/audit?${query.toString()}`);
  }

  verify({ head }: AuditNote = {}): Promise<AuditCheck> {
    return this.#hub.request(head === undefined ? "/audit/verify" : `/audit/verify?head=${encodeURIComponent(head)}`);
  }
}
